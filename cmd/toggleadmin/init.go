package main

import (
	"context"
	"fmt"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/doctor"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/outcome"
	"toggleadmin/pkg/seed"
)

type initCmd struct {
	Name  string `default:"admin" help:"Name of the first administrator (default admin)."`
	Email string `placeholder:"ADDRESS" help:"E-mail address of the first administrator."`
}

// initialised is what init prints as JSON.
type initialised struct {
	Changed       bool              `json:"changed"` // false: it was initialised already
	InitialisedAt string            `json:"initialisedAt"`
	Administrator *operator.Account `json:"administrator,omitempty"` // where changed is true
	APIToken      string            `json:"apiToken,omitempty"`      // the same
}

func (c *initCmd) Run(s *session) error {
	ctx, cancel := s.work()
	defer cancel()
	administrator := seed.Administrator{}
	var err error
	if administrator.Name, err = operator.CheckText("name", c.Name); err != nil {
		return err
	}
	if c.Email != "" {
		if administrator.Email, err = operator.CheckEmail(c.Email); err != nil {
			return err
		}
	}
	i, err := s.open(ctx)
	if err != nil {
		return err
	}
	if i.IsLocal() {
		return initLocal(ctx, s, i)
	}
	if err := doctor.MustHaveTables(ctx, i); err != nil { // before anything is written
		return err
	}
	done, err := seed.Initialise(ctx, seed.Config{Client: i.Client, Tables: i.Tables, Now: s.now, Random: s.random}, administrator)
	if err != nil {
		return err
	}
	at := datetime.Format(done.Marker.At)
	if !done.New {
		if s.JSON {
			return printJSON(s.out, initialised{InitialisedAt: at})
		}
		s.say("%s was initialised at %s: nothing was changed. Its API token was printed then; `toggleadmin tokens create` makes another.", i.Name, at)
		return nil
	}
	account := operator.AccountOf(done.Administrator)
	s.say("%s is initialised: %s (user %d) is its administrator. The API token, which is not shown again:", i.Name, account.Name, account.ID)
	if s.JSON {
		err = printJSON(s.out, initialised{Changed: true, InitialisedAt: at, Administrator: &account, APIToken: done.Token.Reveal()})
	} else {
		_, err = fmt.Fprintln(s.out, done.Token.Reveal())
	}
	if err != nil {
		// Nobody has the token, so nobody shall ever have it.
		ctx, cancel := s.takingBack()
		defer cancel()
		lost := apitoken.NewStore(i.Client, i.Tables).Delete(ctx, done.Token.Selector)
		return outcome.New(outcome.Failure, "%s is initialised, but the API token could not be printed (%v) and was revoked (%v): "+
			"make another by `toggleadmin tokens create`", i.Name, err, orDone(lost))
	}
	return nil
}

func orDone(err error) any {
	if err == nil {
		return "done"
	}
	return err
}

// initLocal says why there is nothing to do.
func initLocal(ctx context.Context, s *session, i *installation.Installation) error {
	if err := i.MustBeInitialised(ctx); err != nil {
		return err
	}
	marker, _, err := seed.ReadMarker(ctx, i.Client, i.Tables)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, initialised{InitialisedAt: datetime.Format(marker.At)})
	}
	s.say("%s was initialised by `make run` itself, at %s: nothing was changed. Its credentials are in %s/local.json.",
		i.Name, datetime.Format(marker.At), s.DataDir)
	return nil
}
