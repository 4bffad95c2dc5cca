package operator

import (
	"context"
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/outcome"
	"toggleadmin/pkg/user"
)

// longest is how many characters a name or a description may have, as in the API.
const longest = 255

// Account is a person or a service account.
type Account struct {
	ID       int64     `json:"id"`
	Kind     user.Kind `json:"kind"` // user or service-account
	Name     string    `json:"name"`
	Email    *string   `json:"email"` // null: none
	Role     auth.Role `json:"role"`
	Disabled bool      `json:"disabled"`
	Tokens   int       `json:"tokens"` // how many it has, expired ones counted
}

// AccountOf is an account as it is printed.
func AccountOf(u user.User) Account {
	a := Account{ID: u.ID, Kind: u.Kind, Name: u.Name, Role: u.Role, Disabled: u.Disabled, Tokens: len(u.PATs)}
	if u.Email != "" {
		a.Email = &u.Email
	}
	return a
}

// Accounts lists the accounts of a kind, by id.
func (o *Operator) Accounts(ctx context.Context, kind user.Kind) ([]Account, error) {
	all, err := o.users.List(ctx)
	if err != nil {
		return nil, err
	}
	accounts := []Account{}
	for _, u := range all {
		if u.Kind == kind {
			accounts = append(accounts, AccountOf(u))
		}
	}
	return accounts, nil
}

// AddAccount adds an account under a new id, without tokens. A person has an e-mail address that no other person has, a service account
// a name that no other service account has.
func (o *Operator) AddAccount(ctx context.Context, kind user.Kind, name, email string, role auth.Role) (Account, error) {
	name, err := CheckText("name", name)
	if err != nil {
		return Account{}, err
	}
	if kind == user.Person {
		if email, err = CheckEmail(email); err != nil {
			return Account{}, err
		}
	}
	added, err := o.users.Add(ctx, user.User{Kind: kind, Name: name, Email: email, Role: role})
	switch {
	case errors.Is(err, user.ErrEmailExists):
		return Account{}, outcome.New(outcome.Refused, "there is a user with the e-mail address %s already", email)
	case errors.Is(err, user.ErrNameExists):
		return Account{}, outcome.New(outcome.Refused, "there is a service account with the name %q already", name)
	case err != nil:
		return Account{}, err
	}
	return AccountOf(added), nil
}

// Account gives the account of that kind and id.
func (o *Operator) Account(ctx context.Context, kind user.Kind, id int64) (Account, error) {
	u, err := o.users.Get(ctx, id)
	switch {
	case errors.Is(err, user.ErrNotFound):
		return Account{}, outcome.New(outcome.NotFound, "there is no %s with the id %d", noun(kind), id)
	case err != nil:
		return Account{}, err
	case u.Kind != kind:
		return Account{}, outcome.New(outcome.NotFound, "there is no %s with the id %d, it is a %s", noun(kind), id, noun(u.Kind))
	}
	return AccountOf(u), nil
}

// SetDisabled disables or enables an account; changed is false where it was so already. Its tokens are refused, or taken again, at once.
func (o *Operator) SetDisabled(ctx context.Context, kind user.Kind, id int64, disabled bool) (a Account, changed bool, err error) {
	a, err = o.Account(ctx, kind, id)
	if err != nil || a.Disabled == disabled {
		return a, false, err
	}
	if err := o.users.SetDisabled(ctx, id, disabled); err != nil {
		return Account{}, false, err
	}
	a.Disabled = disabled
	return a, true, nil
}

func noun(kind user.Kind) string {
	if kind == user.ServiceAccount {
		return "service account"
	}
	return "user"
}

// CheckText gives a name or description without the space around it, or an error of kind Usage that calls it what.
func CheckText(what, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return "", outcome.New(outcome.Usage, "the %s is empty", what)
	case n > longest:
		return "", outcome.New(outcome.Usage, "the %s has %d characters, at most %d are allowed", what, n, longest)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", outcome.New(outcome.Usage, "the %s holds characters that cannot be printed", what)
	}
	return text, nil
}

// CheckEmail gives an e-mail address in the letter case that it is stored in, lower, or an error of kind Usage.
func CheckEmail(text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || utf8.RuneCountInString(text) > longest {
		return "", outcome.New(outcome.Usage, "%q is no e-mail address: give one such as ada@example.com", text)
	}
	return text, nil
}
