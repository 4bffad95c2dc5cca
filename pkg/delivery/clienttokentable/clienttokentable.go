// Package clienttokentable is the form of client tokens in the table ClientTokens, and reading the table. With a client
// token, an application gets toggles. pkg/api/clienttoken creates, changes and deletes the tokens.
package clienttokentable

import (
	"crypto/subtle"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "ClientTokens"

// Hash is the table's partition key: the selector of a token, or another key, which contains a #.
const Hash = "selector"

// The attributes that are written alone.
const (
	AttributeExpiresAt     = "expiresAt"
	AttributeSeenAt        = "seenAt"
	AttributeAnnouncedDays = "announcedDays"
	AttributeValidUntil    = "validUntil"
	AttributeOther         = "other"
)

// Type is what a token may be used for.
type Type string

// The types.
const (
	Backend  Type = "backend"  // for servers, which download toggles and evaluate them
	Frontend Type = "frontend" // for browsers and apps, for which the service evaluates
)

// Token is a client token without its secret. A token whose secret is being replaced has two items, one for each secret,
// which have the same name, type, projects, environment and expiry.
type Token struct {
	Selector    access.Selector // the key of its item
	Name        string
	Type        Type
	Projects    []string // whose toggles it may read; empty: those of all projects
	Environment string
	ExpiresAt   *time.Time // nil: never
	CreatedAt   time.Time
	SeenAt      *time.Time // when it was last used, accurate to an hour; nil: never
	Verifier    access.Verifier
	Imported    bool       // the secret is one of another installation
	ValidUntil  *time.Time // when the secret ends, because Other replaces it; nil: it is not replaced
	// Other is the item of the secret that replaces this one, or that this one replaces. It may be deleted. Zero: none.
	Other access.Selector
	// AnnouncedDays is the lowest threshold at which its current expiry was recorded; 0: none.
	AnnouncedDays int64
	LastEvent     int64 // the id of its last event
}

// Expired reports whether the token, or this secret of it, is no longer valid at now.
func (t Token) Expired(now time.Time) bool {
	return hasPassed(t.ExpiresAt, now) || hasPassed(t.ValidUntil, now)
}

// hasPassed reports whether a time has passed at now; nil: it never does.
func hasPassed(t *time.Time, now time.Time) bool { return t != nil && !now.Before(*t) }

// Includes reports whether the token may read the toggles of a project.
func (t Token) Includes(project string) bool {
	return len(t.Projects) == 0 || slices.Contains(t.Projects, project)
}

// prefix is what the text of the token has before its body: the scope and the environment.
func (t Token) prefix() string {
	scope := severalProjects
	switch len(t.Projects) {
	case 0:
		scope = AllProjects
	case 1:
		scope = t.Projects[0]
	}
	return prefix(scope, t.Environment)
}

// Verifies reports whether a text is that of the token: the prefix, which an imported one does not have, the selector and
// the secret. The time it takes does not depend on where they differ. The zero Token verifies no text.
func (t Token) Verifies(s Secret) bool {
	samePrefix := subtle.ConstantTimeCompare([]byte(t.prefix()), []byte(prefix(s.Scope, s.Environment))) == 1
	sameSecret := s.Verifier().Equal(t.Verifier[:])
	return (samePrefix || t.Imported) && sameSecret && t.Selector == s.Selector && t.Imported == s.Imported
}

// Listed returns the text of the token without its random part. That of an imported token is masked.
func (t Token) Listed() string {
	if t.Imported {
		return t.prefix() + "****"
	}
	return t.prefix() + access.Version + t.Selector.String()
}

// ID returns the text that identifies the token in paths and commands: the result of Listed, or the selector of an
// imported token.
func (t Token) ID() string {
	if t.Imported {
		return t.Selector.String()
	}
	return t.Listed()
}

// OldBackend is Unleash's older name of the type Backend. Lists have it, because some clients do not know the new one.
const OldBackend = "client"

// ListedType returns the name of the type in lists of tokens.
func (t Token) ListedType() string {
	if t.Type == Backend {
		return OldBackend
	}
	return string(t.Type)
}

// ListedProjects returns the projects in the form of the API, in which AllProjects stands for all of them.
func (t Token) ListedProjects() []string {
	if len(t.Projects) == 0 {
		return []string{AllProjects}
	}
	return t.Projects
}

// New returns t with a random selector and secret, and the text of the token. It ignores t.Selector, t.Verifier and
// t.Imported.
func New(t Token, random io.Reader) (Token, Secret, error) {
	selector, err := access.NewSelector(random)
	if err != nil {
		return Token{}, Secret{}, err
	}
	body, err := access.NewBody(selector, random)
	if err != nil {
		return Token{}, Secret{}, err
	}
	t.Selector, t.Verifier, t.Imported = selector, body.Verifier(), false
	scope, _, _ := strings.Cut(t.prefix(), ":")
	return t, Secret{Scope: scope, Environment: t.Environment, Body: body}, nil
}

// Import returns t with an imported secret.
func Import(t Token, s Secret) Token {
	t.Selector, t.Verifier, t.Imported = s.Selector, s.Verifier(), true
	return t
}

// itemKey is the key of an item.
type itemKey struct {
	Selector string `dynamodbav:"selector"`
}

// record is the item of a token.
type record struct {
	itemKey
	Name        string     `dynamodbav:"name"`
	Type        Type       `dynamodbav:"type"`
	Projects    []string   `dynamodbav:"projects,omitempty"`
	Environment string     `dynamodbav:"environment"`
	ExpiresAt   *time.Time `dynamodbav:"expiresAt,omitempty"`
	CreatedAt   time.Time  `dynamodbav:"createdAt"`
	SeenAt      *time.Time `dynamodbav:"seenAt,omitempty"`
	Verifier    []byte     `dynamodbav:"verifier"`
	Imported    bool       `dynamodbav:"imported,omitempty"`
	ValidUntil  *time.Time `dynamodbav:"validUntil,omitempty"`
	Other       string     `dynamodbav:"other,omitempty"` // a selector

	AnnouncedDays int64 `dynamodbav:"announcedDays,omitempty"`
	LastEvent     int64 `dynamodbav:"event,omitempty"`
}

// Key returns the key of a token.
func Key(s access.Selector) dynamo.Item { return dynamo.Marshal(itemKey{s.String()}) }

// IsToken reports whether an item of the table is that of a token.
func IsToken(item dynamo.Item) bool { return !strings.Contains(item.String(Hash), "#") }

// Marshal returns the item of a token.
func Marshal(t Token) dynamo.Item {
	var other string
	if t.Other != (access.Selector{}) {
		other = t.Other.String()
	}
	return dynamo.Marshal(record{
		itemKey:     itemKey{t.Selector.String()},
		Name:        t.Name,
		Type:        t.Type,
		Projects:    t.Projects,
		Environment: t.Environment,
		ExpiresAt:   t.ExpiresAt,
		CreatedAt:   t.CreatedAt,
		SeenAt:      t.SeenAt,
		Verifier:    t.Verifier[:],
		Imported:    t.Imported,
		ValidUntil:  t.ValidUntil,
		Other:       other,

		AnnouncedDays: t.AnnouncedDays,
		LastEvent:     t.LastEvent,
	})
}

// Unmarshal reads a token from its item.
func Unmarshal(item dynamo.Item) (Token, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Token{}, err
	}
	selector, ok := access.ParseSelector(stored.Selector)
	if !ok {
		return Token{}, fmt.Errorf("the key %q of a client token is not a selector", stored.Selector)
	}
	t := Token{
		Selector:    selector,
		Name:        stored.Name,
		Type:        stored.Type,
		Projects:    stored.Projects,
		Environment: stored.Environment,
		ExpiresAt:   stored.ExpiresAt,
		CreatedAt:   stored.CreatedAt,
		SeenAt:      stored.SeenAt,
		Imported:    stored.Imported,
		ValidUntil:  stored.ValidUntil,

		AnnouncedDays: stored.AnnouncedDays,
		LastEvent:     stored.LastEvent,
	}
	copy(t.Verifier[:], stored.Verifier)
	if stored.Other != "" {
		if t.Other, ok = access.ParseSelector(stored.Other); !ok {
			return Token{}, fmt.Errorf("the client token %s names %q, which is not a selector", stored.Selector, stored.Other)
		}
	}
	return t, nil
}
