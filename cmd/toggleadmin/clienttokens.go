package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
)

type clientTokensCmd struct {
	apiOptions

	List   listClientTokensCmd   `cmd:"" help:"List client tokens, without their secrets."`
	Create createClientTokenCmd  `cmd:"" help:"Create a client token and print it. It is not shown again."`
	Import importClientTokensCmd `cmd:"" help:"Import client tokens of another installation, so that applications keep their secrets."`
	Rotate rotateClientTokenCmd  `cmd:"" help:"Create a second secret of a client token and print it. The first one stays valid for a while."`
	Revoke revokeClientTokenCmd  `cmd:"" help:"Revoke a client token: it is rejected from then on."`
}

type listClientTokensCmd struct {
	Type        *string `enum:"backend,frontend" placeholder:"TYPE" help:"Only tokens of this type: backend or frontend."`
	Environment string  `placeholder:"NAME" help:"Only tokens of this environment."`
	Expired     bool    `help:"Only expired tokens."`
}

type createClientTokenCmd struct {
	Name        string   `arg:"" optional:"" help:"Name of the token."`
	Type        *string  `enum:"backend,frontend" placeholder:"TYPE" help:"backend for servers, frontend for browsers and apps."`
	Environment *string  `placeholder:"NAME" help:"Environment whose toggles the token can read."`
	Project     []string `sep:"none" placeholder:"NAME" help:"Project whose toggles the token can read. Repeat for more. Without it, those of all projects."`
	FromStdin   bool     `name:"from-stdin" help:"Create the tokens of the lines of stdin, CSV with the header name,environment,projects,type."`
	EnvFile     string   `name:"env-file" placeholder:"FILE" help:"Write the secrets into a new file that only you can read, as lines NAME=secret."`
	ExpiresAt   *moment  `placeholder:"TIME" xor:"expiry" help:"Expiry, such as 2027-01-31T00:00:00Z."`
	ExpiresIn   lifetime `placeholder:"TIME" xor:"expiry" help:"Lifetime, such as 90d, 12h or 30m. Without a limit, a client token need not expire."`
}

type rotateClientTokenCmd struct {
	Token   string   `arg:"" help:"ID of the token, as list shows it, or its name."`
	Overlap lifetime `default:"24h" placeholder:"TIME" help:"How long the first secret stays valid, from 1h to 30d. By default 24h."`
}

type revokeClientTokenCmd struct {
	Token string `arg:"" help:"ID of the token, as list shows it, or its name; - reads the token itself from stdin."`
}

func (c *listClientTokensCmd) Run(s *session, o manager) error {
	tokens, err := o.ClientTokens(s.step())
	if err != nil {
		return err
	}
	tokens = slices.DeleteFunc(tokens, func(t operator.ClientToken) bool {
		return c.Type != nil && string(t.Type) != *c.Type ||
			c.Environment != "" && t.Environment != c.Environment ||
			c.Expired && !t.Expired
	})
	if len(tokens) == 0 && c.Environment != "" {
		if err := o.CheckEnvironment(s.step(), c.Environment); err != nil {
			return err
		}
	}
	return printList(s, tokens, []column[operator.ClientToken]{
		{name: "NAME", cell: func(t operator.ClientToken) string { return t.Name }, cut: cutFirst, isName: true},
		{name: "TYPE", cell: func(t operator.ClientToken) string { return string(t.Type) }},
		{name: "ENVIRONMENT", cell: func(t operator.ClientToken) string { return t.Environment }, cut: cutLast, isName: true},
		{name: "PROJECTS", cell: markedProjects, cut: cutLast},
		{name: "USED", cell: func(t operator.ClientToken) string { return s.relative(t.SeenAt) }},
		{name: "EXPIRES", cell: func(t operator.ClientToken) string { return s.relative(t.Ends()) }},
		{name: "ID", cell: operator.ClientToken.ShortID},
	})
}

func projectsText(t operator.ClientToken) string { return strings.Join(t.Projects, ", ") }

// markedProjects returns the projects of a token, and which of them have no toggles.
func markedProjects(t operator.ClientToken) string {
	marked := slices.Clone(t.Projects)
	for i, project := range marked {
		if slices.Contains(t.ProjectsWithoutToggles, project) {
			marked[i] += " (no toggles)"
		}
	}
	return strings.Join(marked, ", ")
}

// printClientToken prints the secret of a token that a command has created. If it cannot be printed, it is revoked.
func printClientToken(
	s *session, o manager, created operator.ClientToken, secret clienttokentable.Secret, done, command string,
) (err error) {
	if s.JSON {
		err = printJSON(s.out, struct {
			operator.ClientToken

			Secret string `json:"secret"`
		}{created, secret.Reveal()})
	} else {
		s.inform("%s the %s. The token is not shown again:", done, describeClientToken(created))
		_, err = fmt.Fprintln(s.out, secret.Reveal())
	}
	if err != nil {
		return s.revokeUnprinted(err, command, func(ctx context.Context) error { return o.RevokeClientToken(ctx, created) })
	}
	return nil
}

// Validate is called by kong.
func (c *rotateClientTokenCmd) Validate() error {
	if err := rejectSecret(c.Token, ""); err != nil {
		return err
	}
	if overlap := time.Duration(c.Overlap); overlap < time.Hour || overlap > clienttoken.MaxOverlapHours*time.Hour {
		return exitstatus.Errorf(exitstatus.Usage, "--overlap is %s: it must be from 1h to 30d", overlap)
	}
	return nil
}

func (c *rotateClientTokenCmd) Run(s *session, o manager) error {
	t, err := o.FindClientToken(s.step(), c.Token)
	if err != nil {
		return err
	}
	created, secret, err := o.RotateClientToken(s.step(), t, time.Duration(c.Overlap))
	if err != nil {
		return err
	}
	s.inform("The secret %s stays valid for %s.", t.ID, time.Duration(c.Overlap))
	return printClientToken(s, o, created, secret, "rotated", "client-tokens rotate")
}

func describeClientToken(t operator.ClientToken) string {
	scope := "all projects"
	if !slices.Equal(t.Projects, []string{clienttokentable.AllProjects}) {
		scope = projectsText(t)
	}
	return fmt.Sprintf("%s token %s %q of %s in %s", t.Type, t.ID, t.Name, scope, t.Environment)
}

// Validate is called by kong.
func (c *revokeClientTokenCmd) Validate() error {
	return rejectSecret(c.Token, ", or use `toggleadmin client-tokens revoke -` and pass the token on stdin")
}

// rejectSecret returns an error if an argument is a token in plain text. otherwise is what else the user can do.
func rejectSecret(argument, otherwise string) error {
	if _, listed := clienttokentable.ParseID(argument); !listed && hasSecret(argument) {
		return exitstatus.Errorf(exitstatus.Usage, "a token must not be passed as an argument, which other users of the machine "+
			"can see: pass its id or its name%s", otherwise)
	}
	return nil
}

func (c *revokeClientTokenCmd) Run(s *session, o manager) error {
	t, err := c.find(s, o)
	if err != nil {
		return err
	}
	if err := s.confirm("Revoke the %s? Applications that use it get no more toggles.", describeClientToken(t)); err != nil {
		return err
	}
	if err := o.RevokeClientToken(s.step(), t); err != nil {
		return err
	}
	return s.result(map[string]operator.ClientToken{"revoked": t}, "revoked the %s", describeClientToken(t))
}

func (c *revokeClientTokenCmd) find(s *session, o manager) (operator.ClientToken, error) {
	if c.Token != "-" {
		return o.FindClientToken(s.step(), c.Token)
	}
	input, err := s.readSecret("Token: ")
	if err != nil {
		return operator.ClientToken{}, fmt.Errorf("read the token from stdin: %w", err)
	}
	return o.FindClientTokenBySecret(s.step(), strings.TrimSpace(string(input)))
}

// expiry returns the time at which a new token expires, or nil if neither option is given.
func (s *session) expiry(at *moment, in lifetime) *time.Time {
	if in != 0 {
		return new(s.now().Add(time.Duration(in)))
	}
	return (*time.Time)(at)
}
