package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
)

// Help is called by kong.
func (*createClientTokenCmd) Help() string {
	return "With --from-stdin, several projects in a line are separated by ;, and * stands for all. If one line is wrong, no " +
		"token is created. The name of a variable in the file of --env-file is the name of the token in upper case, with _ for " +
		"other characters than letters and digits."
}

// Validate is called by kong.
func (c *createClientTokenCmd) Validate() error {
	one := c.Name != "" && c.Type != nil && c.Environment != nil
	several := c.Name == "" && c.Type == nil && c.Environment == nil && len(c.Project) == 0
	switch {
	case c.FromStdin && !several:
		return exitstatus.Errorf(exitstatus.Usage, "--from-stdin: the lines of stdin have the name, --type, --environment and --project")
	case !c.FromStdin && !one:
		return exitstatus.Errorf(exitstatus.Usage, "a name, --type and --environment are required, or --from-stdin")
	}
	_, err := operator.CheckProjects(c.Project)
	return err
}

func (c *createClientTokenCmd) Run(s *session, o manager) error {
	if c.FromStdin {
		return c.createAll(s, o)
	}
	file, err := c.openEnvFile()
	if err != nil {
		return err
	}
	created, secret, err := o.CreateClientToken(s.step(), operator.ClientTokenRequest{
		Name:        c.Name,
		Type:        clienttokentable.Type(*c.Type),
		Environment: *c.Environment,
		Projects:    c.Project,
		ExpiresAt:   s.expiry(c.ExpiresAt, c.ExpiresIn),
	})
	if err != nil {
		return errors.Join(err, file.discard())
	}
	if file != nil {
		return c.print(s, o, file, []operator.CreatedClientToken{{ClientToken: created, Secret: secret}})
	}
	s.warnOfProjects(created)
	return printClientToken(s, o, created, secret, "created", "client-tokens create")
}

// createAll creates the tokens of stdin.
func (c *createClientTokenCmd) createAll(s *session, o manager) error {
	lines, err := readClientTokens(s.in, createColumns())
	if err != nil {
		return err
	}
	variables := map[string]int{}
	for i := range lines {
		lines[i].ExpiresAt = s.expiry(c.ExpiresAt, c.ExpiresIn)
		variable := variableOf(lines[i].Name)
		if first := variables[variable]; first != 0 && c.EnvFile != "" {
			return exitstatus.Errorf(exitstatus.Usage, "nothing was created: the tokens of the lines %d and %d would both be %s in %s",
				first, lines[i].Line, variable, c.EnvFile)
		}
		variables[variable] = lines[i].Line
	}
	file, err := c.openEnvFile()
	if err != nil {
		return err
	}
	created, err := o.CreateClientTokens(s.ctx, lines)
	if err != nil {
		return errors.Join(err, file.discard())
	}
	return c.print(s, o, file, created)
}

// print prints tokens that were created, and writes the file. If it cannot, the tokens are revoked.
func (c *createClientTokenCmd) print(
	s *session, o manager, file *envFile, created []operator.CreatedClientToken,
) error {
	for _, t := range created {
		s.warnOfProjects(t.ClientToken)
	}
	err := file.write(created)
	if err == nil {
		err = s.printCreated(created, file == nil)
	}
	if err != nil {
		return errors.Join(s.revokeUnprinted(err, "client-tokens create", func(ctx context.Context) error {
			return o.RevokeClientTokens(ctx, created)
		}), file.discard())
	}
	if file != nil {
		s.inform("%s: %s. The secrets are not shown again.", c.EnvFile, count(len(created), "secret"))
	}
	return nil
}

// printCreated prints tokens, with or without their secrets.
func (s *session) printCreated(created []operator.CreatedClientToken, secrets bool) error {
	type withSecret struct {
		operator.ClientToken

		Secret string `json:"secret,omitempty"`
	}
	all := make([]withSecret, len(created))
	for i, t := range created {
		all[i].ClientToken = t.ClientToken
		if secrets {
			all[i].Secret = t.Secret.Reveal()
		}
	}
	columns := []column[withSecret]{
		{name: "NAME", cell: func(t withSecret) string { return t.Name }, cut: cutFirst, isName: true},
		{name: "TYPE", cell: func(t withSecret) string { return string(t.Type) }},
		{name: "ENVIRONMENT", cell: func(t withSecret) string { return t.Environment }, cut: cutLast, isName: true},
		{name: "PROJECTS", cell: func(t withSecret) string { return markedProjects(t.ClientToken) }, cut: cutLast},
	}
	if secrets {
		columns = append(columns, column[withSecret]{name: "SECRET", cell: func(t withSecret) string { return t.Secret }})
	} else {
		columns = append(columns, column[withSecret]{name: "VARIABLE", cell: func(t withSecret) string { return variableOf(t.Name) }})
	}
	return printList(s, all, columns)
}

// warnOfProjects names the projects of a token without toggles.
func (s *session) warnOfProjects(t operator.ClientToken) {
	for _, project := range t.ProjectsWithoutToggles {
		s.inform("Warning: the project %s has no toggles: an application with the token gets none of it.", project)
	}
}

// variableOf returns the name of the variable with the secret of a token.
func variableOf(name string) string {
	variable := strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, strings.ToUpper(strings.TrimSpace(name)))
	if variable != "" && variable[0] <= '9' {
		return "_" + variable
	}
	return variable
}

// envFile is a new file for secrets that only its owner can read. It may be nil: there is none.
type envFile struct{ file *os.File }

// openEnvFile makes the file. It is made before the tokens, so that no token is created that cannot be written.
func (c *createClientTokenCmd) openEnvFile() (*envFile, error) {
	if c.EnvFile == "" {
		return nil, nil //nolint:nilnil // no file is wanted
	}
	file, err := os.OpenFile(c.EnvFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, exitstatus.Errorf(exitstatus.Usage, "nothing was created: %s exists, and is not overwritten", c.EnvFile)
	}
	if err != nil {
		return nil, exitstatus.Errorf(exitstatus.Usage, "nothing was created: %v", err)
	}
	return &envFile{file}, nil
}

func (f *envFile) write(created []operator.CreatedClientToken) error {
	if f == nil {
		return nil
	}
	for _, t := range created {
		if _, err := io.WriteString(f.file, fmt.Sprintf("%s=%s\n", variableOf(t.Name), t.Secret.Reveal())); err != nil {
			return err
		}
	}
	return f.file.Close()
}

func (f *envFile) discard() error {
	if f == nil {
		return nil
	}
	_ = f.file.Close() // it may be closed
	return os.Remove(f.file.Name())
}
