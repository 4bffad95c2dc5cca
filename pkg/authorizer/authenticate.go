package authorizer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// errInvalid says that a credential is malformed, unknown, expired or revoked, or its user disabled or deleted. The caller is never
// told which.
var errInvalid = errors.New("no valid credential")

const (
	seenEvery = time.Minute // how old seenAt becomes before it is written again (contract, section 3)
	seenTime  = time.Second // how long the request waits for that write at the most
)

// Tokens reads what is stored of credentials, consistently.
type Tokens interface {
	// APIToken gives an API token, or apitoken.ErrNotFound.
	APIToken(ctx context.Context, selector auth.Selector) (apitoken.APIToken, error)
	// PAT gives a PAT and its owner in one read, or pat.ErrNotFound, or user.ErrNotFound.
	PAT(ctx context.Context, userID, id int64) (pat.PAT, user.User, error)
	// Seen sets a PAT's seenAt to now where there is none or it is earlier than before, and the PAT is not gone.
	Seen(ctx context.Context, userID, id int64, now, before time.Time) error
}

// Authenticator finds the principal of a credential. It is safe for concurrent use.
type Authenticator struct {
	Tokens Tokens
	Now    func() time.Time
	Logger *slog.Logger
}

// Authenticate reads the value of an Authorization header, with or without the scheme Bearer. It gives errInvalid, or the error of a
// fault below.
func (a *Authenticator) Authenticate(ctx context.Context, header string) (auth.Principal, error) {
	credential := withoutBearer(header)
	token, err := auth.ParseToken(credential)
	if err != nil {
		return auth.Principal{}, errInvalid // a JWT would be looked at here
	}
	switch token.Kind {
	case auth.APIToken:
		return a.apiToken(ctx, token)
	case auth.PAT:
		return a.pat(ctx, token)
	}
	return auth.Principal{}, errInvalid
}

// withoutBearer takes the scheme off, in any letter case.
func withoutBearer(header string) string {
	const scheme = "Bearer "
	header = strings.Trim(header, " \t")
	if len(header) > len(scheme) && strings.EqualFold(header[:len(scheme)], scheme) {
		return strings.TrimLeft(header[len(scheme):], " ")
	}
	return header
}

func (a *Authenticator) apiToken(ctx context.Context, token auth.Token) (auth.Principal, error) {
	stored, err := a.Tokens.APIToken(ctx, token.Selector)
	known := !errors.Is(err, apitoken.ErrNotFound)
	if known && err != nil {
		return auth.Principal{}, err
	}
	// One that is unknown is compared, too: with the verifier of no secret.
	if valid := token.Verifier().Equal(stored.Verifier[:]); !valid || !known || stored.Expired(a.Now()) {
		return auth.Principal{}, errInvalid
	}
	return auth.APITokenPrincipal(token.Selector), nil
}

func (a *Authenticator) pat(ctx context.Context, token auth.Token) (auth.Principal, error) {
	userID, id, _ := token.Selector.PATIDs() // ParseToken has checked them
	stored, owner, err := a.Tokens.PAT(ctx, userID, id)
	known := !errors.Is(err, pat.ErrNotFound) && !errors.Is(err, user.ErrNotFound)
	if known && err != nil {
		return auth.Principal{}, err
	}
	now := a.Now()
	if valid := token.Verifier().Equal(stored.Verifier[:]); !valid || !known || stored.Expired(now) || owner.Disabled {
		return auth.Principal{}, errInvalid
	}
	a.seen(ctx, stored, now)
	return auth.UserPrincipal(userID, owner.Role), nil
}

// seen writes seenAt where it is due; that it cannot never fails the request.
func (a *Authenticator) seen(ctx context.Context, p pat.PAT, now time.Time) {
	before := now.Add(-seenEvery)
	if p.SeenAt != nil && !p.SeenAt.Before(before) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, seenTime)
	defer cancel()
	if err := a.Tokens.Seen(ctx, p.UserID, p.ID, now, before); err != nil {
		a.Logger.WarnContext(ctx, "seenAt is not written", slog.String("cause", fmt.Sprintf("PAT %d: %v", p.ID, err)))
	}
}
