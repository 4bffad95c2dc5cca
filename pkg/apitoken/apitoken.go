// Package apitoken is the API tokens: credentials of the whole instance, which identify no user and have the ADMIN permission.
package apitoken

import (
	"errors"
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
