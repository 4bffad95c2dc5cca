package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
)

type importCmd struct {
	Unleash importUnleashCmd `cmd:"" help:"Import from a running Unleash, with the token in UNLEASH_TOKEN, or typed."`
	File    importFileCmd    `cmd:"" help:"Import a file that toggleadmin export or Unleash has written."`
}

type (
	importUnleashCmd struct {
		importOptions

		URL      string `name:"url" required:"" placeholder:"URL" help:"URL of Unleash, such as https://unleash.example.com."`
		Creators bool   `help:"Also import the names of those who created toggles and segments. They cannot be removed later."`
	}
	importFileCmd struct {
		importOptions

		File     string `arg:"" help:"File to import."`
		Accounts bool   `xor:"scope" help:"Also create the accounts that are missing, after confirmation."`
	}
	importOptions struct {
		Quiet   bool   `short:"q" help:"Print no line for what is created or updated, only problems and totals."`
		DryRun  bool   `help:"Print what would change, and change nothing."`
		Project string `placeholder:"NAME" xor:"scope" help:"Only toggles of this project, and what they use."`
	}
	exportCmd struct{}
)

// tokenVariable is the environment variable with the token of Unleash.
const tokenVariable = "UNLEASH_TOKEN"

// Validate is called by kong.
func (c *importUnleashCmd) Validate() error { return unleash.CheckURL(c.URL) }

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
		URL: c.URL, Token: token, Wait: wait, Progress: progress.show,
		HTTP: &http.Client{
			Timeout:       time.Minute,
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: unleash.Parallel},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // keeps the token here
		},
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
	return c.write(s, o, d, false)
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
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", exitstatus.Errorf(exitstatus.Usage,
			"there is no token of Unleash: set %s, or pass it on stdin", tokenVariable)
	}
	return token, nil
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
	if err := c.confirmAccounts(s, o, d); err != nil {
		return err
	}
	return c.write(s, o, d, c.Accounts)
}

// confirmAccounts asks for confirmation before accounts are created: whoever changes the file could make anybody an
// administrator.
func (c *importFileCmd) confirmAccounts(s *session, o *operator.Operator, d transfer.Document) error {
	if !c.Accounts {
		if len(d.Accounts) > 0 && c.Project == "" {
			s.inform("%s in this file: not imported without --accounts.", count(len(d.Accounts), "account"))
		}
		return nil
	}
	if c.DryRun {
		return nil
	}
	plan, err := o.Import(s.ctx, transfer.Document{Accounts: d.Accounts},
		transfer.Options{DryRun: true, Accounts: true, Progress: func(string, int, int) {}})
	created := plan.Accounts.Created
	if err != nil || len(created) == 0 {
		return err
	}
	for _, note := range plan.Accounts.Notes {
		if slices.Contains(created, note.Name) {
			s.inform("account %s: %s", note.Name, note.Text)
		}
	}
	return s.confirm("Create %s?", count(len(created), "account"))
}

// write imports a document and prints the report, even if the import did not end.
func (c *importOptions) write(s *session, o *operator.Operator, d transfer.Document, accounts bool) error {
	progress := s.newProgress()
	report, err := o.Import(s.ctx, d,
		transfer.Options{DryRun: c.DryRun, Project: c.Project, Accounts: accounts, Progress: progress.show})
	progress.clear()
	if printing := s.printReport(report, c.Quiet); err == nil {
		err = printing
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
		{"segment", "segments", r.Segments},
		{"toggle", "toggles", r.Features},
		{"account", "accounts", r.Accounts},
	} {
		if !quiet {
			for _, name := range section.Created {
				line("%s %s: %screated", section.one, name, would)
			}
			for _, u := range section.Updated {
				line("%s %s: %supdated: %s", section.one, u.Name, would, strings.Join(u.Properties, ", "))
			}
		}
		for _, skipped := range section.Skipped {
			line("%s %q: skipped: %s", section.one, skipped.Name, skipped.Text)
		}
		for _, note := range section.Notes {
			line("%s %s: %s", section.one, note.Name, note.Text)
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
	for _, number := range numbers {
		if _, err := fmt.Fprintln(s.out, number); err != nil {
			return err
		}
	}
	return nil
}

func (exportCmd) Run(s *session, o *operator.Operator) error {
	d, err := o.Export(s.step())
	if err != nil {
		return err
	}
	return printJSON(s.out, d)
}
