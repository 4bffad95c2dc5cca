package operator

import (
	"cmp"
	"context"
	"strings"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/issuerurl"
)

// Account is a person or a service account.
type Account struct {
	ID       int64          `json:"id"`
	Kind     user.Kind      `json:"kind"`
	Name     string         `json:"name"`
	Username *string        `json:"username"` // of a service account
	Email    *string        `json:"email"`    // of a person
	Role     access.Role    `json:"role"`     // the name of a fixed role, or the id of a custom one
	Disabled bool           `json:"disabled"`
	Tokens   int            `json:"tokens"`   // their number, including expired ones
	Identity *user.Identity `json:"identity"` // with which a person signs in
}

// NewAccount converts an account to its output.
func NewAccount(u user.User) Account {
	a := Account{ID: u.ID, Kind: u.Kind, Name: u.Name, Role: u.Role, Disabled: u.Disabled, Tokens: len(u.PATs),
		Identity: u.Identity}
	if u.Username != "" {
		a.Username = &u.Username
	}
	if u.Email != "" {
		a.Email = &u.Email
	}
	return a
}

// kindName returns a kind as messages write it.
func kindName(kind user.Kind) string { return strings.ReplaceAll(string(kind), "-", " ") }

// Accounts returns the accounts of a kind, ordered by id.
func (o *Operator) Accounts(ctx context.Context, kind user.Kind) ([]Account, error) {
	all, err := o.users.List(ctx)
	if err != nil {
		return nil, err
	}
	accounts := []Account{}
	for _, u := range all {
		if u.Kind == kind {
			accounts = append(accounts, NewAccount(u))
		}
	}
	return accounts, nil
}

// AddAccount adds an account without tokens. unique is what no other account has: the e-mail address of a person, or the
// username of a service account; empty: the name is the username.
func (o *Operator) AddAccount(
	ctx context.Context, kind user.Kind, name, unique string, role access.Role,
) (Account, error) {
	name, err := CheckText("name", name)
	if err != nil {
		return Account{}, err
	}
	created := datetime.Milliseconds(o.now())
	u := user.User{Kind: kind, Name: name, Role: role, CreatedAt: &created}
	if kind == user.Person {
		u.Email, err = CheckEmail(unique)
	} else {
		u.Username, err = CheckText("username", cmp.Or(unique, name))
	}
	if err != nil {
		return Account{}, err
	}
	added, err := o.users.Add(ctx, u, o.installation.AccountLimit)
	return NewAccount(added), explainChange(err)
}

// Account returns an account of a kind.
func (o *Operator) Account(ctx context.Context, kind user.Kind, id int64) (Account, error) {
	u, err := o.users.Get(ctx, id)
	if err == nil && u.Kind != kind {
		return Account{}, exitstatus.Errorf(exitstatus.NotFound,
			"there is no %s with the id %d: it is a %s", kindName(kind), id, kindName(u.Kind))
	}
	return NewAccount(u), explainAccount(kind, id, err)
}

// explainAccount returns the error of a command. An account that was read can be deleted before it is changed.
func explainAccount(kind user.Kind, id int64, err error) error {
	if apierror.KindOf(err) == apierror.NotFound {
		return exitstatus.Errorf(exitstatus.NotFound, "there is no %s with the id %d", kindName(kind), id)
	}
	if apierror.KindOf(err) == apierror.Conflict {
		return exitstatus.Errorf(exitstatus.Rejected, "%v, or use --force", exitstatus.Explain(err))
	}
	return err
}

// SetDisabled disables or enables an account. changed is false if it already was. Unless force is true, the last enabled
// Admin stays one.
func (o *Operator) SetDisabled(ctx context.Context, kind user.Kind, id int64, disabled, force bool) (
	a Account, changed bool, err error,
) {
	a, err = o.Account(ctx, kind, id)
	if err != nil || a.Disabled == disabled {
		return a, false, err
	}
	a.Disabled = disabled
	return a, true, explainAccount(kind, id, o.users.SetDisabled(ctx, id, disabled, force))
}

// SetRole changes the role of an account. changed is false if it already had it. Unless force is true, the last enabled
// Admin stays one.
func (o *Operator) SetRole(ctx context.Context, kind user.Kind, id int64, role access.Role, force bool) (
	a Account, changed bool, err error,
) {
	a, err = o.Account(ctx, kind, id)
	if err != nil || a.Role == role {
		return a, false, err
	}
	a.Role = role
	return a, true, explainAccount(kind, id, o.users.SetRole(ctx, id, role, force))
}

// AccountToDelete returns an account of a kind, even if its deletion has begun but not ended.
func (o *Operator) AccountToDelete(ctx context.Context, kind user.Kind, id int64) (Account, error) {
	a, err := o.Account(ctx, kind, id)
	if exitstatus.Of(err) != exitstatus.NotFound {
		return a, err
	}
	unfinished, listErr := o.users.Unfinished(ctx)
	if listErr != nil {
		return Account{}, listErr
	}
	for _, u := range unfinished {
		if u.ID == id && u.Kind == kind {
			return NewAccount(u), nil
		}
	}
	return Account{}, err
}

// DeleteAccount deletes an account of a kind with its tokens and identifiers. If it fails, it can be repeated.
// Unless force is true, the last enabled Admin stays.
func (o *Operator) DeleteAccount(ctx context.Context, kind user.Kind, id int64, force bool) error {
	return explainAccount(kind, id, o.pats.DeleteOwner(ctx, kind, id, force))
}

// Identity returns the identity of a subject at an issuer, or if issuer is empty, at the issuer of the installation.
func (o *Operator) Identity(issuer, subject string) (user.Identity, error) {
	subject, err := CheckText("subject", subject)
	if err != nil {
		return user.Identity{}, err
	}
	if issuer == "" {
		issuer = o.installation.Issuer
	}
	if issuer == "" {
		return user.Identity{}, exitstatus.Errorf(exitstatus.Usage, "%s has no OpenID Connect issuer: use --issuer",
			o.installation.Name)
	}
	if err := issuerurl.Check(issuer, o.installation.IsLocal()); err != nil {
		return user.Identity{}, exitstatus.Errorf(exitstatus.Usage, "%q is not an issuer: %v", issuer, err)
	}
	return user.Identity{Issuer: issuer, Subject: subject}, nil
}

// Link links a person to an identity, in place of an earlier one. changed is false if they were already linked.
func (o *Operator) Link(ctx context.Context, id int64, identity user.Identity) (a Account, changed bool, err error) {
	if _, err := o.Account(ctx, user.Person, id); err != nil {
		return Account{}, false, err
	}
	u, err := o.users.Link(ctx, id, identity)
	if apierror.KindOf(err) == apierror.NameExists {
		return Account{}, false, exitstatus.Errorf(exitstatus.Rejected,
			"the subject %q is linked to %s (%d): run `toggleadmin users unlink %d` first", identity.Subject, u.Name, u.ID, u.ID)
	}
	a = NewAccount(u)
	changed, a.Identity = a.Identity == nil || *a.Identity != identity, &identity
	return a, changed, explainAccount(user.Person, id, err)
}

// Unlink removes a person's identity. changed is false if there is none.
func (o *Operator) Unlink(ctx context.Context, id int64) (a Account, changed bool, err error) {
	if _, err := o.Account(ctx, user.Person, id); err != nil {
		return Account{}, false, err
	}
	u, err := o.users.Unlink(ctx, id)
	changed, u.Identity = u.Identity != nil, nil
	return NewAccount(u), changed, explainAccount(user.Person, id, err)
}

// CheckEmail returns an e-mail address as it is stored.
func CheckEmail(text string) (string, error) {
	email, ok := user.ParseEmail(text)
	if !ok {
		return "", exitstatus.Errorf(exitstatus.Usage, "%q is not an e-mail address: use one such as ada@example.com",
			strings.TrimSpace(text))
	}
	return email, nil
}
