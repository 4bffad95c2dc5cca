package operator

import (
	"context"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// Tokens returns the tokens in the order of tokenlist. If owner is not 0, it returns only the owner's PATs.
func (o *Operator) Tokens(ctx context.Context, owner int64) ([]tokenlist.Token, error) {
	if owner != 0 {
		if _, err := o.users.Get(ctx, owner); apierror.KindOf(err) == apierror.NotFound {
			return nil, noAccount(owner)
		} else if err != nil {
			return nil, err
		}
	}
	stores := tokenlist.Stores{Users: o.users, APITokens: o.apiTokens, PATs: o.pats}
	tokens, err := stores.List(ctx, o.now())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tokens, func(t tokenlist.Token) bool {
		return owner != 0 && (t.UserID == nil || *t.UserID != owner)
	}), nil
}

// CreateToken creates an API token, or, if owner is not 0, a personal access token of an account, within the limits of
// the API. expires may be nil for an API token, which then never expires.
func (o *Operator) CreateToken(
	ctx context.Context, owner int64, name string, expires *time.Time,
) (tokenlist.Token, access.Token, error) {
	name, err := CheckText("name", name)
	if err != nil {
		return tokenlist.Token{}, access.Token{}, err
	}
	now := datetime.Milliseconds(o.now())
	if expires, err = o.checkExpiry(expires, now); err != nil {
		return tokenlist.Token{}, access.Token{}, err
	}
	if owner != 0 {
		return o.createPAT(ctx, pat.PAT{UserID: owner, Description: name, CreatedAt: now, ExpiresAt: *expires})
	}
	t := apitoken.APIToken{Name: name, ExpiresAt: expires, CreatedAt: now}
	token, err := o.apiTokens.Create(ctx, t, o.random)
	t.Selector = token.Selector
	return tokenlist.NewAPIToken(t, o.now()), token, err
}

// checkExpiry returns the expiry of a token that is created now, as it is stored. nil stands for never.
func (o *Operator) checkExpiry(expires *time.Time, now time.Time) (*time.Time, error) {
	if expires != nil {
		expires = new(datetime.Milliseconds(*expires))
	}
	if expires != nil && !o.now().Before(*expires) {
		return nil, exitstatus.Errorf(exitstatus.Usage,
			"the token would already be expired: %s is in the past", datetime.Format(*expires))
	}
	latest, limited := access.LatestExpiry(now, o.installation.MaxTokenDays)
	if limited && (expires == nil || expires.After(latest)) {
		return nil, exitstatus.Errorf(exitstatus.Usage,
			"a token of %s must expire within %d days (MaxTokenDays): use a shorter --expires-in or an earlier --expires-at",
			o.installation.Name, o.installation.MaxTokenDays)
	}
	return expires, nil
}

func (o *Operator) createPAT(ctx context.Context, p pat.PAT) (tokenlist.Token, access.Token, error) {
	owner, err := o.users.Get(ctx, p.UserID)
	if apierror.KindOf(err) == apierror.NotFound {
		err = noAccount(p.UserID)
	}
	if err != nil {
		return tokenlist.Token{}, access.Token{}, err
	}
	stored, token, err := o.pats.Create(ctx, p, pat.Owner{Kind: owner.Kind, Limit: o.tokenLimit})
	return tokenlist.NewPAT(stored, &owner, o.now()), token, exitstatus.Explain(err)
}

// FindToken returns the token with an id of Tokens.
func (o *Operator) FindToken(ctx context.Context, id string) (tokenlist.Token, error) {
	all, err := o.Tokens(ctx, 0)
	if err != nil {
		return tokenlist.Token{}, err
	}
	return findToken(all, id)
}

// findToken returns the token with an id.
func findToken(all []tokenlist.Token, id string) (tokenlist.Token, error) {
	i := slices.IndexFunc(all, func(t tokenlist.Token) bool { return t.ID == id })
	if i < 0 {
		return tokenlist.Token{}, exitstatus.Errorf(exitstatus.NotFound,
			"there is no token with the id %q: list the tokens with `toggleadmin tokens list`", id)
	}
	return all[i], nil
}

// TokenID returns the id of a token in plain text. It does not check the secret.
func TokenID(text string) (string, error) {
	token, err := access.ParseToken(text)
	if err != nil {
		return "", exitstatus.Errorf(exitstatus.Usage, "the input is not a token of this service")
	}
	if _, id, ok := token.Selector.PATIDs(); ok && token.Kind == access.PAT {
		return strconv.FormatInt(id, 10), nil
	}
	return token.Selector.String(), nil
}

// Revoke deletes a token that Tokens or CreateToken returned.
func (o *Operator) Revoke(ctx context.Context, t tokenlist.Token) error {
	if t.Kind == tokenlist.APIToken {
		selector, _ := access.ParseSelector(t.ID)
		return o.apiTokens.Delete(ctx, selector)
	}
	kind := pat.AnyKind
	if t.UserKind != nil { // which determines the type of the event, as in CreateToken
		kind = *t.UserKind
	}
	id, _ := access.ParseID(t.ID)
	err := o.pats.Delete(ctx, kind, *t.UserID, id)
	notFound := apierror.KindOf(err) == apierror.NotFound
	switch {
	case notFound && t.UserKind == nil:
		return exitstatus.Errorf(exitstatus.NotFound,
			"the token %q belongs to the account %d, which does not exist: toggleadmin doctor %s --fix deletes it", t.ID,
			*t.UserID, o.installation.Option)
	case notFound:
		return exitstatus.Errorf(exitstatus.NotFound, "the token %q was already revoked", t.ID)
	}
	return err
}

func noAccount(id int64) error {
	return exitstatus.Errorf(exitstatus.NotFound, "there is no user or service account with the id %d", id)
}
