// Package apitoken manages API tokens: credentials of the whole instance that have the ADMIN permission and identify no
// user.
package apitoken

import (
	"io"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// APIToken is an API token without its secret.
type APIToken struct {
	Selector  access.Selector // the key of its item
	Name      string
	Verifier  access.Verifier
	ExpiresAt *time.Time // nil: never
	CreatedAt time.Time
	SeenAt    *time.Time // when it last authenticated a request, accurate to a minute; nil: never
	LastEvent int64      // the id of its last event
}

// eventData is a token in the data of events.
type eventData struct {
	ID          string  `json:"id"`
	UserID      *int64  `json:"userId"` // null
	Description string  `json:"description"`
	ExpiresAt   *string `json:"expiresAt"`
}

func (t APIToken) eventData() any {
	return eventData{ID: t.Selector.String(), Description: t.Name, ExpiresAt: datetime.FormatOptional(t.ExpiresAt)}
}

func (t APIToken) change(kind eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type: kind, Subject: t.Subject(), Last: t.LastEvent, Data: data, PreData: preData,
	}
}

// Subject returns the subject of the events about the token.
func (t APIToken) Subject() eventlog.Subject {
	return eventlog.Subject("api-token:" + t.Selector.String())
}

// Expired reports whether the token is no longer valid at now.
func (t APIToken) Expired(now time.Time) bool {
	return t.ExpiresAt != nil && !now.Before(*t.ExpiresAt)
}

// New returns t with a random selector and secret, and the token in plain text. It ignores t.Selector and t.Verifier.
func New(t APIToken, random io.Reader) (APIToken, access.Token, error) {
	selector, err := access.NewSelector(random)
	if err != nil {
		return APIToken{}, access.Token{}, err
	}
	token, err := access.NewToken(access.APIToken, selector, random)
	if err != nil {
		return APIToken{}, access.Token{}, err
	}
	t.Selector, t.Verifier = selector, token.Verifier()
	return t, token, nil
}
