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
	"toggleadmin/pkg/outcome"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Token is an API token or a personal access token, without its secret.
type Token struct {
	Kind      string  `json:"kind"`      // api-token or pat
	ID        string  `json:"id"`        // as `tokens revoke` takes it
	Name      string  `json:"name"`      // an API token's name, a PAT's description
	UserID    *int64  `json:"userId"`    // a PAT's owner; null: an API token belongs to nobody
	UserName  *string `json:"userName"`  // the same; null also where the owner is gone
	CreatedAt *string `json:"createdAt"` // null: not known of API tokens
	ExpiresAt *string `json:"expiresAt"` // null: never
	SeenAt    *string `json:"seenAt"`    // null: never used, or an API token
	Expired   bool    `json:"expired"`
}

// The kinds of token.
const (
	KindAPIToken = "api-token"
	KindPAT      = "pat"
)

func (o *Operator) apiToken(t apitoken.APIToken) Token {
	return Token{Kind: KindAPIToken, ID: t.Selector.String(), Name: t.Name, ExpiresAt: datetime.FormatOptional(t.ExpiresAt), Expired: t.Expired(o.now())}
}

func (o *Operator) pat(p pat.PAT, owner *user.User) Token {
	t := Token{
		Kind: KindPAT, ID: strconv.FormatInt(p.ID, 10), Name: p.Description, UserID: &p.UserID,
		CreatedAt: datetime.FormatOptional(&p.CreatedAt), ExpiresAt: datetime.FormatOptional(&p.ExpiresAt), SeenAt: datetime.FormatOptional(p.SeenAt), Expired: p.Expired(o.now()),
	}
	if owner != nil {
		t.UserName = &owner.Name
	}
	return t
}

// Tokens lists the API tokens by name, then the PATs by id; with an owner only that one's PATs.
func (o *Operator) Tokens(ctx context.Context, owner int64) ([]Token, error) {
	accounts, err := o.users.List(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[int64]*user.User{}
	for i := range accounts {
		byID[accounts[i].ID] = &accounts[i]
	}
	all := []Token{}
	if owner != 0 && byID[owner] == nil {
		return nil, noAccount(owner)
	}
	if owner == 0 {
		tokens, err := o.apiTokens.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range tokens {
			all = append(all, o.apiToken(t))
		}
	}
	pats, err := o.pats.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pats {
		if owner == 0 || p.UserID == owner {
			all = append(all, o.pat(p, byID[p.UserID]))
		}
	}
	return all, nil
}

// CreateAPIToken makes an API token. expires nil is never.
func (o *Operator) CreateAPIToken(ctx context.Context, name string, expires *time.Time) (Token, auth.Token, error) {
	name, err := CheckText("name", name)
	if err != nil {
		return Token{}, auth.Token{}, err
	}
	t := apitoken.APIToken{Name: name, ExpiresAt: expires}
	if t.Expired(o.now()) {
		return Token{}, auth.Token{}, inThePast(*expires)
	}
	token, err := o.apiTokens.Create(ctx, t, o.random)
	if err != nil {
		return Token{}, auth.Token{}, err
	}
	t.Selector = token.Selector
	return o.apiToken(t), token, nil
}

// CreatePAT makes a personal access token of a person or service account, within the limits that the API keeps too.
func (o *Operator) CreatePAT(ctx context.Context, owner int64, description string, expires time.Time) (Token, auth.Token, error) {
	description, err := CheckText("name", description)
	if err != nil {
		return Token{}, auth.Token{}, err
	}
	p := pat.PAT{UserID: owner, Description: description, CreatedAt: datetime.Milliseconds(o.now()), ExpiresAt: expires}
	if p.Expired(p.CreatedAt) {
		return Token{}, auth.Token{}, inThePast(expires)
	}
	account, err := o.users.Get(ctx, owner)
	switch {
	case errors.Is(err, user.ErrNotFound):
		return Token{}, auth.Token{}, noAccount(owner)
	case err != nil:
		return Token{}, auth.Token{}, err
	}
	limit := pat.MostPerOwner
	if account.Kind == user.ServiceAccount {
		limit = o.tokenLimit
	}
	p, token, err := o.pats.Create(ctx, p, pat.Owner{Kind: account.Kind, Limit: limit})
	switch {
	case errors.Is(err, pat.ErrNoOwner): // deleted since
		return Token{}, auth.Token{}, noAccount(owner)
	case errors.Is(err, pat.ErrTooMany):
		return Token{}, auth.Token{}, outcome.New(outcome.Refused, "%s (%d) has %d tokens, the most that it may have: revoke one first",
			account.Name, owner, len(account.PATs))
	case errors.Is(err, pat.ErrDescriptionExists):
		return Token{}, auth.Token{}, outcome.New(outcome.Refused, "%s (%d) has a token %q already: choose another name, or revoke that one",
			account.Name, owner, description)
	case err != nil:
		return Token{}, auth.Token{}, err
	}
	return o.pat(p, &account), token, nil
}

// FindToken finds the token with that id, as Tokens gives it.
func (o *Operator) FindToken(ctx context.Context, id string) (Token, error) {
	all, err := o.Tokens(ctx, 0)
	if err != nil {
		return Token{}, err
	}
	i := slices.IndexFunc(all, func(t Token) bool { return t.ID == id })
	if i < 0 {
		return Token{}, outcome.New(outcome.NotFound, "there is no token with the id %q: `toggleadmin tokens list` lists them", id)
	}
	return all[i], nil
}

// FindSecret finds the token that a text in plain is, whether or not its secret is right: it is for one that has come into wrong hands.
func (o *Operator) FindSecret(ctx context.Context, text string) (Token, error) {
	token, err := auth.ParseToken(text)
	if err != nil {
		return Token{}, outcome.New(outcome.Usage, "what was given is no token of this service")
	}
	if _, id, ok := token.Selector.PATIDs(); ok && token.Kind == auth.PAT {
		return o.FindToken(ctx, strconv.FormatInt(id, 10))
	}
	return o.FindToken(ctx, token.Selector.String())
}

// Revoke deletes a token: the next request with it is refused, unless the authorizer's cache is on. A PAT's place in its owner's limit and
// its description are free again.
func (o *Operator) Revoke(ctx context.Context, t Token) error {
	if t.Kind == KindAPIToken {
		selector, _ := auth.ParseSelector(t.ID) // it came from a list
		return o.apiTokens.Delete(ctx, selector)
	}
	id, _ := auth.ParseID(t.ID) // the same
	err := o.pats.Delete(ctx, *t.UserID, id)
	if errors.Is(err, pat.ErrNotFound) { // another revocation was quicker
		return outcome.New(outcome.NotFound, "there is no token with the id %q any more", t.ID)
	}
	return err
}

func noAccount(id int64) error {
	return outcome.New(outcome.NotFound, "there is no user or service account with the id %d", id)
}

func inThePast(t time.Time) error {
	return outcome.New(outcome.Usage, "the token would have expired already: %s is in the past", datetime.Format(t))
}
