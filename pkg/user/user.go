// Package user manages people and service accounts, which own personal access tokens and have a root role.
//
// An account's item contains the map of its tokens' descriptions. One condition on this item therefore checks the account's kind, its
// limit of tokens and the uniqueness of a description, in the transaction that creates a token (pkg/pat).
package user

import (
	"errors"
	"strings"

	"toggleadmin/pkg/auth"
)

// Kind distinguishes people from service accounts.
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
	Disabled bool             // its tokens are rejected
	PATs     map[string]int64 // a token's pat.DescriptionKey → the token's id
}

// Errors of a Store.
var (
	ErrNotFound    = errors.New("no such user")
	ErrEmailExists = errors.New("there is a person with that e-mail address")
	ErrNameExists  = errors.New("there is a service account with that name")
	errNoIDsLeft   = errors.New("all ids of users are used up")
)

// conflict returns the reason why u cannot exist beside other. Two people must have different e-mail addresses, two service accounts
// different names; letter case is ignored.
func (u User) conflict(other User) error {
	if u.Kind != other.Kind {
		return nil
	}
	if u.Kind == Person && u.Email != "" && strings.EqualFold(u.Email, other.Email) {
		return ErrEmailExists
	}
	if u.Kind == ServiceAccount && strings.EqualFold(u.Name, other.Name) {
		return ErrNameExists
	}
	return nil
}
