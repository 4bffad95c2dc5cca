package main

import (
	"fmt"
	"net/http"
	"time"

	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/exitstatus"
)

type doctorCmd struct {
	Fix    bool   `help:"Repair inconsistencies between items, such as after a restore. Without it, doctor repairs nothing."`
	APIURL string `name:"api-url" placeholder:"URL" help:"Call the API at this URL, such as a proxy, not at the output ApiUrl."`
}

// callTimeout limits one call of the API, including a cold start.
const callTimeout = 15 * time.Second

// settle is longer than a change takes to arrive in the snapshots, unless a function fails.
const settle = 8 * time.Second

// Validate is called by kong.
func (c *doctorCmd) Validate() error {
	if c.APIURL == "" {
		return nil
	}
	return doctor.CheckURL(c.APIURL)
}

func (c *doctorCmd) Run(s *session) error {
	i, err := s.open()
	if err != nil {
		return err
	}
	if c.APIURL != "" {
		i.BaseURL = c.APIURL
	}
	findings := []doctor.Finding{}
	problems := doctor.Examine(s.ctx, doctor.Config{
		Installation: i, Now: s.now, Random: s.random,
		HTTP: &http.Client{
			Timeout:   callTimeout,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
			// keeps the credential here
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Fix: c.Fix, Settle: settle, Report: s.reporter(&findings),
	})
	if s.ctx.Err() != nil {
		return exitstatus.Errorf(exitstatus.Failure, "interrupted: some checks were not made")
	}
	return s.examined(problems, findings, map[string]any{})
}

// reporter returns a function that collects findings and, without --json, prints them.
func (s *session) reporter(findings *[]doctor.Finding) func(doctor.Finding) {
	return func(f doctor.Finding) {
		*findings = append(*findings, f)
		if s.JSON {
			return
		}
		fmt.Fprintf(s.out, "%-8s %-27s %s\n", f.Status, f.Check, printable(f.Detail))
		if f.Advice != "" {
			fmt.Fprintf(s.out, "%36s → %s\n", "", printable(f.Advice))
		}
	}
}

// examined prints the result of checks, with --json as further properties of an object.
func (s *session) examined(problems int, findings []doctor.Finding, result map[string]any) error {
	if s.JSON {
		result["ok"], result["checks"] = problems == 0, findings
		if err := printJSON(s.out, result); err != nil {
			return err
		}
	}
	switch {
	case problems == 1:
		return exitstatus.Errorf(exitstatus.Failure, "1 problem found")
	case problems > 1:
		return exitstatus.Errorf(exitstatus.Failure, "%d problems found", problems)
	case !s.JSON:
		fmt.Fprintln(s.out, "no problems found")
	}
	return nil
}
