package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/operator/compare"
	"toggleadmin/pkg/operator/exitstatus"
)

type compareCmd struct {
	URL         string   `name:"url" required:"" placeholder:"URL" help:"URL of the other installation, such as https://unleash.example.com. UNLEASH_TOKEN has the token of a backend application there, or it is typed."`
	Environment string   `placeholder:"NAME" help:"Environment here, with --local or --stack."`
	Project     []string `sep:"none" placeholder:"NAME" help:"Only the toggles of this project here. Repeat for more."`
	ClientURL   string   `name:"client-url" placeholder:"URL" help:"URL at which applications get toggles here, instead of --local or --stack. The first line of stdin has the token of a backend application."`
	Count       int      `default:"1000" placeholder:"N" help:"Number of contexts that are made from the strategies of both sides (default 1000)."`
	Contexts    string   `placeholder:"FILE" help:"Also compare for the contexts of this file: a JSON object in each line."`
}

// Validate is called by kong.
func (c *compareCmd) Validate() error {
	switch {
	case c.Count < 0 || c.Count == 0 && c.Contexts == "":
		return exitstatus.Errorf(exitstatus.Usage, "--count is %d: use at least 1, or --contexts", c.Count)
	case c.ClientURL != "" && (c.Environment != "" || len(c.Project) > 0):
		return exitstatus.Errorf(exitstatus.Usage, "the token of --client-url decides about --environment and --project: omit them")
	case c.ClientURL == "" && c.Environment == "":
		return exitstatus.Errorf(exitstatus.Usage, "use --environment with --local or --stack, or --client-url")
	}
	if c.ClientURL != "" {
		if err := compare.CheckURL(c.ClientURL); err != nil {
			return err
		}
	}
	return compare.CheckURL(c.URL)
}

func (c *compareCmd) Run(s *session) error {
	var given []compare.Fields
	if c.Contexts != "" {
		file, err := os.Open(c.Contexts)
		if err != nil {
			return exitstatus.Errorf(exitstatus.Usage, "%v", err)
		}
		defer file.Close()
		if given, err = compare.ReadContexts(c.Contexts, file); err != nil {
			return err
		}
	}
	token, err := c.tokenThere(s)
	if err != nil {
		return err
	}
	here, err := c.here(s)
	if err != nil {
		return err
	}
	there, err := c.download(s, c.URL, token)
	if err != nil {
		return err
	}
	now := s.now()
	contexts := append(compare.Contexts(c.Count, now, there, here), given...)
	report := compare.Documents(there, here, contexts, now)
	if err := s.printComparison(report); err != nil {
		return err
	}
	if n := len(report.Differences); n > 0 {
		return exitstatus.Errorf(exitstatus.Lost, "%s: other results here than there", count(n, "toggle"))
	}
	return nil
}

// here returns what applications download here.
func (c *compareCmd) here(s *session) (evaluation.Document, error) {
	if c.ClientURL != "" {
		if s.Local || s.Stack != "" {
			return evaluation.Document{}, exitstatus.Errorf(exitstatus.Usage, "use --client-url, or --local or --stack, not both")
		}
		token, err := s.readSecret("Token of a backend application here: ")
		if err != nil {
			return evaluation.Document{}, fmt.Errorf("read the token from stdin: %w", err)
		}
		text := trimmedToken(string(token))
		if text == "" {
			return evaluation.Document{}, exitstatus.Errorf(exitstatus.Usage, "there is no token on stdin")
		}
		return c.download(s, c.ClientURL, text)
	}
	o, err := s.operator()
	if err != nil {
		return evaluation.Document{}, err
	}
	shown, err := o.Snapshot(s.step(), c.Environment, c.Project)
	if err != nil {
		return evaluation.Document{}, err
	}
	return evaluation.Document{Features: shown.Document.Features, Segments: *shown.Document.Segments}, nil
}

// tokenThere returns the token of the other installation.
func (c *compareCmd) tokenThere(s *session) (string, error) {
	if c.ClientURL != "" && os.Getenv(tokenVariable) == "" { // stdin has the other token
		return "", exitstatus.Errorf(exitstatus.Usage, "there is no token of the other installation: set %s", tokenVariable)
	}
	return s.unleashToken()
}

func (c *compareCmd) download(s *session, address, token string) (evaluation.Document, error) {
	if compare.IsPlain(address) {
		s.inform("Warning: %s sends a token in plain text: use https://", address)
	}
	return compare.Download(s.ctx, clientOfOthers(), address, token)
}

// printComparison prints the toggles that have other results, and the numbers.
func (s *session) printComparison(r compare.Report) error {
	if s.JSON {
		return printJSON(s.out, r)
	}
	for _, d := range r.Differences {
		context, err := json.Marshal(d.Context)
		if err != nil {
			return err
		}
		for _, line := range []string{
			fmt.Sprintf("%s: other results in %d of %s, such as %s", d.Toggle, d.Contexts, count(r.Contexts, "context"), context),
			"  there: " + sideWords(d.There),
			"  here:  " + sideWords(d.Here),
		} {
			fmt.Fprintln(s.out, printable(line))
		}
	}
	_, err := fmt.Fprintf(s.out, "%s in %s: %d with other results here than there\n", count(r.Toggles, "toggle"),
		count(r.Contexts, "context"), len(r.Differences))
	return err
}

// sideWords returns the result of a toggle on one side, and why.
func sideWords(r compare.Result) string {
	words := onOff(r.Enabled)
	if r.Variant != "" {
		words += " with the variant " + r.Variant
	}
	return words + ": " + reasonWords(r.Explanation)
}

// reasonWords returns what decides about a toggle.
func reasonWords(e evaluation.Explanation) string {
	switch {
	case !e.Known:
		return "there is no such toggle"
	case !e.SwitchedOn:
		return "it is switched off"
	}
	for _, d := range e.Dependencies {
		if !d.Holds {
			return dependencyWords(d.Dependency) + ": no"
		}
	}
	switch {
	case e.Decisive >= 0:
		return fmt.Sprintf("strategy %d, %s, holds", e.Decisive+1, cmp.Or(e.Strategies[e.Decisive].Strategy.Name, "without a name"))
	case len(e.Strategies) == 0:
		return "it is switched on, without strategies"
	default:
		return "no strategy holds"
	}
}
