// Package clienttoken manages the client tokens, with which applications get toggles. pkg/delivery/clienttokentable
// has their form.
//
// A token belongs to one environment. The transactions that create and delete tokens change the number of tokens in the
// references to the environment (package references), so that no token has an environment that does not exist, and an
// environment with tokens cannot be deleted. An item of the table counts all tokens, so that a creation reads none of
// them.
//
// A token is rotated by a second item with another secret, after which the first one is valid for some hours. Either item
// is deleted for itself, and counted. A token never has more than two items.
package clienttoken

import (
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// MaxTokens is the maximum number of client tokens of any installation, and the template's default of MaxClientTokens.
const MaxTokens = 2000

// DefaultEnvironment is the environment of a new token for which none is sent.
const DefaultEnvironment = "development"

// notFound returns the error if a text is not that of a token.
func notFound() error { return apierror.New(apierror.NotFound, "There is no such client token.") }

// eventData is a token in the data of events.
type eventData struct {
	ID          string                `json:"id"`
	TokenName   string                `json:"tokenName"`
	Type        clienttokentable.Type `json:"type"`
	Environment string                `json:"environment"`
	Projects    []string              `json:"projects"`
	ExpiresAt   *string               `json:"expiresAt"`
	ValidUntil  *string               `json:"validUntil,omitempty"` // of a secret that is being replaced
	Imported    bool                  `json:"imported,omitempty"`
}

func newEventData(t clienttokentable.Token) eventData {
	return eventData{
		ID:          t.Selector.String(),
		TokenName:   t.Name,
		Type:        t.Type,
		Environment: t.Environment,
		Projects:    t.ListedProjects(),
		ExpiresAt:   datetime.FormatOptional(t.ExpiresAt),
		ValidUntil:  datetime.FormatOptional(t.ValidUntil),
		Imported:    t.Imported,
	}
}

// newExpiring returns the record that a token has reached a threshold: its expiry is at most the number of days away.
func newExpiring(t clienttokentable.Token, days int64) eventlog.Change {
	return newChange(t, eventlog.TokenExpiring, struct {
		eventData

		Days int64 `json:"days"`
	}{newEventData(t), days}, nil)
}

// newChange returns the record of a change of a token.
func newChange(t clienttokentable.Token, kind eventlog.Type, data, preData any) eventlog.Change {
	c := eventlog.Change{
		Type:        kind,
		Subject:     Subject(t),
		Last:        t.LastEvent,
		Environment: t.Environment,
		Data:        data,
		PreData:     preData,
	}
	if len(t.Projects) == 1 {
		c.Project = t.Projects[0]
	}
	return c
}

// Subject returns the subject of the events about a token. API tokens have events of the same types, and other
// subjects.
func Subject(t clienttokentable.Token) eventlog.Subject {
	return eventlog.Subject("client-token:" + t.Selector.String())
}
