package operator

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// Tokens is Operator.Tokens.
func (r *Remote) Tokens(ctx context.Context, owner int64) ([]tokenlist.Token, error) {
	query := url.Values{}
	if owner != 0 {
		query.Set("userId", strconv.FormatInt(owner, 10))
	}
	var list struct {
		Tokens []tokenlist.Token `json:"tokens"`
	}
	if err := r.get(ctx, query, &list, "tokens"); err != nil || owner == 0 || len(list.Tokens) > 0 {
		return list.Tokens, err
	}
	var accounts struct { // of which one has no tokens
		Users           []user.Response `json:"users"`
		ServiceAccounts []user.Response `json:"serviceAccounts"`
	}
	for _, path := range []string{"user-admin", "service-account"} {
		if err := r.get(ctx, nil, &accounts, path); err != nil {
			return nil, err
		}
	}
	for _, a := range slices.Concat(accounts.Users, accounts.ServiceAccounts) {
		if a.ID == owner {
			return list.Tokens, nil
		}
	}
	return nil, noAccount(owner)
}

// ownAccount returns the account of the token of the API. The error for an API token, which has none, is Denied.
func (r *Remote) ownAccount(ctx context.Context) (user.User, error) {
	own, err := r.api.Caller(ctx)
	return user.User{ID: own.ID, Name: own.Name, Kind: own.Kind(), Role: access.Role(own.RootRole)}, apiclient.Explain(err)
}

// tokensOf returns the path of the tokens of an account: those of the caller, or of a service account.
func (r *Remote) tokensOf(ctx context.Context, owner int64) (path []string, own user.User, err error) {
	own, err = r.ownAccount(ctx)
	switch {
	case err != nil && exitstatus.Of(err) != exitstatus.Denied:
		return nil, own, err
	case err == nil && own.ID == owner:
		return []string{"user", "tokens"}, own, nil
	}
	return []string{"service-account", strconv.FormatInt(owner, 10), "token"}, user.User{}, nil
}

// errAPIToken is the error of a command that creates or revokes an API token.
var errAPIToken = exitstatus.Errorf(exitstatus.Usage,
	"the API has no API tokens, only personal access tokens (--user): use --stack NAME or --local, not --url")

// CreateToken creates a personal access token of a service account, or of the account of the token of the API.
func (r *Remote) CreateToken(
	ctx context.Context, owner int64, name string, expires *time.Time,
) (tokenlist.Token, access.Token, error) {
	if owner == 0 {
		return tokenlist.Token{}, access.Token{}, errAPIToken
	}
	name, err := CheckText("name", name)
	if err != nil {
		return tokenlist.Token{}, access.Token{}, err
	}
	path, own, err := r.tokensOf(ctx, owner)
	if err != nil {
		return tokenlist.Token{}, access.Token{}, err
	}
	var made struct {
		pat.Response

		Secret string `json:"secret"`
	}
	body := map[string]string{"description": name, "expiresAt": datetime.Format(*expires)}
	if err := r.send(ctx, http.MethodPost, body, &made, path...); err != nil {
		return tokenlist.Token{}, access.Token{}, err
	}
	token, err := access.ParseToken(made.Secret)
	if err != nil {
		return tokenlist.Token{}, access.Token{}, exitstatus.Errorf(exitstatus.Failure,
			"the API does not respond as this service does: %v", err)
	}
	if own.ID == 0 {
		created, err := r.FindToken(ctx, strconv.FormatInt(made.ID, 10))
		return created, token, err
	}
	created, err := datetime.Parse(made.CreatedAt)
	if err != nil {
		created = r.now()
	}
	stored := pat.PAT{ID: made.ID, UserID: owner, Description: made.Description, CreatedAt: created, ExpiresAt: *expires}
	return tokenlist.NewPAT(stored, &own, r.now()), token, nil
}

// FindToken is Operator.FindToken.
func (r *Remote) FindToken(ctx context.Context, id string) (tokenlist.Token, error) {
	all, err := r.Tokens(ctx, 0)
	if err != nil {
		return tokenlist.Token{}, err
	}
	return findToken(all, id)
}

// Revoke deletes a personal access token of a service account, or of the account of the token of the API.
func (r *Remote) Revoke(ctx context.Context, t tokenlist.Token) error {
	if t.UserID == nil {
		return errAPIToken
	}
	path, own, err := r.tokensOf(ctx, *t.UserID)
	if err != nil {
		return err
	}
	if own.ID == 0 && (t.UserKind == nil || *t.UserKind != user.ServiceAccount) {
		return exitstatus.Errorf(exitstatus.Usage, "the API has no tokens of other people: use --stack NAME or --local, not --url")
	}
	return r.send(ctx, http.MethodDelete, nil, nil, append(path, t.ID)...)
}
