// Package apitoken is the API tokens: credentials of the whole instance, which identify no user and have the ADMIN permission.
package apitoken

import (
	"errors"
	"fmt"
	"io"
	"time"

	"toggleadmin/pkg/auth"
)

// APIToken is an API token, without its secret.
type APIToken struct {
	Selector  auth.Selector // where it is stored
	Name      string
	Verifier  auth.Verifier
	ExpiresAt *time.Time // nil: never
}

// Expired says whether the token has ceased to be valid at now.
func (t APIToken) Expired(now time.Time) bool {
	return t.ExpiresAt != nil && !now.Before(*t.ExpiresAt)
}

// ErrNotFound says that there is no such token.
var ErrNotFound = errors.New("no such API token")

// New makes a token with a random selector and secret: what is stored of it, and its plain text. t.Selector and t.Verifier are not read.
// A selector does not begin with a hyphen, so that no command line takes it for an option.
func New(t APIToken, random io.Reader) (APIToken, auth.Token, error) {
	for t.Selector = (auth.Selector{}); t.Selector == (auth.Selector{}) || t.Selector.String()[0] == '-'; {
		if _, err := io.ReadFull(random, t.Selector[:]); err != nil {
			return APIToken{}, auth.Token{}, fmt.Errorf("make a selector: %w", err)
		}
	}
	token, err := auth.NewToken(auth.APIToken, t.Selector, random)
	if err != nil {
		return APIToken{}, auth.Token{}, err
	}
	t.Verifier = token.Verifier()
	return t, token, nil
}
