// Package user is the people and service accounts: who owns personal access tokens and which root role they have.
//
// The one concept: an account's item holds the map of its tokens' descriptions, there from the start, so that the uniqueness of a
// description, the limit of tokens and the account's kind are one condition of the transaction that creates a token (pkg/pat).
package user

import (
	"errors"

	"toggleadmin/pkg/auth"
)

// Kind tells people from service accounts.
type Kind string

// The kinds of account.
const (
	Person         Kind = "user"
	ServiceAccount Kind = "service-account"
)

// User is an account.
type User struct {
	ID       int64 // 1 to auth.MaxID
	Kind     Kind
	Name     string
	Email    string // of a person; empty: none
	Role     auth.Role
	Disabled bool             // its tokens are refused
	PATs     map[string]int64 // a token's description, as pat.DescriptionKey spells it → the token's id
}

// ErrNotFound says that there is no such account.
var ErrNotFound = errors.New("no such user")
