// Package oidc verifies JSON Web Tokens (JWTs) of one OpenID Connect issuer (contract section 3). It does not read
// users: the result is the claims of the token.
//
// The package go-oidc verifies signature, issuer, audience and expiry. Before that, this package checks what go-oidc
// does not: the exact form of the token, header parameters, azp, all times with one leeway, and the subject. It also
// fetches the keys, because go-oidc fetches them for every unknown key ID, without a limit.
package oidc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"toggleadmin/pkg/platform/loopback"
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
		if err := CheckIssuer(c.Issuer, c.Loopback); err != nil {
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
	i := &Issuer{config: c, client: newClient(c)}
	i.metadata = source[Metadata]{name: "metadata", fetch: i.fetchMetadata, now: c.Now, logger: c.Logger}
	i.keys = source[*keySet]{name: "keys", fetch: i.fetchKeys, now: c.Now, logger: c.Logger}
	return i, nil
}

// CheckIssuer checks that a text can be the URL of an issuer. Only a loopback address may have http, and only if
// allowLoopback is true.
func CheckIssuer(text string, allowLoopback bool) error {
	err := checkURL(text, allowLoopback)
	if err == nil && (len(text) > maxCharacters || strings.ContainsAny(text, "?# ")) {
		err = errors.New("it must have at most 255 characters, and neither query, fragment nor space")
	}
	return err
}

// checkURL checks that a text is an https URL without user name and password. Only a loopback address may have http,
// and only if allowLoopback is true.
func checkURL(text string, allowLoopback bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("it is not a URL")
	case u.Scheme == "http" && allowLoopback && loopback.IsHost(u.Hostname()):
	case u.Scheme == "http" && allowLoopback:
		return errors.New("it must begin with https://; only a loopback address can have http://")
	case u.Scheme != "https":
		return errors.New("it must begin with https://")
	}
	if !hostPattern.MatchString(u.Host) || u.User != nil {
		return errors.New("it must have a host name, and neither user name nor password")
	}
	return nil
}

// hostPattern is stricter than net/url: a host is safe in a Content-Security-Policy.
var hostPattern = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// Claims are the claims of a verified token about its owner.
type Claims struct {
	Issuer        string
	Subject       string
	Email         string // or ""
	EmailVerified bool
	Name          string   // the claim name, or preferred_username, or ""
	Groups        []string // the values of Config.GroupsClaim
}

// SubjectHash returns the SHA-256 of the subject in hexadecimal, for log lines.
func (c Claims) SubjectHash() string {
	sum := sha256.Sum256([]byte(c.Subject))
	return hex.EncodeToString(sum[:])
}

// Verify returns the claims of a token that the issuer has signed for the client ID and that is valid now. Otherwise
// its error is a *RejectedError. It may wait for the keys of the issuer, at most two seconds.
func (i *Issuer) Verify(ctx context.Context, token string) (Claims, error) {
	header, claims, err := i.check(token)
	if err != nil {
		return Claims{}, err
	}
	known, err := i.keys.get(ctx, func(*keySet) bool { return true })
	reason := i.checkSignature(ctx, token, header, known)
	if reason != "" { // the issuer may have a new key, even under the ID of an old one
		var latest *keySet
		if latest, err = i.keys.get(ctx, func(s *keySet) bool { return s != known }); latest != known {
			reason = i.checkSignature(ctx, token, header, latest)
		}
	}
	if reason == UnknownKey && err != nil {
		reason = Unreachable
	}
	if reason != "" {
		return Claims{}, &RejectedError{reason}
	}
	return claims, nil
}

// checkSignature returns why a token does not verify with the keys, or "".
func (i *Issuer) checkSignature(ctx context.Context, token string, h header, known *keySet) Reason {
	keys := known.matching(h)
	if len(keys) == 0 {
		return UnknownKey
	}
	verifier := oidc.NewVerifier(i.config.Issuer, &oidc.StaticKeySet{PublicKeys: keys}, &oidc.Config{
		ClientID: i.config.ClientID, SupportedSigningAlgs: algorithms,
		Now: func() time.Time { return i.config.Now().Add(-leeway) },
	})
	if _, err := verifier.Verify(ctx, token); err != nil {
		return Signature // everything else has been checked
	}
	return ""
}
