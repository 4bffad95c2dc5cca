package main

import (
	"context"
	"fmt"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/seed"
)

type initCmd struct {
	Name  string `default:"admin" help:"Name of the first administrator (default admin)."`
	Email string `placeholder:"ADDRESS" help:"E-mail address of the first administrator."`
}

// initResult is the JSON output of init. Without a change it has no administrator and no token.
type initResult struct {
	Changed       bool              `json:"changed"`
	InitialisedAt string            `json:"initialisedAt"`
	Administrator *operator.Account `json:"administrator,omitempty"`
	APIToken      string            `json:"apiToken,omitempty"`
}

// Validate is called by kong.
func (c *initCmd) Validate() (err error) {
	if c.Name, err = operator.CheckText("name", c.Name); err != nil {
		return err
	}
	if c.Email != "" {
		c.Email, err = operator.CheckEmail(c.Email)
	}
	return err
}

func (c *initCmd) Run(s *session) error {
	i, err := s.open()
	if err != nil {
		return err
	}
	if i.IsLocal() {
		marker, err := i.Initialization(s.step())
		if err != nil {
			return err
		}
		return c.unchanged(s, marker, fmt.Sprintf("%s initializes itself. Its credentials are in %s/local.json.", i.Name,
			s.DataDir))
	}
	ctx := s.step()
	if err := doctor.RequireTables(ctx, i); err != nil {
		return err
	}
	result, err := seed.Initialize(ctx, seed.Config{Client: i.Client, Tables: i.Tables, Log: i.Log(s.now), Now: s.now,
		Random: s.random, MaxTokenDays: i.MaxTokenDays},
		seed.Administrator{Name: c.Name, Email: c.Email})
	if err != nil {
		return exitstatus.Explain(err)
	}
	if !result.New {
		return c.unchanged(s, result.Marker,
			i.Name+" was initialized before. Create another API token with `toggleadmin tokens create`.")
	}
	administrator := operator.NewAccount(result.Administrator)
	s.inform("%s is initialized. Its administrator is %s (%d). The API token is not shown again:",
		i.Name, administrator.Name, administrator.ID)
	if s.JSON {
		err = printJSON(s.out, initResult{true, datetime.Format(result.Marker.At), &administrator, result.Token.Reveal()})
	} else {
		_, err = fmt.Fprintln(s.out, result.Token.Reveal())
	}
	if err != nil {
		return s.revokeUnprinted(err, "tokens create", func(ctx context.Context) error {
			return apitoken.NewStore(i.Client, i.Tables, i.Log(s.now)).Delete(ctx, result.Token.Selector)
		})
	}
	return nil
}

func (c *initCmd) unchanged(s *session, marker seed.Marker, reason string) error {
	at := datetime.Format(marker.At)
	if s.JSON {
		return printJSON(s.out, initResult{InitialisedAt: at})
	}
	s.inform("nothing was changed, initialized at %s: %s", at, reason)
	return nil
}
