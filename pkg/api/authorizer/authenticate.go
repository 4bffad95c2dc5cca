package authorizer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/logging"
	"toggleadmin/pkg/platform/oidc"
)

// errInvalid reports a credential that is malformed, unknown, expired or revoked, or whose user is disabled or deleted.
// The response does not contain the reason.
var errInvalid = errors.New("no valid credential")

const (
	seenInterval = time.Minute // the age at which seenAt is written again (contract section 3)
	seenTimeout  = time.Second // bounds the time that a request waits for that write
)

// Authenticator finds the principal of a credential. It is safe for concurrent use.
type Authenticator struct {
	Store       *Store
	Issuer      *oidc.Issuer  // at which people sign in
	Pipelines   *oidc.Issuers // those that trusts of service accounts name
	DefaultRole access.Role   // of unknown people with a token of the issuer; 0: they are rejected
	// for which a PAT keeps the groups of the last ID token of its owner
	GroupsMaxAgeDays int64
	Now              func() time.Time
	Logger           *slog.Logger
}

// Authenticate reads the value of an Authorization header, with or without the scheme Bearer. Its error is errInvalid
// or an error of DynamoDB.
func (a *Authenticator) Authenticate(ctx context.Context, header string) (access.Principal, error) {
	credential := withoutBearer(header)
	if oidc.IsJWT(credential) { // never a PAT
		return a.jwt(ctx, credential)
	}
	token, err := access.ParseToken(credential)
	if err != nil {
		return access.Principal{}, errInvalid
	}
	if token.Kind == access.APIToken {
		return a.apiToken(ctx, token)
	}
	return a.pat(ctx, token)
}

// withoutBearer removes the scheme, in any letter case.
func withoutBearer(header string) string {
	const scheme = "Bearer "
	header = strings.Trim(header, " \t")
	if len(header) > len(scheme) && strings.EqualFold(header[:len(scheme)], scheme) {
		return strings.TrimLeft(header[len(scheme):], " ")
	}
	return header
}

// An unknown credential takes the same path as a wrong secret: it is compared with the zero verifier, which no secret
// has.

func (a *Authenticator) apiToken(ctx context.Context, token access.Token) (access.Principal, error) {
	stored, err := a.Store.apiTokens.Get(ctx, token.Selector)
	known := apierror.KindOf(err) != apierror.NotFound
	if known && err != nil {
		return access.Principal{}, err
	}
	now := a.Now()
	if valid := token.Verifier().Equal(stored.Verifier[:]); !valid || !known || stored.Expired(now) {
		return access.Principal{}, errInvalid
	}
	a.seen(ctx, token, stored.SeenAt, now)
	p := access.APITokenPrincipal(token.Selector)
	p.Name, p.TokenID = "API token "+stored.Name, token.Selector.String()
	return p, nil
}

func (a *Authenticator) pat(ctx context.Context, token access.Token) (access.Principal, error) {
	userID, id, _ := token.Selector.PATIDs() // ParseToken has checked them
	stored, owner, directory, err := a.Store.pats.GetWithDirectory(ctx, userID, id)
	known := apierror.KindOf(err) != apierror.NotFound
	if known && err != nil {
		return access.Principal{}, err
	}
	now := a.Now()
	if valid := token.Verifier().Equal(stored.Verifier[:]); !valid || !known || stored.Expired(now) || owner.Disabled {
		return access.Principal{}, errInvalid
	}
	a.seen(ctx, token, stored.SeenAt, now)
	p := owner.Principal(directory, owner.GroupValues(now, a.GroupsMaxAgeDays))
	p.Name, p.TokenID = owner.RecordedName(), strconv.FormatInt(id, 10)
	return p, nil
}

// seen writes the seenAt of a token if it is due; last is the stored one. A failure is logged and does not fail the
// request.
func (a *Authenticator) seen(ctx context.Context, token access.Token, last *time.Time, now time.Time) {
	before := now.Add(-seenInterval)
	if last != nil && !last.Before(before) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, seenTimeout)
	defer cancel()
	if err := a.Store.Seen(ctx, token, now, before); err != nil {
		name := "API token " + token.Selector.String()
		if _, id, ok := token.Selector.PATIDs(); ok && token.Kind == access.PAT {
			name = fmt.Sprint("PAT ", id)
		}
		a.Logger.WarnContext(ctx, "seenAt is not written", logging.Cause(fmt.Errorf("%s: %w", name, err)))
	}
}
