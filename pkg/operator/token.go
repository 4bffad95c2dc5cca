package operator

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/exitstatus"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Token is an API token or a personal access token, without its secret.
type Token struct {
	Kind      string  `json:"kind"`
	ID        string  `json:"id"`
	Name      string  `json:"name"`      // a PAT's description
	UserID    *int64  `json:"userId"`    // null: an API token
	UserName  *string `json:"userName"`  // null: an API token, or the owner does not exist
	CreatedAt *string `json:"createdAt"` // null: an API token
	ExpiresAt *string `json:"expiresAt"` // null: never
	SeenAt    *string `json:"seenAt"`    // null: never used, or an API token
	Expired   bool    `json:"expired"`
}

// The kinds of token.
const (
	KindAPIToken = "api-token"
	KindPAT      = "pat"
)

func (o *Operator) newAPIToken(t apitoken.APIToken) Token {
	return Token{Kind: KindAPIToken, ID: t.Selector.String(), Name: t.Name, ExpiresAt: datetime.FormatOptional(t.ExpiresAt), Expired: t.Expired(o.now())}
}

func (o *Operator) newPAT(p pat.PAT, owner *string) Token {
	return Token{
		Kind: KindPAT, ID: strconv.FormatInt(p.ID, 10), Name: p.Description, UserID: &p.UserID, UserName: owner,
		CreatedAt: datetime.FormatOptional(&p.CreatedAt), ExpiresAt: datetime.FormatOptional(&p.ExpiresAt),
		SeenAt: datetime.FormatOptional(p.SeenAt), Expired: p.Expired(o.now()),
	}
}

// Tokens returns the API tokens, ordered by name, and then the PATs, ordered by id. If owner is not 0, it returns only the owner's PATs.
func (o *Operator) Tokens(ctx context.Context, owner int64) ([]Token, error) {
	accounts, err := o.users.List(ctx)
	if err != nil {
		return nil, err
	}
	names := map[int64]*string{}
	for _, a := range accounts {
		names[a.ID] = &a.Name
	}
	tokens := []Token{}
	if owner == 0 {
		all, err := o.apiTokens.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			tokens = append(tokens, o.newAPIToken(t))
		}
	} else if names[owner] == nil {
		return nil, noAccount(owner)
	}
	pats, err := o.pats.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pats {
		if owner == 0 || p.UserID == owner {
			tokens = append(tokens, o.newPAT(p, names[p.UserID]))
		}
	}
	return tokens, nil
}

// CreateAPIToken creates an API token. If expires is nil, it never expires.
func (o *Operator) CreateAPIToken(ctx context.Context, name string, expires *time.Time) (Token, auth.Token, error) {
	name, err := CheckText("name", name)
	if err != nil {
		return Token{}, auth.Token{}, err
	}
	t := apitoken.APIToken{Name: name, ExpiresAt: expires}
	if t.Expired(o.now()) {
		return Token{}, auth.Token{}, expired(*expires)
	}
	token, err := o.apiTokens.Create(ctx, t, o.random)
	t.Selector = token.Selector
	return o.newAPIToken(t), token, err
}

// CreatePAT creates a personal access token of an account, within the same limits as the API.
func (o *Operator) CreatePAT(ctx context.Context, owner int64, description string, expires time.Time) (Token, auth.Token, error) {
	description, err := CheckText("name", description)
	if err != nil {
		return Token{}, auth.Token{}, err
	}
	p := pat.PAT{UserID: owner, Description: description, CreatedAt: datetime.Milliseconds(o.now()), ExpiresAt: expires}
	if p.Expired(p.CreatedAt) {
		return Token{}, auth.Token{}, expired(expires)
	}
	account, err := o.users.Get(ctx, owner)
	if errors.Is(err, user.ErrNotFound) {
		err = noAccount(owner)
	}
	if err != nil {
		return Token{}, auth.Token{}, err
	}
	limit := pat.MostPerOwner
	if account.Kind == user.ServiceAccount {
		limit = o.tokenLimit
	}
	p, token, err := o.pats.Create(ctx, p, pat.Owner{Kind: account.Kind, Limit: limit})
	switch {
	case errors.Is(err, pat.ErrNoOwner): // the account was deleted in the meantime
		err = noAccount(owner)
	case errors.Is(err, pat.ErrTooMany):
		err = exitstatus.Errorf(exitstatus.Rejected, "%s (%d) has %d tokens, the maximum is %d: revoke one first",
			account.Name, owner, len(account.PATs), limit)
	case errors.Is(err, pat.ErrDescriptionExists):
		err = exitstatus.Errorf(exitstatus.Rejected, "%s (%d) already has a token %q: choose another name, or revoke that token",
			account.Name, owner, description)
	}
	return o.newPAT(p, &account.Name), token, err
}

// FindToken returns the token with an id of Tokens.
func (o *Operator) FindToken(ctx context.Context, id string) (Token, error) {
	all, err := o.Tokens(ctx, 0)
	if err != nil {
		return Token{}, err
	}
	i := slices.IndexFunc(all, func(t Token) bool { return t.ID == id })
	if i < 0 {
		return Token{}, exitstatus.Errorf(exitstatus.NotFound, "there is no token with the id %q: list the tokens with `toggleadmin tokens list`", id)
	}
	return all[i], nil
}

// FindSecret returns the token that a plain text names, even if its secret is wrong.
func (o *Operator) FindSecret(ctx context.Context, text string) (Token, error) {
	token, err := auth.ParseToken(text)
	if err != nil {
		return Token{}, exitstatus.Errorf(exitstatus.Usage, "the input is not a token of this service")
	}
	if _, id, ok := token.Selector.PATIDs(); ok && token.Kind == auth.PAT {
		return o.FindToken(ctx, strconv.FormatInt(id, 10))
	}
	return o.FindToken(ctx, token.Selector.String())
}

// Revoke deletes a token that Tokens, CreateAPIToken or CreatePAT returned.
func (o *Operator) Revoke(ctx context.Context, t Token) error {
	if t.Kind == KindAPIToken {
		selector, _ := auth.ParseSelector(t.ID)
		return o.apiTokens.Delete(ctx, selector)
	}
	id, _ := auth.ParseID(t.ID)
	err := o.pats.Delete(ctx, *t.UserID, id)
	if errors.Is(err, pat.ErrNotFound) {
		return exitstatus.Errorf(exitstatus.NotFound, "the token %q was already revoked", t.ID)
	}
	return err
}

func noAccount(id int64) error {
	return exitstatus.Errorf(exitstatus.NotFound, "there is no user or service account with the id %d", id)
}

func expired(t time.Time) error {
	return exitstatus.Errorf(exitstatus.Usage, "the token would already be expired: %s is in the past", datetime.Format(t))
}
