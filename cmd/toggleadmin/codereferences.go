package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/codescan"
	"toggleadmin/pkg/operator/exitstatus"
)

type codeReferencesCmd struct {
	Scan scanCodeCmd `cmd:"" help:"Find the names of the toggles of a project in source code, and send where they are with --send."`
}

type scanCodeCmd struct {
	apiOptions

	Dir        string `arg:"" optional:"" default:"." help:"Folder with a checkout of the repository (default: this one)."`
	Project    string `default:"default" placeholder:"NAME" help:"Project of the toggles (default: default)."`
	Repository string `placeholder:"NAME" help:"The https URL of the repository, or any other name (default: the remote of the Git repository)."`
	Revision   string `placeholder:"REV" help:"Revision of the repository (default: that of the checkout)."`
	Send       bool   `help:"Replace what the repository has reported for the project before."`
}

// codeReport is the body of a report of code references.
type codeReport struct {
	Repository string               `json:"repository"`
	Revision   string               `json:"revision,omitempty"`
	RevisionAt string               `json:"revisionAt,omitempty"`
	References []codescan.Reference `json:"references"`
}

func (c *scanCodeCmd) Run(s *session) error {
	report, err := c.report(s)
	if err != nil {
		return err
	}
	client, err := s.api()
	if err != nil {
		return err
	}
	var list struct {
		Features []struct {
			Name string `json:"name"`
		} `json:"features"`
	}
	if err := client.Get(s.step(), &list, "projects", c.Project, "features"); err != nil {
		return apiclient.Explain(err)
	}
	names := make([]string, len(list.Features))
	for i, f := range list.Features {
		names[i] = f.Name
	}
	found, err := codescan.Scan(s.ctx, c.Dir, names)
	if err != nil {
		return exitstatus.Errorf(exitstatus.Usage, "%v", err)
	}
	prefix := git(s.ctx, c.Dir, "rev-parse", "--show-prefix") // places are paths in the repository
	for _, r := range found.References {
		r.Path = prefix + r.Path
		report.References = append(report.References, r)
	}
	for _, file := range found.TooLarge {
		s.inform("%s is larger than 1 MB, and was not read", printable(file))
	}
	if c.Send {
		return c.send(s, client, report)
	}
	if s.JSON {
		return printJSON(s.out, report)
	}
	s.inform("%s, %s", count(found.Files, "file"), count(len(names), "toggle"))
	return writeTable(s.out, s.width, []column[codescan.Reference]{
		{name: "TOGGLE", cell: func(r codescan.Reference) string { return r.Toggle }, cut: cutLast, isName: true},
		{name: "PLACE", cell: func(r codescan.Reference) string { return r.Path + ":" + strconv.Itoa(r.Line) }, cut: cutFirst},
	}, report.References)
}

// report returns the report without references.
func (c *scanCodeCmd) report(s *session) (codeReport, error) {
	report := codeReport{Repository: c.Repository, References: []codescan.Reference{}}
	if report.Repository == "" {
		remote, ok := remoteOf(s.ctx, c.Dir)
		if !ok {
			return report, exitstatus.Errorf(exitstatus.Usage,
				"%s is in no Git repository with a remote origin: use --repository NAME", c.Dir)
		}
		report.Repository = remote.String()
	}
	report.Revision = cmp.Or(c.Revision, git(s.ctx, c.Dir, "rev-parse", "--verify", "--quiet", "HEAD"))
	if report.Revision == "" {
		return report, nil
	}
	made := git(s.ctx, c.Dir, "show", "--no-patch", "--format=%cI", "--end-of-options", report.Revision+"^{commit}")
	if at, err := time.Parse(time.RFC3339, made); err == nil {
		report.RevisionAt = at.UTC().Format(time.RFC3339)
	}
	return report, nil
}

// send sends a report.
func (c *scanCodeCmd) send(s *session, client *apiclient.Client, report codeReport) error {
	var stored struct {
		Project    string   `json:"project"`
		Repository string   `json:"repository"`
		Revision   *string  `json:"revision"`
		ReportedAt string   `json:"reportedAt"`
		Places     int      `json:"places"`
		Features   int      `json:"features"`
		Added      []string `json:"added"`
		Removed    []string `json:"removed"`
	}
	_, err := client.Call(s.step(), http.MethodPost, []string{"projects", c.Project, "code-references"}, nil, nil, report, &stored)
	if err != nil {
		return apiclient.Explain(err)
	}
	if s.JSON {
		return printJSON(s.out, stored)
	}
	for _, name := range stored.Added {
		fmt.Fprintf(s.out, "new: %s\n", name)
	}
	for _, name := range stored.Removed {
		fmt.Fprintf(s.out, "no longer: %s\n", name)
	}
	_, err = fmt.Fprintf(s.out, "%s has %s of %s of the project %s\n", printable(stored.Repository),
		count(stored.Places, "place"), count(stored.Features, "toggle"), stored.Project)
	return err
}
