// Package contextfield is the context fields that strategy constraints can use, and their listing (4.4).
//
// The one concept: how often a field is used is kept on the field itself, by whoever writes toggles (pkg/feature), so that the listing
// reads this table alone.
package contextfield

import (
	"context"
	"time"
)

// ContextField is a field of the context that a toggle is evaluated in.
type ContextField struct {
	Name        string
	Description string // empty: none
	Stickiness  bool
	SortOrder   int64
	CreatedAt   *time.Time // nil: unknown
	LegalValues []LegalValue
	Usage       map[string]int64 // project → number of its features, not archived, with a constraint on the field
}

// LegalValue is a value that the field permits.
type LegalValue struct {
	Value       string
	Description string // empty: none
}

// Lister reads all fields, ordered by sort order, then name by code points.
type Lister interface {
	List(ctx context.Context) ([]ContextField, error)
}

// UsedInFeatures is the number of features that use the field.
func (f ContextField) UsedInFeatures() (n int64) {
	for _, features := range f.Usage {
		n += features
	}
	return n
}

// UsedInProjects is the number of projects that have such a feature.
func (f ContextField) UsedInProjects() (n int64) {
	for _, features := range f.Usage {
		if features > 0 {
			n++
		}
	}
	return n
}

// Defaults are the fields of a new instance.
func Defaults(now time.Time) []ContextField {
	return []ContextField{
		{Name: "environment", Description: "Constrain on the environment that the application runs in.", SortOrder: 0, CreatedAt: &now},
		{Name: "userId", Description: "Constrain on the user's id.", SortOrder: 1, CreatedAt: &now},
		{Name: "appName", Description: "Constrain on the application's name.", SortOrder: 2, CreatedAt: &now},
		{Name: "currentTime", Description: "Constrain on the date and time of the evaluation.", SortOrder: 3, CreatedAt: &now},
		{Name: "sessionId", Description: "Constrain on the user's session.", SortOrder: 4, CreatedAt: &now, Stickiness: true},
	}
}
