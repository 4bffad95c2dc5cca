package operator

import (
	"context"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// Token is an API token or a personal access token, without its secret.
type Token struct {
	Kind     string     `json:"kind"`
	ID       string     `json:"id"`
	Name     string     `json:"name"`     // a PAT's description
	UserID   *int64     `json:"userId"`   // null: an API token
	UserName *string    `json:"userName"` // null: an API token, or the owner does not exist
	UserKind *user.Kind `json:"userKind"` // null like UserName

	Role      *access.Role  `json:"role"` // null: the owner does not exist
	CreatedAt string        `json:"createdAt"`
	ExpiresAt *string       `json:"expiresAt"` // null: never
	SeenAt    *string       `json:"seenAt"`    // null: never used
	Expired   bool          `json:"expired"`
	Risks     []access.Risk `json:"risks"` // from the highest
}

// The kinds of token.
const (
	KindAPIToken = "api-token"
	KindPAT      = "pat"
)

// Unused reports whether the token was neither created nor used since the given time.
func (t Token) Unused(since time.Time) bool {
	last := t.CreatedAt
	if t.SeenAt != nil {
		last = *t.SeenAt
	}
	return last < datetime.Format(since)
}

func (o *Operator) newAPIToken(t apitoken.APIToken) Token {
	use := access.TokenUse{Role: access.RoleAdmin, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, SeenAt: t.SeenAt}
	return Token{
		Kind: KindAPIToken, ID: t.Selector.String(), Name: t.Name, Role: &use.Role, Risks: use.Risks(o.now()),
		CreatedAt: datetime.Format(t.CreatedAt), ExpiresAt: datetime.FormatOptional(t.ExpiresAt),
		SeenAt: datetime.FormatOptional(t.SeenAt), Expired: t.Expired(o.now()),
	}
}

// newPAT returns a personal access token. owner is nil if it does not exist.
func (o *Operator) newPAT(p pat.PAT, owner *user.User) Token {
	t := Token{
		Kind: KindPAT, ID: strconv.FormatInt(p.ID, 10), Name: p.Description, UserID: &p.UserID,
		CreatedAt: datetime.Format(p.CreatedAt), ExpiresAt: datetime.FormatOptional(&p.ExpiresAt),
		SeenAt: datetime.FormatOptional(p.SeenAt), Expired: p.Expired(o.now()),
	}
	use := access.TokenUse{Disabled: true, CreatedAt: p.CreatedAt, ExpiresAt: &p.ExpiresAt, SeenAt: p.SeenAt}
	if owner != nil {
		t.UserName, t.UserKind, t.Role = &owner.Name, &owner.Kind, &owner.Role
		use.Role, use.Disabled = owner.Role, owner.Disabled
	}
	t.Risks = use.Risks(o.now())
	return t
}

// Tokens returns the tokens with the highest risks first. Those with the same risks are the API tokens, ordered by name,
// and then the PATs, ordered by id. If owner is not 0, it returns only the owner's PATs.
func (o *Operator) Tokens(ctx context.Context, owner int64) ([]Token, error) {
	accounts, err := o.users.List(ctx)
	if err != nil {
		return nil, err
	}
	owners := map[int64]*user.User{}
	for _, a := range accounts {
		owners[a.ID] = &a
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
	} else if owners[owner] == nil {
		return nil, noAccount(owner)
	}
	pats, err := o.pats.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pats {
		if owner == 0 || p.UserID == owner {
			tokens = append(tokens, o.newPAT(p, owners[p.UserID]))
		}
	}
	slices.SortStableFunc(tokens, func(a, b Token) int { return access.CompareRisks(a.Risks, b.Risks) })
	return tokens, nil
}

// CreateToken creates an API token, or, if owner is not 0, a personal access token of an account, within the limits of
// the API. expires may be nil for an API token, which then never expires.
func (o *Operator) CreateToken(ctx context.Context, owner int64, name string, expires *time.Time) (Token, access.Token,
	error) {
	name, err := CheckText("name", name)
	if err != nil {
		return Token{}, access.Token{}, err
	}
	now := datetime.Milliseconds(o.now())
	if expires, err = o.checkExpiry(expires, now); err != nil {
		return Token{}, access.Token{}, err
	}
	if owner != 0 {
		return o.createPAT(ctx, pat.PAT{UserID: owner, Description: name, CreatedAt: now, ExpiresAt: *expires})
	}
	t := apitoken.APIToken{Name: name, ExpiresAt: expires, CreatedAt: now}
	token, err := o.apiTokens.Create(ctx, t, o.random)
	t.Selector = token.Selector
	return o.newAPIToken(t), token, err
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

func (o *Operator) createPAT(ctx context.Context, p pat.PAT) (Token, access.Token, error) {
	owner, err := o.users.Get(ctx, p.UserID)
	if apierror.KindOf(err) == apierror.NotFound {
		err = noAccount(p.UserID)
	}
	if err != nil {
		return Token{}, access.Token{}, err
	}
	stored, token, err := o.pats.Create(ctx, p, pat.Owner{Kind: owner.Kind, Limit: o.tokenLimit})
	return o.newPAT(stored, &owner), token, exitstatus.Explain(err)
}

// FindToken returns the token with an id of Tokens.
func (o *Operator) FindToken(ctx context.Context, id string) (Token, error) {
	all, err := o.Tokens(ctx, 0)
	if err != nil {
		return Token{}, err
	}
	i := slices.IndexFunc(all, func(t Token) bool { return t.ID == id })
	if i < 0 {
		return Token{}, exitstatus.Errorf(exitstatus.NotFound,
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
func (o *Operator) Revoke(ctx context.Context, t Token) error {
	if t.Kind == KindAPIToken {
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
