// Package oidc verifies JSON Web Tokens (JWTs) of OpenID Connect issuers (contract section 3): of the one at which people
// sign in, and of those of pipelines. It does not read users.
//
// The package go-jose verifies signatures. This package checks everything else: the exact form of the token, header
// parameters, issuer, audience, azp, all times with one leeway, and the subject. It also fetches the keys, with a limit for
// unknown key IDs.
package oidc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"

	"toggleadmin/pkg/platform/issuerurl"
)

// Config contains the settings of an Issuer.
type Config struct {
	// the variable OIDC_ISSUER: an https URL, spelled as in the tokens; "" together with ClientID: no issuer
	Issuer   string
	ClientID string // the variable OIDC_CLIENT_ID: the audience of the tokens
	// the variable OIDC_GROUPS_CLAIM: the claim with the groups of a person, a list of texts or one text; "": none
	GroupsClaim string
	Loopback    bool // accept http:// for loopback addresses; only make run sets it
	Now         func() time.Time
	Logger      *slog.Logger
	// the maximum time of one fetch; fetching the keys includes the metadata; 0: two seconds
	FetchTimeout time.Duration

	Transport http.RoundTripper // nil: a new one with the system's certificates
}

// Issuer verifies the tokens of one issuer. The first token causes a fetch of the issuer's keys. It is safe for
// concurrent use.
type Issuer struct {
	config   Config
	client   *http.Client
	metadata source[Metadata]
	keys     source[*keySet]
}

// New checks the configuration; its error names the environment variables. It fetches nothing. Without an issuer and a
// client ID, the Issuer rejects every token and fetches nothing.
func New(c Config) (*Issuer, error) {
	var problems []error
	if (c.Issuer == "") != (c.ClientID == "") {
		problems = append(problems,
			errors.New("the environment variables OIDC_ISSUER and OIDC_CLIENT_ID must both be set, or both be empty"))
	}
	if c.Issuer != "" {
		if err := issuerurl.Check(c.Issuer, c.Loopback); err != nil {
			problems = append(problems, fmt.Errorf("the environment variable OIDC_ISSUER is %q: %w", c.Issuer, err))
		}
	}
	if strings.TrimSpace(c.ClientID) != c.ClientID {
		problems = append(problems,
			fmt.Errorf("the environment variable OIDC_CLIENT_ID is %q: it must not begin or end with a space", c.ClientID))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return newIssuer(c), nil
}

func newIssuer(c Config) *Issuer {
	i := &Issuer{config: c, client: newClient(c)}
	timeout := cmp.Or(c.FetchTimeout, fetchTimeout)
	i.metadata = source[Metadata]{name: "metadata", fetch: i.fetchMetadata, timeout: timeout, now: c.Now, logger: c.Logger}
	i.keys = source[*keySet]{name: "keys", fetch: i.fetchKeys, timeout: timeout, now: c.Now, logger: c.Logger}
	return i
}

// URL returns the URL of the issuer, or "" if none is configured.
func (i *Issuer) URL() string { return i.config.Issuer }

// Claims are the claims of a verified token about its owner.
type Claims struct {
	Issuer        string
	Subject       string
	Email         string // or ""
	EmailVerified bool
	Name          string    // the claim name, or preferred_username, or ""
	Groups        []string  // the values of Config.GroupsClaim
	IssuedAt      time.Time // or, without the claim iat, now
}

// SubjectHash returns the SHA-256 of the subject in hexadecimal, for log lines.
func (c Claims) SubjectHash() string {
	sum := sha256.Sum256([]byte(c.Subject))
	return hex.EncodeToString(sum[:])
}

// Verify returns the claims of a token that the issuer has signed for the client ID and that is valid now. Otherwise
// its error is a *RejectedError. It may wait for the keys of the issuer, at most two seconds.
func (i *Issuer) Verify(ctx context.Context, t Token) (Claims, error) {
	if i.config.Issuer == "" {
		return Claims{}, &RejectedError{NotConfigured}
	}
	if utf8.RuneCountInString(t.Text("sub")) > maxCharacters {
		return Claims{}, &RejectedError{Subject}
	}
	if err := i.verify(ctx, t, i.config.ClientID, 0); err != nil {
		return Claims{}, err
	}
	return i.claimsOf(t), nil
}

// verify returns nil if the issuer has signed a token for an audience, and the token is valid now. Otherwise its error is
// a *RejectedError. Only a token that can be valid causes a fetch.
func (i *Issuer) verify(ctx context.Context, t Token, audience string, longest time.Duration) error {
	if reason := i.checkClaims(t, audience, longest); reason != "" {
		return &RejectedError{reason}
	}
	known, err := i.keys.get(ctx, func(*keySet) bool { return true })
	reason := t.checkSignature(known)
	if reason != "" { // the issuer may have a new key, even under the ID of an old one
		var latest *keySet
		if latest, err = i.keys.get(ctx, func(s *keySet) bool { return s != known }); latest != known {
			reason = t.checkSignature(latest)
		}
	}
	if reason == UnknownKey && err != nil {
		reason = Unreachable
	}
	if reason != "" {
		return &RejectedError{reason}
	}
	return nil
}

// checkSignature returns why a token does not verify with the keys, or "".
func (t Token) checkSignature(known *keySet) Reason {
	keys := known.matching(t.header)
	if len(keys) == 0 {
		return UnknownKey
	}
	signed, err := jose.ParseSignedCompact(t.text, algorithms)
	if err != nil {
		return Signature // everything else has been checked
	}
	for _, public := range keys {
		if _, err := signed.Verify(public); err == nil {
			return ""
		}
	}
	return Signature
}
