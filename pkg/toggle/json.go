package toggle

import "time"

// FeatureJSON is the JSON form of a toggle in the data of events, in the export document, and in the output of
// toggleadmin. The responses of the API have another one, which is Unleash's.
type FeatureJSON struct {
	Name           string   `json:"name"`
	Project        string   `json:"project"`
	Type           string   `json:"type"`
	Description    *string  `json:"description"`
	ImpressionData bool     `json:"impressionData"`
	CreatedAt      *string  `json:"createdAt"`           // RFC 3339; nil in a document: unknown
	CreatedBy      *string  `json:"createdBy,omitempty"` // a name in another system; nil: unknown
	Archived       bool     `json:"archived"`
	ArchivedAt     *string  `json:"archivedAt"` // RFC 3339; nil: it is not archived, or the time is unknown
	Stale          bool     `json:"stale"`
	ContextFields  []string `json:"contextFields"`

	ManagedBy string `json:"managedBy,omitempty"` // the URL of its source; empty: none

	Owner        *Owner                 `json:"owner,omitempty"`     // in events without the name of a person or a group
	KeepUntil    string                 `json:"keepUntil,omitempty"` // a date; empty: it is not kept
	KeepReason   string                 `json:"keepReason,omitempty"`
	Links        []Link                 `json:"links,omitempty"`
	Tags         []Tag                  `json:"tags,omitempty"`
	Environments map[string]Environment `json:"environments,omitempty"` // by name
	Dependency   *Dependency            `json:"dependency,omitempty"`
}

// JSON returns the JSON form of the toggle.
func (f Feature) JSON() FeatureJSON {
	form := FeatureJSON{
		Name:           f.Name,
		Project:        f.Project,
		Type:           f.Type,
		Description:    f.Description,
		ImpressionData: f.ImpressionData,
		CreatedAt:      new(formatTime(f.CreatedAt)),
		Archived:       f.Archived,
		Stale:          f.Stale,
		ContextFields:  append([]string{}, f.ContextFields...), // an empty list is not null
		ManagedBy:      f.ManagedBy,
		Owner:          f.Owner,
		Links:          f.Links,
		Tags:           f.Tags,
		Environments:   f.Environments,
		Dependency:     f.Dependency,
	}
	if f.CreatedBy != nil && f.CreatedBy.ID == 0 {
		form.CreatedBy = &f.CreatedBy.Name
	}
	if f.Keep != nil {
		form.KeepUntil, form.KeepReason = f.Keep.Day(), f.Keep.Reason
	}
	if f.ArchivedAt != nil {
		form.ArchivedAt = new(formatTime(*f.ArchivedAt))
	}
	return form
}

// FlagChange is the data of the events feature-potentially-stale-on and -off.
type FlagChange struct {
	FeatureName  string      `json:"featureName"`
	Project      string      `json:"project"`
	FeatureType  string      `json:"featureType"`
	LifetimeDays *int64      `json:"lifetimeDays"` // of the type; null: its toggles are never potentially stale
	CreatedAt    string      `json:"createdAt"`    // of the toggle
	Reason       ClearReason `json:"reason,omitempty"`
	CausedBy     *int64      `json:"causedBy,omitempty"` // the id of the event of the lifetime that caused it
}

// FlagChange returns the data of an event about the toggle. The reason is empty if the flag was set. causedBy is the id
// of the event of the lifetime that caused the change, or nil.
func (f Feature) FlagChange(lifetimeDays *int64, reason ClearReason, causedBy *int64) FlagChange {
	return FlagChange{
		FeatureName:  f.Name,
		Project:      f.Project,
		FeatureType:  f.Type,
		LifetimeDays: lifetimeDays,
		CreatedAt:    formatTime(f.CreatedAt),
		Reason:       reason,
		CausedBy:     causedBy,
	}
}

// formatTime returns a time in UTC, truncated to milliseconds, as all of the API's times.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
