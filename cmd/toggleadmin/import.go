package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/ascode"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
)

type importCmd struct {
	Unleash importUnleashCmd `cmd:"" help:"Import from a running Unleash, with the token in UNLEASH_TOKEN, or typed. Exit status 3: something was lost."`
	File    importFileCmd    `cmd:"" help:"Import a file that toggleadmin export or Unleash has written. Exit status 3: something was lost."`
}

type (
	importUnleashCmd struct {
		importOptions

		URL      string `name:"url" required:"" placeholder:"URL" help:"URL of Unleash, such as https://unleash.example.com."`
		People   bool   `xor:"scope" help:"Also create the people who are missing, by their e-mail addresses, after confirmation."`
		Admins   bool   `help:"With --people: also Admins. Without it, nobody and no group gets the role Admin."`
		Creators bool   `help:"Also import the names of those who created toggles and segments. They cannot be removed later."`
	}
	importFileCmd struct {
		importOptions

		File     string `arg:"" help:"File to import."`
		Accounts bool   `xor:"scope" help:"Also create the accounts, groups and custom roles that are missing, and give the roles in projects, after confirmation."`
	}
	importOptions struct {
		Quiet   bool   `short:"q" help:"Print no line for what is created or updated, only problems and totals."`
		DryRun  bool   `help:"Print what would change, and change nothing."`
		Project string `placeholder:"NAME" xor:"scope" help:"Only toggles of this project, and what they use."`

		CreateProjects     bool `help:"Create projects that only toggles name. Others of Unleash or of the file are always created."`
		CreateEnvironments bool `help:"Create environments that only toggles of Unleash name. Others of Unleash are always created."`
		Overwrite          bool `help:"Also replace toggles that were changed here since the last import from Unleash."`
	}
	exportCmd struct {
		apiOptions

		Output string `placeholder:"FILE" xor:"output" help:"Replace this file, which only you can read then, instead of printing."`
		AsCode string `placeholder:"DIR" xor:"output" help:"Write the toggles that are not archived, and what they share, into YAML files of this folder, for plan and apply, through the API."`
	}
)

// tokenVariable is the environment variable with the token of Unleash.
const tokenVariable = "UNLEASH_TOKEN"

// Validate is called by kong.
func (c *importUnleashCmd) Validate() error {
	if c.Admins && !c.People {
		return exitstatus.Errorf(exitstatus.Usage, "--admins requires --people")
	}
	return unleash.CheckURL(c.URL)
}

func (c *importUnleashCmd) Run(s *session, o *operator.Operator) error {
	if unleash.IsPlain(c.URL) {
		s.inform("Warning: http:// sends the token of Unleash in plain text: use https://")
	}
	token, err := s.unleashToken()
	if err != nil {
		return err
	}
	progress := s.newProgress()
	d, err := unleash.Read(s.ctx, unleash.Config{
		URL: c.URL, Token: token, Wait: wait, Progress: progress.show, HTTP: clientOfOthers(),
	}, c.Project)
	progress.clear()
	if s.ctx.Err() != nil {
		return exitstatus.Errorf(exitstatus.Failure, "interrupted; nothing was changed")
	}
	if err != nil {
		return exitstatus.Errorf(exitstatus.Of(err), "%v; nothing was changed", err)
	}
	if !c.Creators {
		for i := range d.Features {
			d.Features[i].CreatedBy = nil
		}
		for i := range d.Segments {
			d.Segments[i].CreatedBy = nil
		}
	}
	if c.People {
		if err := c.confirmAccounts(s, o, d, c.Admins); err != nil {
			return err
		}
	}
	return c.write(s, o, d, c.People, c.Admins)
}

// clientOfOthers returns a client for requests to other installations, with their tokens. It follows no redirect, which
// would send the token elsewhere.
func clientOfOthers() *http.Client {
	return &http.Client{
		Timeout:       time.Minute,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: unleash.Parallel},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// unleashToken returns the token from the environment, from stdin, or typed on the terminal.
func (s *session) unleashToken() (string, error) {
	token := os.Getenv(tokenVariable)
	if token == "" {
		input, err := s.readSecret("Token of Unleash: ")
		if err != nil {
			return "", fmt.Errorf("read the token from stdin: %w", err)
		}
		token = string(input)
	}
	if token = trimmedToken(token); token == "" {
		return "", exitstatus.Errorf(exitstatus.Usage,
			"there is no token of Unleash: set %s, or pass it on stdin", tokenVariable)
	}
	return token, nil
}

// trimmedToken returns a token without the white space around it, or "" if it cannot be one.
func trimmedToken(text string) string {
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return text
}

// wait returns after a time, or when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (c *importFileCmd) Run(s *session, o *operator.Operator) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return exitstatus.Errorf(exitstatus.Usage, "%v", err)
	}
	d, err := operator.ParseImport(c.File, decode(text))
	if err != nil {
		return err
	}
	if without, all := d.WithoutCreatedAt(c.Project); without > 0 {
		s.inform("%d of %s in this file have no createdAt: the ages of those that are new here start now.", without,
			count(all, "toggle"))
	}
	if !c.Accounts {
		if n := len(d.Accounts) + len(d.Groups) + len(d.Roles); n > 0 && c.Project == "" {
			s.inform("%s, %s and %s in this file: not imported without --accounts, nor who has which roles in projects.",
				count(len(d.Accounts), "account"), count(len(d.Groups), "group"), count(len(d.Roles), "role"))
		}
	} else if err := c.confirmAccounts(s, o, d, true); err != nil {
		return err
	}
	return c.write(s, o, d, c.Accounts, true)
}

// confirmAccounts asks for confirmation before accounts are created and rights are given: whoever changes the file could
// make anybody an administrator.
func (c *importOptions) confirmAccounts(s *session, o *operator.Operator, d transfer.Document, admins bool) error {
	if c.DryRun {
		return nil
	}
	d.Features, d.Segments, d.FeatureTypes, d.ContextFields = nil, nil, nil, nil
	plan, err := o.Import(s.ctx, d, transfer.Options{
		DryRun: true, Accounts: true, Admins: admins, CreateEnvironments: c.CreateEnvironments,
		Progress: func(string, int, int) {},
	})
	if err != nil {
		return err
	}
	changes := 0
	for _, section := range []struct {
		name string
		transfer.Section
	}{{"account", plan.Accounts}, {"role", plan.Roles}, {"group", plan.Groups}, {"project", plan.Projects}} {
		for _, note := range section.Notes {
			s.inform("%s %s: %s", section.name, note.Name, note.Text)
		}
		if section.name != "project" {
			changes += len(section.Created) + len(section.Updated)
		}
	}
	for _, u := range plan.Projects.Updated {
		if slices.Contains(u.Properties, "access") {
			changes++
		}
	}
	for _, p := range d.Projects {
		if len(p.Access) > 0 && slices.Contains(plan.Projects.Created, p.ID) {
			changes++
		}
	}
	if changes == 0 {
		return nil
	}
	return s.confirm("Create %s, %s and %s, and give the roles in projects?", count(len(plan.Accounts.Created), "account"),
		count(len(plan.Groups.Created), "group"), count(len(plan.Roles.Created), "role"))
}

// write imports a document and prints the report, even if the import did not end.
func (c *importOptions) write(s *session, o *operator.Operator, d transfer.Document, accounts, admins bool) error {
	progress := s.newProgress()
	report, err := o.Import(s.ctx, d, transfer.Options{
		DryRun: c.DryRun, Project: c.Project, Accounts: accounts, Admins: admins, Overwrite: c.Overwrite,
		CreateEnvironments: c.CreateEnvironments, CreateProjects: c.CreateProjects, Progress: progress.show,
	})
	progress.clear()
	printing := s.printReport(report, c.Quiet)
	if err == nil {
		err = printing
	}
	if err == nil && report.HasLosses() {
		err = exitstatus.Errorf(exitstatus.Lost, "something of it is not here, so that applications can get other results: "+
			"see what is skipped, and the losses")
	}
	return err
}

// printReport prints a report, as JSON or as one line for each change, and the numbers. quiet leaves out the changes.
func (s *session) printReport(r transfer.Report, quiet bool) error {
	if s.JSON {
		return printJSON(s.out, r)
	}
	would := ""
	if r.DryRun {
		would = "would be "
	}
	var numbers []string
	line := func(format string, args ...any) { fmt.Fprintln(s.out, printable(fmt.Sprintf(format, args...))) }
	for _, section := range []struct {
		one, many string
		transfer.Section
	}{
		{"type", "types", r.FeatureTypes},
		{"context field", "context fields", r.ContextFields},
		{"environment", "environments", r.Environments},
		{"role", "roles", r.Roles},
		{"account", "accounts", r.Accounts},
		{"group", "groups", r.Groups},
		{"project", "projects", r.Projects},
		{"segment", "segments", r.Segments},
		{"tag type", "tag types", r.TagTypes},
		{"toggle", "toggles", r.Features},
	} {
		if !quiet {
			for _, name := range section.Created {
				line("%s %s: %screated", section.one, name, would)
			}
			for _, u := range section.Updated {
				line("%s %s: %supdated: %s", section.one, u.Name, would, strings.Join(u.Properties, ", "))
			}
		}
		for _, remarks := range []struct {
			kind string
			all  []transfer.Remark
		}{
			{"skipped: ", quoted(section.Skipped)}, {"", section.Notes}, {"loss: ", section.Losses},
		} {
			for _, g := range grouped(remarks.all) {
				line("%s: %s%s", some(section.one, section.many, g.names, examples), remarks.kind, g.text)
			}
		}
		if section.Empty() {
			continue
		}
		numbers = append(numbers, fmt.Sprintf("%s: %d created, %d updated, %d unchanged, %d skipped",
			section.many, len(section.Created), len(section.Updated), section.Unchanged, len(section.Skipped)))
	}
	if r.DryRun {
		numbers = append(numbers, "nothing was changed (--dry-run)")
	}
	for _, text := range append(numbers, comparison(r)...) {
		if _, err := fmt.Fprintln(s.out, printable(text)); err != nil {
			return err
		}
	}
	return nil
}

// quoted returns remarks with quoted names: those of elements that are skipped can be misleading.
func quoted(all []transfer.Remark) []transfer.Remark {
	remarks := slices.Clone(all)
	for i := range remarks {
		remarks[i].Name = strconv.Quote(remarks[i].Name)
	}
	return remarks
}

// group is a text about several elements.
type group struct {
	text  string
	names []string
}

// grouped returns each text once, in the order of the remarks.
func grouped(all []transfer.Remark) []group {
	var groups []group
	index := map[string]int{}
	for _, r := range all {
		i, known := index[r.Text]
		if !known {
			i = len(groups)
			index[r.Text] = i
			groups = append(groups, group{text: r.Text})
		}
		groups[i].names = append(groups[i].names, r.Name)
	}
	return groups
}

const (
	examples = 3  // names of elements with the same remark
	maxNames = 10 // names of elements that only one side has
)

// some returns elements in words: "toggle a", or "5 toggles (a, b, c, …)" with some of the names.
func some(one, many string, names []string, shown int) string {
	if len(names) == 1 {
		return one + " " + names[0]
	}
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if len(names) > shown {
		text += ", …"
	}
	return fmt.Sprintf("%d %s (%s)", len(names), many, text)
}

// comparison returns what one side has and the other has not.
func comparison(r transfer.Report) (lines []string) {
	add := func(what string, parts []string) {
		if len(parts) > 0 {
			lines = append(lines, what+": "+strings.Join(parts, ", "))
		}
	}
	var kinds []string
	for _, o := range r.NotImported {
		number := "unknown"
		if o.Number != nil {
			number = strconv.FormatInt(*o.Number, 10)
		}
		kinds = append(kinds, fmt.Sprintf("%s (%s)", o.Kind, number))
	}
	add("Not imported", kinds)
	var here []string
	for _, only := range []struct {
		one, many string
		names     []string
	}{
		{"type", "types", r.OnlyHere.FeatureTypes},
		{"context field", "context fields", r.OnlyHere.ContextFields},
		{"environment", "environments", r.OnlyHere.Environments},
		{"project", "projects", r.OnlyHere.Projects},
		{"segment", "segments", r.OnlyHere.Segments},
		{"toggle", "toggles", r.OnlyHere.Features},
	} {
		if len(only.names) > 0 {
			here = append(here, some(only.one, only.many, only.names, maxNames))
		}
	}
	add("Only here", here)
	if len(r.ChangedHere) > 0 {
		add("Changed here since the last import", []string{
			some("toggle", "toggles", r.ChangedHere, maxNames) + ", not overwritten without --overwrite",
		})
	}
	return lines
}

func (c *exportCmd) Run(s *session) error {
	if c.AsCode != "" {
		return c.exportAsCode(s)
	}
	o, err := s.operator()
	if err != nil {
		return err
	}
	d, err := o.Export(s.step())
	if err != nil {
		return err
	}
	if c.Output == "" {
		return printJSON(s.out, d)
	}
	return replaceFile(c.Output, func(w io.Writer) error { return printJSON(w, d) })
}

// exportAsCode writes toggles, and what they share, into files of a folder.
func (c *exportCmd) exportAsCode(s *session) error {
	client, err := s.api()
	if err != nil {
		return err
	}
	numbers, err := ascode.NewClient(client).Export(s.ctx, c.AsCode)
	if err != nil {
		return err
	}
	return s.result(numbers, "wrote %s into %s", counts(numbers), c.AsCode)
}
