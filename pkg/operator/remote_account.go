package operator

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
)

// remoteAccount returns an account of the API as commands show it, without what only the lists of its kind have.
func remoteAccount(kind user.Kind, shown user.Response) Account {
	a := Account{ID: shown.ID, Kind: kind, Name: shown.Name, Role: access.Role(shown.RootRole)}
	if shown.Username != "" {
		a.Username = &shown.Username
	}
	if shown.Email != "" {
		a.Email = &shown.Email
	}
	return a
}

// remotePerson is a person in the list of the API.
type remotePerson struct {
	user.Response

	Disabled bool           `json:"disabled"`
	Identity *user.Identity `json:"identity"`
}

// account returns the person as commands show it.
func (p remotePerson) account(tokens int) Account {
	a := remoteAccount(user.Person, p.Response)
	a.Disabled, a.Identity, a.Tokens = p.Disabled, p.Identity, tokens
	return a
}

// remoteServiceAccount is a service account in the API.
type remoteServiceAccount struct {
	user.Response

	Tokens []struct{} `json:"tokens"`
}

// account returns the service account as commands show it.
func (s remoteServiceAccount) account(disabled bool) Account {
	a := remoteAccount(user.ServiceAccount, s.Response)
	a.Disabled, a.Tokens = disabled, len(s.Tokens)
	return a
}

// serviceAccounts returns the service accounts, ordered by id.
func (r *Remote) serviceAccounts(ctx context.Context) ([]Account, error) {
	accounts := []Account{}
	for _, disabled := range []bool{false, true} {
		var list struct {
			ServiceAccounts []remoteServiceAccount `json:"serviceAccounts"`
		}
		query := url.Values{"disabled": {strconv.FormatBool(disabled)}}
		if err := r.get(ctx, query, &list, accountsPath(user.ServiceAccount)); err != nil {
			return nil, err
		}
		for _, s := range list.ServiceAccounts {
			accounts = append(accounts, s.account(disabled))
		}
	}
	slices.SortFunc(accounts, func(a, b Account) int { return cmp.Compare(a.ID, b.ID) })
	return accounts, nil
}

// accountsPath returns the path of the accounts of a kind.
func accountsPath(kind user.Kind) string {
	if kind == user.ServiceAccount {
		return "service-account"
	}
	return "user-admin"
}

// checkForce returns an error if the last enabled Admin is to lose the role: the API does not permit it.
func checkForce(force bool) error {
	if force {
		return exitstatus.Errorf(exitstatus.Usage,
			"--force is not possible with --url: the API keeps the last enabled person with the role Admin")
	}
	return nil
}

// Accounts is Operator.Accounts.
func (r *Remote) Accounts(ctx context.Context, kind user.Kind) ([]Account, error) {
	if kind == user.ServiceAccount {
		return r.serviceAccounts(ctx)
	}
	var list struct {
		Users []remotePerson `json:"users"`
	}
	if err := r.get(ctx, nil, &list, accountsPath(kind)); err != nil {
		return nil, err
	}
	tokens, err := r.Tokens(ctx, 0)
	if err != nil {
		return nil, err
	}
	of := map[int64]int{}
	for _, t := range tokens {
		if t.UserID != nil {
			of[*t.UserID]++
		}
	}
	accounts := []Account{}
	for _, p := range list.Users {
		accounts = append(accounts, p.account(of[p.ID]))
	}
	return accounts, nil
}

// Account is Operator.Account.
func (r *Remote) Account(ctx context.Context, kind user.Kind, id int64) (Account, error) {
	all, err := r.Accounts(ctx, kind)
	for _, a := range all {
		if a.ID == id {
			return a, err
		}
	}
	if err == nil {
		err = exitstatus.Errorf(exitstatus.NotFound, "there is no %s with the id %d", kindName(kind), id)
	}
	return Account{}, err
}

// AccountToDelete is Account: a request that deletes an account ends with the deletion.
func (r *Remote) AccountToDelete(ctx context.Context, kind user.Kind, id int64) (Account, error) {
	return r.Account(ctx, kind, id)
}

// AddAccount is Operator.AddAccount.
func (r *Remote) AddAccount(
	ctx context.Context, kind user.Kind, name, unique string, role access.Role,
) (Account, error) {
	name, err := CheckText("name", name)
	if err != nil {
		return Account{}, err
	}
	if kind == user.ServiceAccount {
		var made remoteServiceAccount
		body := map[string]any{"name": name, "username": cmp.Or(unique, name), "rootRole": int64(role)}
		err = r.send(ctx, http.MethodPost, body, &made, accountsPath(kind))
		return made.account(false), err
	}
	email, err := CheckEmail(unique)
	if err != nil {
		return Account{}, err
	}
	var made remotePerson
	body := map[string]any{"name": name, "email": email, "rootRole": int64(role)}
	err = r.send(ctx, http.MethodPost, body, &made, accountsPath(kind))
	return made.account(0), err
}

// SetDisabled is Operator.SetDisabled. force must be false.
func (r *Remote) SetDisabled(ctx context.Context, kind user.Kind, id int64, disabled, force bool) (
	a Account, changed bool, err error,
) {
	if err := checkForce(force); err != nil {
		return Account{}, false, err
	}
	a, err = r.Account(ctx, kind, id)
	if err != nil || a.Disabled == disabled {
		return a, false, err
	}
	a.Disabled = disabled
	path := []string{accountsPath(kind), strconv.FormatInt(id, 10)}
	if kind == user.Person {
		path = append(path, "disabled")
	}
	return a, true, r.send(ctx, http.MethodPut, map[string]bool{"disabled": disabled}, nil, path...)
}

// SetRole is Operator.SetRole. force must be false.
func (r *Remote) SetRole(ctx context.Context, kind user.Kind, id int64, role access.Role, force bool) (
	a Account, changed bool, err error,
) {
	if err := checkForce(force); err != nil {
		return Account{}, false, err
	}
	a, err = r.Account(ctx, kind, id)
	if err != nil || a.Role == role {
		return a, false, err
	}
	a.Role = role
	body := map[string]int64{"rootRole": int64(role)}
	return a, true, r.send(ctx, http.MethodPut, body, nil, accountsPath(kind), strconv.FormatInt(id, 10))
}

// DeleteAccount is Operator.DeleteAccount. force must be false.
func (r *Remote) DeleteAccount(ctx context.Context, kind user.Kind, id int64, force bool) error {
	if err := checkForce(force); err != nil {
		return err
	}
	return r.send(ctx, http.MethodDelete, nil, nil, accountsPath(kind), strconv.FormatInt(id, 10))
}

// DemoteWarnings is Operator.DemoteWarnings.
func (r *Remote) DemoteWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	warnings, _, err := r.warnings(ctx, a, force)
	return warnings, err
}

// warnings returns the warnings of DemoteWarnings, and whether people sign in: the API does not show the settings, so
// whether somebody has signed in.
func (r *Remote) warnings(ctx context.Context, a Account, force bool) (all []string, signIn bool, err error) {
	if err := checkForce(force); err != nil || a.Kind != user.Person {
		return nil, false, err
	}
	people, err := r.Accounts(ctx, user.Person)
	if err != nil {
		return nil, false, err
	}
	signIn = slices.ContainsFunc(people, func(p Account) bool { return p.Identity != nil })
	if a.Role == access.RoleAdmin && !a.Disabled {
		all, err = demoteWarnings(a, people, force)
	}
	return all, signIn, err
}

// DisableWarnings is Operator.DisableWarnings, in an installation where somebody has signed in.
func (r *Remote) DisableWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	all, signIn, err := r.warnings(ctx, a, force)
	return append(all, disableWarnings(a, signIn)...), err
}

// DeleteWarnings is Operator.DeleteWarnings, in an installation where somebody has signed in.
func (r *Remote) DeleteWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	all, signIn, err := r.warnings(ctx, a, force)
	return append(all, deleteWarnings(a, signIn)...), err
}
