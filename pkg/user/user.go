// Package user is the people and service accounts: who owns personal access tokens and which root role they have.
//
// The one concept: an account's item holds the map of its tokens' descriptions, there from the start, so that the uniqueness of a
// description, the limit of tokens and the account's kind are one condition of the transaction that creates a token (pkg/pat).
package user

import (
	"errors"
	"strings"

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

// What a store refuses.
var (
	ErrNotFound    = errors.New("no such user")
	ErrEmailExists = errors.New("there is a person with that e-mail address")
	ErrNameExists  = errors.New("there is a service account with that name")
	errNoIDsLeft   = errors.New("all ids of users are used up")
)

// clashes says why u cannot stand beside other: people differ in their addresses, service accounts in their names, letter case aside.
func (u User) clashes(other User) error {
	switch {
	case u.Kind != other.Kind:
	case u.Kind == Person && u.Email != "" && strings.EqualFold(u.Email, other.Email):
		return ErrEmailExists
	case u.Kind == ServiceAccount && strings.EqualFold(u.Name, other.Name):
		return ErrNameExists
	}
	return nil
}

// Next says which id u gets beside all others: the one after the last that was given, or that is in use; or why it cannot be added.
func (u User) Next(last int64, all []User) (int64, error) {
	for _, other := range all {
		if err := u.clashes(other); err != nil {
			return 0, err
		}
		last = max(last, other.ID)
	}
	if last >= auth.MaxID {
		return 0, errNoIDsLeft
	}
	return last + 1, nil
}
