// Package user manages people and service accounts, which own personal access tokens and have a root role. A person can
// be linked to an identity of an OpenID Connect issuer.
//
// Items of the table Identifiers reserve what no other account may have: e-mail addresses and usernames. The transaction
// that adds the account writes them. An account's item contains the map of its tokens'
// descriptions. One condition on this item therefore checks the account's kind, its limit of tokens and the uniqueness
// of a description, in the transaction that creates a token (pkg/api/pat).
package user

import (
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
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
	ID       int64 // 1 to access.MaxID
	Kind     Kind
	Name     string
	Username string // of a service account; of a person, optional
	Email    string // of a person; empty: none
	Role     access.Role
	Disabled bool             // its tokens are rejected
	PATs     map[string]int64 // a token's pat.DescriptionKey → the token's id
	Identity *Identity        // of a person; nil: not linked
	Groups   []int64          // ids of its groups, without those by an ID token; some may be deleted

	Claim *Claim // of a person; nil: no ID token has had a value that a group has

	CreatedAt *time.Time // nil: not recorded; every service account has it
	LastEvent int64      // the id of its last event
}

// Identity is a person at an OpenID Connect issuer: the claims iss and sub of a token.
type Identity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// Claim is what the last ID token of a person said about groups: of those that were used, the one that was issued last.
type Claim struct {
	Values []string  // those that were in mappingsSSO of a group
	At     time.Time // when the token was issued, to the second
}

// GroupValues returns the values that make a person a member of groups without an ID token. maxDays is how old what the
// last ID token said may be.
func (u User) GroupValues(now time.Time, maxDays int64) []string {
	if u.Claim == nil || !now.Before(u.Claim.At.AddDate(0, 0, int(maxDays))) {
		return nil
	}
	return u.Claim.Values
}

// anyKind stands for people and service accounts.
const anyKind Kind = ""

// notFound returns the error if there is no account of the kind with the id.
func notFound(kind Kind, id int64) error {
	switch kind {
	case Person:
		return apierror.Errorf(apierror.NotFound, "There is no person with the id %d.", id)
	case ServiceAccount:
		return apierror.Errorf(apierror.NotFound, "There is no service account with the id %d.", id)
	default:
		return apierror.Errorf(apierror.NotFound, "There is no user with the id %d.", id)
	}
}

// identityExists returns the error if another person is linked to an identity.
func identityExists() error {
	return apierror.New(apierror.NameExists, "Another person is linked to this identity.")
}

// ParseEmail returns an e-mail address in lower case, as it is stored. ok is false if the text is not an address of at
// most 255 characters.
func ParseEmail(text string) (email string, ok bool) {
	// In lower case, an address such as \u0131@example.com or \u212a@example.com could equal the address of another
	// mailbox.
	if strings.ContainsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII && min(unicode.ToLower(r), unicode.ToUpper(r)) <= unicode.MaxASCII
	}) {
		return "", false
	}
	email = strings.ToLower(text)
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || strings.TrimSpace(email) != email ||
		utf8.RuneCountInString(email) > maxText {
		return "", false
	}
	return email, true
}

// maxText is the maximum number of characters of a name or an e-mail address.
const maxText = 255
