package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// Account is a person or a service account, without its id and its tokens.
type Account struct {
	Kind      user.Kind      `json:"kind"`
	Name      string         `json:"name"`
	Username  *string        `json:"username"` // of a service account; of a person, optional
	Email     *string        `json:"email"`    // of a person; nil: none
	Role      string         `json:"role"`     // the name of a root role
	Disabled  bool           `json:"disabled"`
	Identity  *user.Identity `json:"identity"`  // with which a person signs in; nil: none
	CreatedAt *string        `json:"createdAt"` // RFC 3339; nil: unknown
}

// fromAccount returns an account. roles are the names of custom root roles, which can be nil if its role is not needed.
func fromAccount(u user.User, roles map[access.Role]string) Account {
	a := Account{
		Kind: u.Kind, Name: u.Name, Role: cmp.Or(roles[u.Role], u.Role.String()), Disabled: u.Disabled,
		CreatedAt: datetime.FormatOptional(u.CreatedAt), Identity: u.Identity,
	}
	if u.Username != "" {
		a.Username = &u.Username
	}
	if u.Email != "" {
		a.Email = &u.Email
	}
	return a
}

// id returns what identifies an account in every installation: the username of a service account, or the e-mail address,
// the identity, or else the name of a person.
func (a Account) id() string {
	switch {
	case a.Kind == user.ServiceAccount && a.Username != nil:
		return strings.ToLower(*a.Username) + " (service account)"
	case a.Email != nil:
		return strings.ToLower(*a.Email)
	case a.Identity != nil && a.Identity.Subject != "":
		return a.Identity.Subject + " at " + a.Identity.Issuer
	}
	return a.Name
}

// created returns the account with a root role.
func (a Account) created(role access.Role) user.User {
	u := user.User{Kind: a.Kind, Name: a.Name, Role: role, Disabled: a.Disabled, CreatedAt: parsed(a.CreatedAt),
		Identity: a.Identity}
	if a.Username != nil {
		u.Username = *a.Username
	}
	if a.Email != nil {
		u.Email = *a.Email
	}
	return u
}

// importAccounts creates the accounts that are missing. Of Unleash, these are people with an e-mail address, and Admins
// only with Options.Admins.
func (n *rights) importAccounts(ctx context.Context, r *Report) error {
	accounts := slices.DeleteFunc(slices.Clone(n.document.Accounts), func(a Account) bool {
		reason := ""
		switch {
		case !n.document.Kept || n.accounts[a.id()]:
		case a.Kind == user.Person && a.Email == nil:
			reason = "it was not created, because it has no e-mail address"
		case a.Role == access.RoleAdmin.String() && !n.options.Admins:
			reason = "it was not created, because it is an Admin: use --admins"
		}
		if reason != "" {
			r.Accounts.add(a.id(), remarks{notes: []string{reason}})
		}
		return reason != ""
	})
	merge := merge[Account]{
		id: Account.id,
		prepare: func(a Account, old *Account) (Account, remarks, error) {
			return prepareAccount(a, old, n.Issuer, n.roles)
		},
		create: n.createAccount, read: n.readAccount,
	}
	known, err := merge.run(ctx, n.options, "accounts", n.stored.Accounts, accounts, &r.Accounts)
	for id := range known {
		n.newAccounts[id] = !n.accounts[id]
		n.accounts[id] = true
	}
	return err
}

// countPeople reports the people who are not imported.
func (n *rights) countPeople(r *Report) {
	var missing int64
	for _, a := range n.document.Accounts {
		if !n.accounts[a.id()] {
			missing++
		}
	}
	if missing > 0 {
		r.NotImported = append(r.NotImported, Other{"people (--people)", &missing})
	}
}

// maxAccountText is the maximum number of characters of the name of an account, and of the subject of an identity.
const maxAccountText = 255

// prepareAccount never changes an account that exists: an import must not restore a role that was revoked, or enable a
// disabled account. A new account gets a note with what it is permitted to do. issuer is that of the installation, at
// which nobody with an identity of another one could sign in.
// roles are the types of all roles, by name.
func prepareAccount(a Account, old *Account, issuer string, roles map[string]access.RoleType) (
	Account, remarks, error,
) {
	var about remarks
	known := roles[a.Role] == access.RootType || roles[a.Role] == access.RootCustomType
	switch {
	case a.Kind != user.Person && a.Kind != user.ServiceAccount:
		return a, about, fmt.Errorf("its kind %.50q is neither user nor service-account", string(a.Kind))
	case !known:
		return a, about, fmt.Errorf("its role %.50q is neither Admin, Editor or Viewer nor a custom root role that exists here",
			a.Role)
	case !fits(a.Name) || a.Username != nil && !fits(*a.Username):
		return a, about, fmt.Errorf("its name or username does not have 1 to %d characters", maxAccountText)
	case a.Kind == user.ServiceAccount && a.Username == nil:
		return a, about, errors.New("a service account has a username")
	case a.Identity != nil && (a.Kind != user.Person || a.Identity.Issuer == "" || !fits(a.Identity.Subject)):
		return a, about, errors.New("its identity is not valid")
	}
	if a.Email != nil {
		email, ok := user.ParseEmail(*a.Email)
		if !ok || a.Kind != user.Person {
			return a, about, fmt.Errorf("its e-mail address %.50q is not valid", *a.Email)
		}
		a.Email = &email
	}
	var err error
	if a.CreatedAt, err = normalTime(a.CreatedAt); err != nil {
		return a, about, err
	}
	if old == nil && a.Identity != nil && a.Identity.Issuer != issuer {
		return a, about, fmt.Errorf("its identity is of the issuer %.100q, and this installation has %s", a.Identity.Issuer,
			cmp.Or(issuer, "none"))
	}
	if old == nil {
		about.note("%s", a.rights())
		return a, about, nil
	}
	if old.Role != a.Role || old.Disabled != a.Disabled {
		about.note("it exists, and was not changed: its role is %s, disabled: %t", old.Role, old.Disabled)
	}
	return *old, about, nil
}

// rights says what an account is permitted to do, and who can sign in with it.
func (a Account) rights() string {
	text := "it has the role " + a.Role
	if a.Identity != nil {
		text += fmt.Sprintf(" and the identity %s at %s", a.Identity.Subject, a.Identity.Issuer)
	}
	if a.Disabled {
		text += ", and is disabled"
	}
	return text
}

// fits reports whether an account can have a name, username or subject. The API accepts every character.
func fits(name string) bool {
	n := utf8.RuneCountInString(name)
	return n > 0 && n <= maxAccountText
}

// createAccount creates an account. Another import can add the same person at the same time, whom nothing identifies but
// the name: the kind of the error is NameExists then.
func (n *rights) createAccount(ctx context.Context, a Account) error {
	role, fixed := access.ParseRole(a.Role)
	if !fixed {
		roles, err := n.roleIDs(ctx)
		if err != nil {
			return err
		}
		role = roles[a.Role] // prepareAccount has checked it
	}
	if a.Username != nil || a.Email != nil || a.Identity != nil {
		_, err := n.Users.Add(ctx, a.created(role), n.AccountLimit)
		return err
	}
	isSame := func(u user.User) bool { return fromAccount(u, nil).id() == a.id() }
	_, err := n.Users.AddUnless(ctx, a.created(role), n.AccountLimit, isSame)
	return err
}

// readAccount returns the account with an id in documents, which could not be added because a name or an identity is
// taken. If another account has it, the kind of the error is Conflict.
func (n *rights) readAccount(ctx context.Context, id string) (Account, error) {
	d, _, err := n.read(ctx)
	if err != nil {
		return Account{}, err
	}
	if k := slices.IndexFunc(d.Accounts, func(a Account) bool { return a.id() == id }); k >= 0 {
		return d.Accounts[k], nil
	}
	return Account{}, apierror.New(apierror.Conflict, "Another account has the name, the e-mail address or the identity.")
}
