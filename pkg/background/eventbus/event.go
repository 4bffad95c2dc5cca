// Package eventbus sends the events of the log (package eventlog) to the bus. Each event is a CloudEvents 1.0 JSON
// object.
//
// An event is sent at least once, with the same id each time, because the id is computed from the event's id in the
// log.
package eventbus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
)

// Prefix is the first part of the type of every event.
const Prefix = "toggleadmin."

// Event is an event in the CloudEvents JSON format.
type Event struct {
	SpecVersion string `json:"specversion"`
	ID          string `json:"id"`     // a UUID
	Source      string `json:"source"` // the name of the stack, or "local"
	Type        string `json:"type"`   // Prefix and the type in the log
	Time        string `json:"time"`   // of the change
	Subject     string `json:"subject"`
	// Sequence is the id of the event in the log, a decimal number that rises per subject. It always has 16 digits, so
	// that it sorts as text, as the CloudEvents extension "sequence" requires.
	Sequence        string `json:"sequence"`
	DataContentType string `json:"datacontenttype"`
	Data            any    `json:"data"`
}

// namespace makes the ids different from all other version 5 UUIDs.
var namespace = uuid.MustParse("8f0f3ad1-6c4d-4b7e-9d0b-6b1f4ae6b1c7")

// New returns an event of the log as it is sent. Two events of a source with different ids in the log have different
// ids. It returns an error if the data of the event are malformed.
func New(source string, e eventlog.Event) (Event, error) {
	_, subject, _ := strings.Cut(string(e.Subject), ":")
	data, err := dataOf(e)
	if err == nil {
		_, err = jsonbody.Encode(data)
	}
	if err != nil {
		return Event{}, fmt.Errorf("convert event %d: %w", e.ID, err)
	}
	return Event{
		SpecVersion: "1.0", ID: uuid.NewSHA1(namespace, fmt.Appendf(nil, "%q %d", source, e.ID)).String(), Source: source,
		Type: Prefix + string(e.Type), Time: datetime.Format(e.CreatedAt()), Subject: subject,
		Sequence: strconv.FormatInt(e.ID, 10), DataContentType: "application/json", Data: data,
	}, nil
}

// Encode returns the JSON of an event. It does not escape <, > and &, because each escape has six bytes.
func (e Event) Encode() []byte {
	text, err := jsonbody.Encode(e)
	if err != nil { // New has checked the data
		panic(err)
	}
	return text
}

// own are the types whose data have a form of their own. They are what a webhook receives by default.
var own = map[eventlog.Type]func(eventlog.Event) (any, error){
	eventlog.FeaturePotentiallyStaleOn:  withoutCause,
	eventlog.FeaturePotentiallyStaleOff: withoutCause,
	eventlog.FeatureTypeUpdated:         lifetimeChange,
	eventlog.TokenExpiring:              func(e eventlog.Event) (any, error) { return e.Data, nil },
}

// DefaultTypes returns the types that a webhook receives by default, ordered by name, without Prefix.
func DefaultTypes() []eventlog.Type { return slices.Sorted(maps.Keys(own)) }

func dataOf(e eventlog.Event) (any, error) {
	if form, ok := own[e.Type]; ok {
		return form(e)
	}
	r := eventsearch.NewResponse(e)
	return struct {
		CreatedBy        string          `json:"createdBy"`
		CreatedByUserID  *int64          `json:"createdByUserId"`
		CreatedByTokenID *string         `json:"createdByTokenId"`
		Project          *string         `json:"project"`
		FeatureName      *string         `json:"featureName"`
		Environment      *string         `json:"environment"`
		Data             json.RawMessage `json:"data"`
		PreData          json.RawMessage `json:"preData"`
		eventsearch.PermittedBy
		ChangeRequest int64  `json:"changeRequestId,omitempty"`
		Reason        string `json:"reason,omitempty"`
	}{r.CreatedBy, r.CreatedByUserID, r.CreatedByTokenID, r.Project, r.FeatureName, r.Environment,
		r.Data, r.PreData, r.PermittedBy, r.ChangeRequest, r.Reason}, nil
}

// Feature is the data of an event about a toggle that became potentially stale, or no longer is.
type Feature struct {
	FeatureName  string `json:"featureName"`
	Project      string `json:"project"`
	FeatureType  string `json:"featureType"`
	LifetimeDays *int64 `json:"lifetimeDays"` // of the type; null: its toggles are never potentially stale
	CreatedAt    string `json:"createdAt"`    // of the toggle
	Reason       string `json:"reason,omitempty"`
}

// withoutCause returns the data of a flip. The id of the event that caused it is only in the log.
func withoutCause(e eventlog.Event) (any, error) {
	var data Feature
	err := json.Unmarshal(e.Data, &data)
	return data, err
}

// FeatureType is the data of an event about a lifetime.
type FeatureType struct {
	ID                   string  `json:"id"`
	LifetimeDays         *int64  `json:"lifetimeDays"`
	PreviousLifetimeDays *int64  `json:"previousLifetimeDays"`
	ChangedBy            Changer `json:"changedBy"`
}

// Changer is who made a change.
type Changer struct {
	Type string `json:"type"` // user, api-token or operator
	ID   any    `json:"id"`   // a number for a user, text for the others
}

func lifetimeChange(e eventlog.Event) (any, error) {
	var after, before FeatureType
	if err := json.Unmarshal(e.Data, &after); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(e.PreData, &before); err != nil {
		return nil, err
	}
	after.PreviousLifetimeDays, after.ChangedBy = before.LifetimeDays, changer(e.By)
	return after, nil
}

func changer(a eventlog.Actor) Changer {
	if a.UserID != 0 {
		return Changer{"user", a.UserID}
	}
	if a.TokenID != "" {
		return Changer{"api-token", a.TokenID}
	}
	return Changer{"operator", a.Name}
}
