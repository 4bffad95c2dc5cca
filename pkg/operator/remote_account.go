package operator

import (
	"context"
	"net/http"
	"strconv"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
)

// remotePerson is a person in the list of the API.
type remotePerson struct {
	ID       int64          `json:"id"`
	Name     string         `json:"name"`
	Username string         `json:"username"`
	Email    string         `json:"email"`
	RootRole int64          `json:"rootRole"`
	Disabled bool           `json:"disabled"`
	Identity *user.Identity `json:"identity"`
}

// account returns the person as commands show it.
func (p remotePerson) account(tokens int) Account {
	a := Account{
		ID: p.ID, Kind: user.Person, Name: p.Name, Role: access.Role(p.RootRole), Disabled: p.Disabled, Tokens: tokens,
		Identity: p.Identity,
	}
	if p.Username != "" {
		a.Username = &p.Username
	}
	if p.Email != "" {
		a.Email = &p.Email
	}
	return a
}

// checkPerson returns an error for service accounts: the API does not show whether one is disabled.
func checkPerson(kind user.Kind) error {
	if kind != user.Person {
		return exitstatus.Errorf(exitstatus.Usage, "service accounts are not possible with --url")
	}
	return nil
}

// checkForce returns an error if the last enabled Admin is to lose the role: the API does not permit it.
func checkForce(force bool) error {
	if force {
		return exitstatus.Errorf(exitstatus.Usage,
			"--force is not possible with --url: the API keeps the last enabled person with the role Admin")
	}
	return nil
}

// Accounts is Operator.Accounts for people.
func (r *Remote) Accounts(ctx context.Context, kind user.Kind) ([]Account, error) {
	if err := checkPerson(kind); err != nil {
		return nil, err
	}
	var list struct {
		Users []remotePerson `json:"users"`
	}
	if err := r.get(ctx, nil, &list, "user-admin"); err != nil {
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

// Account is Operator.Account for people.
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

// AddAccount is Operator.AddAccount for people.
func (r *Remote) AddAccount(
	ctx context.Context, kind user.Kind, name, unique string, role access.Role,
) (Account, error) {
	if err := checkPerson(kind); err != nil {
		return Account{}, err
	}
	name, err := CheckText("name", name)
	if err != nil {
		return Account{}, err
	}
	email, err := CheckEmail(unique)
	if err != nil {
		return Account{}, err
	}
	var made remotePerson
	body := map[string]any{"name": name, "email": email, "rootRole": int64(role)}
	err = r.send(ctx, http.MethodPost, body, &made, "user-admin")
	return made.account(0), err
}

// SetDisabled is Operator.SetDisabled for people. force must be false.
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
	body := map[string]bool{"disabled": disabled}
	return a, true, r.send(ctx, http.MethodPut, body, nil, "user-admin", strconv.FormatInt(id, 10), "disabled")
}

// SetRole is Operator.SetRole for people. force must be false.
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
	return a, true, r.send(ctx, http.MethodPut, body, nil, "user-admin", strconv.FormatInt(id, 10))
}

// DeleteAccount is Operator.DeleteAccount for people. force must be false.
func (r *Remote) DeleteAccount(ctx context.Context, kind user.Kind, id int64, force bool) error {
	if err := checkForce(force); err != nil {
		return err
	}
	if err := checkPerson(kind); err != nil {
		return err
	}
	return r.send(ctx, http.MethodDelete, nil, nil, "user-admin", strconv.FormatInt(id, 10))
}

// DemoteWarnings is Operator.DemoteWarnings.
func (r *Remote) DemoteWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	if err := checkForce(force); err != nil {
		return nil, err
	}
	if a.Role != access.RoleAdmin || a.Disabled {
		return nil, nil
	}
	people, err := r.Accounts(ctx, user.Person)
	if err != nil {
		return nil, err
	}
	return demoteWarnings(a, people, force)
}

// DisableWarnings is DemoteWarnings: the API does not say whether unknown people may sign in.
func (r *Remote) DisableWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	return r.DemoteWarnings(ctx, a, force)
}

// DeleteWarnings is DemoteWarnings: the API does not say whether unknown people may sign in.
func (r *Remote) DeleteWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	return r.DemoteWarnings(ctx, a, force)
}
