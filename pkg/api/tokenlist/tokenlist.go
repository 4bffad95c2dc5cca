// Package tokenlist lists API tokens and personal access tokens together, with their owners and risks.
package tokenlist

import (
	"context"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// Token is an API token or a personal access token, without its secret. It is tokenSchema in api/openapi.yaml.
type Token struct {
	Kind     Kind       `json:"kind"`
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

// Kind is the kind of a token.
type Kind string

// The kinds.
const (
	APIToken Kind = "api-token"
	PAT      Kind = "pat"
)

// Unused reports whether the token was neither created nor used since the given time.
func (t Token) Unused(since time.Time) bool {
	last := t.CreatedAt
	if t.SeenAt != nil {
		last = *t.SeenAt
	}
	return last < datetime.Format(since)
}

// NewAPIToken returns an API token as it is at now.
func NewAPIToken(t apitoken.APIToken, now time.Time) Token {
	use := access.TokenUse{Role: access.RoleAdmin, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, SeenAt: t.SeenAt}
	return Token{
		Kind: APIToken, ID: t.Selector.String(), Name: t.Name, Role: &use.Role, Risks: use.Risks(now),
		CreatedAt: datetime.Format(t.CreatedAt), ExpiresAt: datetime.FormatOptional(t.ExpiresAt),
		SeenAt: datetime.FormatOptional(t.SeenAt), Expired: t.Expired(now),
	}
}

// NewPAT returns a personal access token as it is at now. owner is nil if it does not exist.
func NewPAT(p pat.PAT, owner *user.User, now time.Time) Token {
	t := Token{
		Kind: PAT, ID: strconv.FormatInt(p.ID, 10), Name: p.Description, UserID: &p.UserID,
		CreatedAt: datetime.Format(p.CreatedAt), ExpiresAt: datetime.FormatOptional(&p.ExpiresAt),
		SeenAt: datetime.FormatOptional(p.SeenAt), Expired: p.Expired(now),
	}
	use := access.TokenUse{Disabled: true, CreatedAt: p.CreatedAt, ExpiresAt: &p.ExpiresAt, SeenAt: p.SeenAt}
	if owner != nil {
		t.UserName, t.UserKind, t.Role = &owner.Name, &owner.Kind, &owner.Role
		use.Role, use.Disabled = owner.Role, owner.Disabled
	}
	t.Risks = use.Risks(now)
	return t
}

// Stores are where the tokens and their owners are.
type Stores struct {
	Users     *user.Store
	APITokens *apitoken.Store
	PATs      *pat.Store
}

// List returns all tokens as they are at now, with the highest risks first. Those with the same risks are the API
// tokens, ordered by name, and then the PATs, ordered by id.
func (s Stores) List(ctx context.Context, now time.Time) ([]Token, error) {
	accounts, err := s.Users.List(ctx)
	if err != nil {
		return nil, err
	}
	owners := map[int64]*user.User{}
	for _, a := range accounts {
		owners[a.ID] = &a
	}
	apiTokens, err := s.APITokens.List(ctx)
	if err != nil {
		return nil, err
	}
	pats, err := s.PATs.List(ctx)
	if err != nil {
		return nil, err
	}
	tokens := []Token{}
	for _, t := range apiTokens {
		tokens = append(tokens, NewAPIToken(t, now))
	}
	for _, p := range pats {
		tokens = append(tokens, NewPAT(p, owners[p.UserID], now))
	}
	sortByRisks(tokens)
	return tokens, nil
}

// ListOf returns the tokens of an account as they are at now, in the order of List. Without the account, there are none.
func (s Stores) ListOf(ctx context.Context, id int64, now time.Time) ([]Token, error) {
	tokens := []Token{}
	accounts, err := s.Users.Accounts(ctx, []int64{id})
	owner, ok := accounts[id]
	if err != nil || !ok {
		return tokens, err
	}
	pats, err := s.PATs.ListOf(ctx, id)
	for _, p := range pats {
		tokens = append(tokens, NewPAT(p, &owner, now))
	}
	sortByRisks(tokens)
	return tokens, err
}

// sortByRisks sorts tokens from the highest risks. Those with the same risks keep their order.
func sortByRisks(tokens []Token) {
	slices.SortStableFunc(tokens, func(a, b Token) int { return access.CompareRisks(a.Risks, b.Risks) })
}
