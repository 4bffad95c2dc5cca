package main

import (
	"fmt"
	"strconv"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/user"
)

type usersCmd struct {
	List    listUsersCmd   `cmd:"" help:"List the people."`
	Add     addUserCmd     `cmd:"" help:"Add a person."`
	Disable disableUserCmd `cmd:"" help:"Disable a person: all tokens are refused at once."`
	Enable  enableUserCmd  `cmd:"" help:"Enable a person again."`
}

type serviceCmd struct {
	List    listServicesCmd   `cmd:"" help:"List the service accounts."`
	Add     addServiceCmd     `cmd:"" help:"Add a service account."`
	Disable disableServiceCmd `cmd:"" help:"Disable a service account: all tokens are refused at once."`
	Enable  enableServiceCmd  `cmd:"" help:"Enable a service account again."`
}

type (
	listUsersCmd    struct{}
	listServicesCmd struct{}

	addUserCmd struct {
		Name  string    `required:"" help:"Name of the person."`
		Email string    `required:"" placeholder:"ADDRESS" help:"E-mail address, which no other person has."`
		Role  auth.Role `enum:"Admin,Editor,Viewer" default:"Viewer" help:"Root role: Admin, Editor or Viewer (the default)."`
	}
	addServiceCmd struct {
		Name string    `required:"" help:"Name of the service account, which no other one has."`
		Role auth.Role `enum:"Admin,Editor,Viewer" default:"Viewer" help:"Root role: Admin, Editor or Viewer (the default)."`
	}
	disableUserCmd    struct{ accountID }
	enableUserCmd     struct{ accountID }
	disableServiceCmd struct{ accountID }
	enableServiceCmd  struct{ accountID }
)

type accountID struct {
	ID id `arg:"" help:"Id of the account, as list shows it."`
}

// id is the id of an account.
type id int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *id) UnmarshalText(text []byte) error {
	n, ok := auth.ParseID(string(text))
	if !ok {
		return fmt.Errorf("%q is no id: give a number such as 7", text)
	}
	*i = id(n)
	return nil
}

func (listUsersCmd) Run(s *session) error    { return listAccounts(s, user.Person) }
func (listServicesCmd) Run(s *session) error { return listAccounts(s, user.ServiceAccount) }
func (c *addUserCmd) Run(s *session) error {
	return addAccount(s, user.Person, c.Name, c.Email, c.Role)
}
func (c *addServiceCmd) Run(s *session) error {
	return addAccount(s, user.ServiceAccount, c.Name, "", c.Role)
}
func (c *disableUserCmd) Run(s *session) error { return setDisabled(s, user.Person, c.ID, true) }
func (c *enableUserCmd) Run(s *session) error  { return setDisabled(s, user.Person, c.ID, false) }
func (c *disableServiceCmd) Run(s *session) error {
	return setDisabled(s, user.ServiceAccount, c.ID, true)
}
func (c *enableServiceCmd) Run(s *session) error {
	return setDisabled(s, user.ServiceAccount, c.ID, false)
}

func listAccounts(s *session, kind user.Kind) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	all, err := o.Accounts(ctx, kind)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, all)
	}
	rows := [][]string{}
	for _, a := range all {
		row := []string{strconv.FormatInt(a.ID, 10), a.Name, text(a.Email), string(a.Role), state(a.Disabled), strconv.Itoa(a.Tokens)}
		if kind == user.ServiceAccount {
			row = append(row[:2], row[3:]...)
		}
		rows = append(rows, row)
	}
	header := []string{"ID", "NAME", "EMAIL", "ROLE", "STATE", "TOKENS"}
	if kind == user.ServiceAccount {
		header = []string{"ID", "NAME", "ROLE", "STATE", "TOKENS"}
	}
	return printTable(s.out, header, rows)
}

func state(disabled bool) string {
	if disabled {
		return "disabled"
	}
	return "enabled"
}

func addAccount(s *session, kind user.Kind, name, email string, role auth.Role) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	a, err := o.AddAccount(ctx, kind, name, email, role)
	if err != nil {
		return err
	}
	return s.result(a, "added %s as %d, %s", a.Name, a.ID, a.Role)
}

// accountChange is what disable and enable print as JSON.
type accountChange struct {
	operator.Account

	Changed bool `json:"changed"` // false: it was so already
}

func setDisabled(s *session, kind user.Kind, account id, disabled bool) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	a, err := o.Account(ctx, kind, int64(account))
	if err != nil {
		return err
	}
	if disabled && !a.Disabled {
		if err := s.confirm("Disable %s (%d)? Its %d tokens are refused from then on.", a.Name, a.ID, a.Tokens); err != nil {
			return err
		}
	}
	ctx, cancel = s.work()
	defer cancel()
	a, changed, err := o.SetDisabled(ctx, kind, a.ID, disabled)
	if err != nil {
		return err
	}
	if !changed {
		return s.result(accountChange{a, false}, "%s (%d) is %s already, nothing was changed", a.Name, a.ID, state(disabled))
	}
	return s.result(accountChange{a, true}, "%s (%d) is %s", a.Name, a.ID, state(disabled))
}
