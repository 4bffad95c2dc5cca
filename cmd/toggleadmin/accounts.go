package main

import (
	"fmt"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/platform/access"
)

type usersCmd struct {
	apiOptions
	accountCmds
	Add    addUserCmd    `cmd:"" help:"Add a person."`
	Link   linkUserCmd   `cmd:"" help:"Link a person to the identity with which they sign in."`
	Unlink unlinkUserCmd `cmd:"" help:"Remove the identity with which a person signs in."`
}

// ProvideKind is called by kong, for the parameters of Run.
func (usersCmd) ProvideKind() user.Kind { return user.Person }

type serviceAccountsCmd struct {
	apiOptions
	accountCmds
	Add addServiceAccountCmd `cmd:"" help:"Add a service account."`
}

// ProvideKind is called by kong, for the parameters of Run.
func (serviceAccountsCmd) ProvideKind() user.Kind { return user.ServiceAccount }

type accountCmds struct {
	List    listAccountsCmd   `cmd:"" help:"List the accounts."`
	SetRole setRoleCmd        `cmd:"" help:"Change the root role of an account."`
	Disable disableAccountCmd `cmd:"" help:"Disable an account: its tokens are rejected from then on."`
	Enable  enableAccountCmd  `cmd:"" help:"Enable an account."`
	Delete  deleteAccountCmd  `cmd:"" help:"Delete an account with its tokens."`
}

type (
	listAccountsCmd struct{}
	addUserCmd      struct {
		newAccount
		Email string `required:"" placeholder:"ADDRESS" help:"E-mail address. It must be unique."`
	}
	addServiceAccountCmd struct {
		newAccount
		Username string `placeholder:"NAME" help:"Username. It must be unique. Default: the name."`
	}
	newAccount struct {
		Name string `required:"" help:"Name of the account."`
		Role string `default:"Viewer" placeholder:"ROLE" help:"Root role: Admin, Editor, Viewer (default), or the name or ID of a custom one."`
	}
	disableAccountCmd struct {
		accountID
		force
	}
	enableAccountCmd struct{ accountID }
	deleteAccountCmd struct {
		accountID
		force
	}
	unlinkUserCmd struct{ accountID }
	setRoleCmd    struct {
		accountID
		force
		Role string `arg:"" help:"Admin, Editor, Viewer, or the name or ID of a custom root role."`
	}
	linkUserCmd struct {
		accountID
		Subject string `required:"" placeholder:"SUB" help:"Claim sub of the person's ID tokens."`
		Issuer  string `placeholder:"URL" help:"Claim iss of the tokens. Default: the issuer of the installation."`
	}
	accountID struct {
		ID id `arg:"" help:"ID of the account, as list shows it."`
	}
	force struct {
		Force bool `help:"Do it even if the person is the last enabled Admin."`
	}
)

// id is the id of an account.
type id int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *id) UnmarshalText(text []byte) error {
	n, ok := access.ParseID(string(text))
	if !ok {
		return fmt.Errorf("%q is not an id: use a number such as 7", text)
	}
	*i = id(n)
	return nil
}

func (listAccountsCmd) Run(kind user.Kind, s *session, o manager) error {
	accounts, err := o.Accounts(s.step(), kind)
	if err != nil {
		return err
	}
	roles, err := o.RootRoleNames(s.step())
	if err != nil {
		return err
	}
	type account = operator.Account
	columns := []column[account]{
		{name: "ID", cell: func(a account) string { return strconv.FormatInt(a.ID, 10) }},
		{name: "NAME", cell: func(a account) string { return a.Name }, cut: cutLast, isName: true},
		{name: "EMAIL", cell: func(a account) string { return text(a.Email) }, cut: cutLast, isName: true},
		{name: "ROLE", cell: func(a account) string { return roles[a.Role] }, cut: cutLast},
		{name: "STATE", cell: func(a account) string { return stateName(a.Disabled) }},
		{name: "TOKENS", cell: func(a account) string { return strconv.Itoa(a.Tokens) }},
		{name: "IDENTITY", cell: func(a account) string { return identityName(a.Identity) }, cut: cutFirst},
	}
	if kind == user.ServiceAccount {
		columns = slices.Delete(columns, len(columns)-1, len(columns))
		columns[2] = column[account]{name: "USERNAME", cell: func(a account) string { return text(a.Username) }, cut: cutLast, isName: true}
	}
	return printList(s, accounts, columns)
}

func identityName(i *user.Identity) string {
	if i == nil {
		return ""
	}
	return i.Subject + " at " + i.Issuer
}

// changedAccount is the result of a change.
type changedAccount struct {
	operator.Account

	Changed bool `json:"changed"`
}

func stateName(disabled bool) string {
	if disabled {
		return "disabled"
	}
	return "enabled"
}

func (c *addServiceAccountCmd) Run(kind user.Kind, s *session, o manager) error {
	return c.add(kind, c.Username, s, o)
}

func (c *addUserCmd) Run(kind user.Kind, s *session, o manager) error {
	return c.add(kind, c.Email, s, o)
}

func (c *newAccount) add(kind user.Kind, unique string, s *session, o manager) error {
	role, err := o.RootRole(s.step(), c.Role)
	if err != nil {
		return err
	}
	a, err := o.AddAccount(s.step(), kind, c.Name, unique, role.ID)
	if err != nil {
		return err
	}
	return s.result(a, "added %s with the id %d and the role %s", a.Name, a.ID, role.Name)
}

func (c *disableAccountCmd) Run(kind user.Kind, s *session, o manager) error {
	a, err := o.Account(s.step(), kind, int64(c.ID))
	if err != nil {
		return err
	}
	if !a.Disabled {
		if err := s.warn(o.DisableWarnings(s.step(), a, c.Force)); err != nil {
			return err
		}
		if err := s.confirm("Disable %s (%d)? Its %s will be rejected.", a.Name, a.ID, count(a.Tokens, "token")); err != nil {
			return err
		}
	}
	return c.setDisabled(kind, s, o, true, c.Force)
}

func (c *enableAccountCmd) Run(kind user.Kind, s *session, o manager) error {
	return c.setDisabled(kind, s, o, false, false)
}

func (c *accountID) setDisabled(kind user.Kind, s *session, o manager, disabled, force bool) error {
	a, changed, err := o.SetDisabled(s.step(), kind, int64(c.ID), disabled, force)
	if err != nil {
		return err
	}
	return s.stateResult(changedAccount{a, changed}, changed, fmt.Sprintf("%s (%d)", a.Name, a.ID), stateName(disabled))
}

func (c *setRoleCmd) Run(kind user.Kind, s *session, o manager) error {
	role, err := o.RootRole(s.step(), c.Role)
	if err != nil {
		return err
	}
	a, err := o.Account(s.step(), kind, int64(c.ID))
	if err != nil {
		return err
	}
	if role.ID != access.RoleAdmin {
		if err := s.warn(o.DemoteWarnings(s.step(), a, c.Force)); err != nil {
			return err
		}
	}
	a, changed, err := o.SetRole(s.step(), kind, int64(c.ID), role.ID, c.Force)
	if err != nil {
		return err
	}
	return s.stateResult(changedAccount{a, changed}, changed, fmt.Sprintf("the role of %s (%d)", a.Name, a.ID),
		role.Name)
}

func (c *deleteAccountCmd) Run(kind user.Kind, s *session, o manager) error {
	a, err := o.AccountToDelete(s.step(), kind, int64(c.ID))
	if err != nil {
		return err
	}
	if err := s.warn(o.DeleteWarnings(s.step(), a, c.Force)); err != nil {
		return err
	}
	if err := s.confirm("Delete %s (%d) with its %s?", a.Name, a.ID, count(a.Tokens, "token")); err != nil {
		return err
	}
	if err := o.DeleteAccount(s.step(), kind, a.ID, c.Force); err != nil {
		return err
	}
	return s.result(map[string]operator.Account{"deleted": a}, "deleted %s (%d)", a.Name, a.ID)
}

func (c *linkUserCmd) Run(s *session, o *operator.Operator) error {
	identity, err := o.Identity(c.Issuer, c.Subject)
	if err != nil {
		return err
	}
	a, err := o.Account(s.step(), user.Person, int64(c.ID))
	if err != nil {
		return err
	}
	if a.Identity != nil && *a.Identity != identity {
		if err := s.confirm("Link %s (%d) to %s instead of %s?", a.Name, a.ID, identityName(&identity),
			identityName(a.Identity)); err != nil {
			return err
		}
	}
	a, changed, err := o.Link(s.step(), int64(c.ID), identity)
	if err != nil {
		return err
	}
	return s.stateResult(changedAccount{a, changed}, changed, fmt.Sprintf("%s (%d)", a.Name, a.ID),
		"linked to "+identityName(a.Identity))
}

func (c *unlinkUserCmd) Run(s *session, o *operator.Operator) error {
	a, err := o.Account(s.step(), user.Person, int64(c.ID))
	if err != nil {
		return err
	}
	if a.Identity != nil {
		if err := s.confirm("Unlink %s (%d) from %s?", a.Name, a.ID, identityName(a.Identity)); err != nil {
			return err
		}
	}
	a, changed, err := o.Unlink(s.step(), int64(c.ID))
	if err != nil {
		return err
	}
	return s.stateResult(changedAccount{a, changed}, changed, fmt.Sprintf("%s (%d)", a.Name, a.ID),
		"not linked to an identity")
}
