// Package contextfield manages the context fields that strategy constraints can use, and lists them (contract section 4.4).
//
// Each field's item also counts the features that use it. pkg/feature maintains these counts, so the list reads only this table.
package contextfield

import "time"

// ContextField is a field of the context in which features are evaluated.
type ContextField struct {
	Name        string
	Description string // empty: none
	Stickiness  bool
	SortOrder   int64
	CreatedAt   *time.Time // nil: unknown
	LegalValues []LegalValue
	Usage       map[string]int64 // project → number of its active features with a constraint on the field
}

// LegalValue is a value that the field permits.
type LegalValue struct {
	Value       string
	Description string // empty: none
}

// UsedInFeatures returns the number of features that use the field.
func (f ContextField) UsedInFeatures() (n int64) {
	for _, features := range f.Usage {
		n += features
	}
	return n
}

// UsedInProjects returns the number of projects that have such a feature.
func (f ContextField) UsedInProjects() (n int64) {
	for _, features := range f.Usage {
		if features > 0 {
			n++
		}
	}
	return n
}

// Defaults returns the fields of a new instance.
func Defaults(now time.Time) []ContextField {
	return []ContextField{
		{Name: "environment", Description: "Constrain on the environment that the application runs in.", SortOrder: 0, CreatedAt: &now},
		{Name: "userId", Description: "Constrain on the user's id.", SortOrder: 1, CreatedAt: &now},
		{Name: "appName", Description: "Constrain on the application's name.", SortOrder: 2, CreatedAt: &now},
		{Name: "currentTime", Description: "Constrain on the date and time of the evaluation.", SortOrder: 3, CreatedAt: &now},
		{Name: "sessionId", Description: "Constrain on the user's session.", SortOrder: 4, CreatedAt: &now, Stickiness: true},
	}
}
