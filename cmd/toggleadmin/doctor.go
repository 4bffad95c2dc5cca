package main

import (
	"fmt"
	"net/http"
	"time"

	"toggleadmin/pkg/doctor"
	"toggleadmin/pkg/outcome"
)

type doctorCmd struct {
	APIURL string `name:"api-url" placeholder:"URL" help:"Call the API here, not at the stack's output ApiUrl: a custom domain, say."`
}

// answerTime bounds one call of the API, a cold start included.
const answerTime = 15 * time.Second

// examined is what doctor prints as JSON.
type examined struct {
	OK     bool             `json:"ok"`
	Checks []doctor.Finding `json:"checks"`
}

func (c *doctorCmd) Run(s *session) error {
	if c.APIURL != "" {
		if err := doctor.CheckURL(c.APIURL); err != nil {
			return err
		}
	}
	ctx, cancel := s.work()
	defer cancel()
	i, err := s.open(ctx)
	if err != nil {
		return err
	}
	result := examined{Checks: []doctor.Finding{}}
	problems := doctor.Examine(s.ctx, doctor.Config{
		Installation: i, APIURL: c.APIURL, Now: s.now, Random: s.random,
		HTTP: &http.Client{
			Timeout:       answerTime,
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the credential goes nowhere else
		},
		Report: func(f doctor.Finding) {
			result.Checks = append(result.Checks, f)
			if s.JSON {
				return
			}
			fmt.Fprintf(s.out, "%-8s %-27s %s\n", f.Status, f.Check, printable(f.Detail))
			if f.Advice != "" {
				fmt.Fprintf(s.out, "%36s → %s\n", "", printable(f.Advice))
			}
		},
	})
	if s.ctx.Err() != nil {
		return outcome.New(outcome.Failure, "interrupted: not every check was made")
	}
	if result.OK = problems == 0; s.JSON {
		if err := printJSON(s.out, result); err != nil {
			return err
		}
	}
	if problems > 0 {
		return outcome.New(outcome.Failure, "%s has problems: %d", i.Name, problems)
	}
	return nil
}
