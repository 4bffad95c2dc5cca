package eventlog

import (
	"encoding/json"
	"time"
)

// Type is the type of an event. Names are those of Unleash where it has the event.
type Type string

// The types of events.
const (
	InstallationInitialized    Type = "installation-initialized"
	FeatureTypeCreated         Type = "feature-type-created"
	FeatureTypeUpdated         Type = "feature-type-updated"
	FeaturePotentiallyStaleOn  Type = "feature-potentially-stale-on"
	FeaturePotentiallyStaleOff Type = "feature-potentially-stale-off"
	FeatureCreated             Type = "feature-created"
	FeatureUpdated             Type = "feature-updated"
	FeatureArchived            Type = "feature-archived"
	FeatureRevived             Type = "feature-revived"
	FeatureDeleted             Type = "feature-deleted"
	FeatureStaleOn             Type = "feature-stale-on"
	FeatureStaleOff            Type = "feature-stale-off"
	ContextFieldCreated        Type = "context-field-created"
	ContextFieldUpdated        Type = "context-field-updated"
	ContextFieldDeleted        Type = "context-field-deleted"
	ServiceAccountCreated      Type = "service-account-created"
	ServiceAccountUpdated      Type = "service-account-updated"
	ServiceAccountDeleted      Type = "service-account-deleted"
	ServiceAccountTokenCreated Type = "service-account-token-created"
	ServiceAccountTokenDeleted Type = "service-account-token-deleted"
	PATCreated                 Type = "pat-created"
	PATDeleted                 Type = "pat-deleted"
	APITokenCreated            Type = "api-token-created"
	APITokenDeleted            Type = "api-token-deleted"
	UserCreated                Type = "user-created"
	UserUpdated                Type = "user-updated"
	UserDeleted                Type = "user-deleted"
	UserNameRemoved            Type = "user-name-removed"
	TokenExpiring              Type = "token-expiring" //nolint:gosec // not a credential
)

// labels contains every type, with its text for people.
var labels = map[Type]string{
	InstallationInitialized:    "Installation initialized",
	FeatureTypeCreated:         "Toggle type created",
	FeatureTypeUpdated:         "Toggle type updated",
	FeaturePotentiallyStaleOn:  "Toggle became potentially stale",
	FeaturePotentiallyStaleOff: "Toggle is no longer potentially stale",
	FeatureCreated:             "Toggle created",
	FeatureUpdated:             "Toggle updated",
	FeatureArchived:            "Toggle archived",
	FeatureRevived:             "Toggle revived",
	FeatureDeleted:             "Toggle deleted",
	FeatureStaleOn:             "Toggle marked as stale",
	FeatureStaleOff:            "Toggle no longer marked as stale",
	ContextFieldCreated:        "Context field created",
	ContextFieldUpdated:        "Context field updated",
	ContextFieldDeleted:        "Context field deleted",
	ServiceAccountCreated:      "Service account created",
	ServiceAccountUpdated:      "Service account updated",
	ServiceAccountDeleted:      "Service account deleted",
	ServiceAccountTokenCreated: "Service account token created",
	ServiceAccountTokenDeleted: "Service account token deleted",
	PATCreated:                 "Token created",
	PATDeleted:                 "Token deleted",
	APITokenCreated:            "API token created",
	APITokenDeleted:            "API token deleted",
	UserCreated:                "User created",
	UserUpdated:                "User updated",
	UserDeleted:                "User deleted",
	UserNameRemoved:            "Name of a user removed",
	TokenExpiring:              "Token is about to expire",
}

// Label returns the text of the type for people, such as "Token created", or "" for an unknown type.
func (t Type) Label() string { return labels[t] }

// Subject is what an event is about: a kind and an id, such as toggle:checkout. It keeps its id when it is renamed.
type Subject string

// Event is an event as it is stored. Its id contains its time.
type Event struct {
	ID          int64
	Type        Type
	Subject     Subject
	By          Actor
	RequestID   string          // of the API request; "": the change was not made by one
	Project     string          // "": none
	FeatureName string          // "": none
	Data        json.RawMessage // an object, or nil
	PreData     json.RawMessage // an object, or nil
}

// CreatedAt returns the time in the event's id, in UTC, truncated to milliseconds.
func (e Event) CreatedAt() time.Time { return TimeOf(e.ID) }
