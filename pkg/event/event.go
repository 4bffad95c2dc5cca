// Package event defines the events that the service sends to its bus. Each event is a CloudEvents 1.0 JSON object.
//
// An event is sent at least once. It has the same id each time, because the id is computed from what the event says and is not stored.
package event

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"toggleadmin/pkg/datetime"
)

// Type is the type of an event.
type Type string

// The types, with the type of their data.
const (
	FeaturePotentiallyStaleOn  Type = "toggleadmin.feature-potentially-stale-on"  // Feature
	FeaturePotentiallyStaleOff Type = "toggleadmin.feature-potentially-stale-off" // Feature with a reason
	FeatureTypeUpdated         Type = "toggleadmin.feature-type-updated"          // FeatureType
	//nolint:gosec // this is no credential
	TokenExpiring Type = "toggleadmin.token-expiring" // Token
)

// Event is an event in the CloudEvents JSON format.
type Event struct {
	SpecVersion string `json:"specversion"`
	ID          string `json:"id"`     // a UUID
	Source      string `json:"source"` // the name of the stack, or "local"
	Type        Type   `json:"type"`
	Time        string `json:"time"`    // of the change
	Subject     string `json:"subject"` // name of the toggle, id of the type or of the token
	// Sequence is a decimal number that rises per subject. It is text with a fixed number of digits, so that it sorts as text as the
	// CloudEvents extension "sequence" requires. A JSON number of CloudEvents has at most 32 bits.
	Sequence        string `json:"sequence"`
	DataContentType string `json:"datacontenttype"`
	Data            any    `json:"data"`
}

// namespace makes the ids different from all other version 5 UUIDs.
var namespace = uuid.MustParse("8f0f3ad1-6c4d-4b7e-9d0b-6b1f4ae6b1c7")

// New returns an event. Two events of a source that differ in type, subject or sequence have different ids. sequence has 13 digits, as the
// Unix time in milliseconds has.
func New(source string, kind Type, subject string, sequence int64, at time.Time, data any) Event {
	id := uuid.NewSHA1(namespace, fmt.Appendf(nil, "%q %q %q %d", source, kind, subject, sequence))
	return Event{
		SpecVersion: "1.0", ID: id.String(), Source: source, Type: kind, Time: datetime.Format(at), Subject: subject,
		Sequence: strconv.FormatInt(sequence, 10), DataContentType: "application/json", Data: data,
	}
}

// Reason is why the flag of a toggle was cleared.
type Reason string

// The reasons.
const (
	LifetimeChanged Reason = "lifetime-changed"
	Archived        Reason = "archived"
	MarkedStale     Reason = "marked-stale"
	TypeChanged     Reason = "type-changed"
	Deleted         Reason = "deleted"
)

// Feature is the data of an event about a toggle.
type Feature struct {
	FeatureName  string `json:"featureName"`
	Project      string `json:"project"`
	FeatureType  string `json:"featureType"`
	LifetimeDays *int64 `json:"lifetimeDays"` // of the type; null: its toggles are never potentially stale
	CreatedAt    string `json:"createdAt"`    // of the toggle
	Reason       Reason `json:"reason,omitempty"`
}

// FeatureType is the data of an event about a feature type.
type FeatureType struct {
	ID                   string  `json:"id"`
	LifetimeDays         *int64  `json:"lifetimeDays"`
	PreviousLifetimeDays *int64  `json:"previousLifetimeDays"`
	ChangedBy            Changer `json:"changedBy"`
}

// Changer is who made a change.
type Changer struct {
	Type string `json:"type"` // user or api-token
	ID   any    `json:"id"`   // a number for a user, text for an API token
}

// Token is the data of an event about a personal access token. It contains no secret.
type Token struct {
	ID          int64  `json:"id"`
	UserID      int64  `json:"userId"`
	Description string `json:"description"`
	ExpiresAt   string `json:"expiresAt"`
	Days        int64  `json:"days"` // the threshold that was reached: 14, 7 or 1
}

// MaxBatch is the maximum number of events that Publish accepts: the maximum number of entries of a PutEvents request.
const MaxBatch = 10

// Publisher sends events to the bus. It is safe for concurrent use.
type Publisher interface {
	// Publish makes one attempt to send at most MaxBatch events. It returns an error for each event, in the same order: nil means that the
	// bus has stored the event. After an error it is unknown whether the bus has stored it. The caller sends it again.
	Publish(ctx context.Context, events []Event) []error
}
