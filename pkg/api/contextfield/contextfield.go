// Package contextfield manages the context fields that strategy constraints can use (contract section 4.4).
//
// The table ContextFields also contains the number of toggles that use each field, in an item of its own. The
// transactions of pkg/api/feature that write toggles change these numbers, so this package reads only its own table.
package contextfield

import (
	"slices"
	"time"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// ContextField is a field of the context in which features are evaluated.
type ContextField struct {
	Name        string
	Description *string // nil: none
	Stickiness  bool
	SortOrder   int64
	CreatedAt   *time.Time // nil: unknown
	LegalValues []LegalValue
	References  references.Counts
	LastEvent   int64 // the id of its last event

	// Last makes a creation or replacement set SortOrder: the highest one of the other fields plus 1, at most 2147483647,
	// or 0 if there are no others. It is not stored.
	Last bool
}

// LegalValue is a value that the field permits.
type LegalValue struct {
	Value       string
	Description *string // nil: none
}

// Permits reports whether the legal values of the field permit a value of a constraint. They bind the operators IN and
// NOT_IN only. A field without legal values permits all.
func (f ContextField) Permits(operator toggle.Operator, value string) bool {
	if len(f.LegalValues) == 0 || operator != toggle.OperatorIn && operator != toggle.OperatorNotIn {
		return true
	}
	return slices.ContainsFunc(f.LegalValues, func(v LegalValue) bool { return v.Value == value })
}

// notFound returns the error if there is no field with the name.
func notFound(name string) error {
	return apierror.Errorf(apierror.NotFound, "There is no context field with the name %q.", apierror.Echo(name))
}

// Defaults returns the fields of a new instance: those of Unleash, with the same descriptions.
func Defaults(now time.Time) []ContextField {
	return []ContextField{
		{Name: "environment", Description: new("Allows you to constrain on application environment"), SortOrder: 0,
			CreatedAt: &now},
		{Name: "userId", Description: new("Allows you to constrain on userId"), SortOrder: 1, CreatedAt: &now},
		{Name: "appName", Description: new("Allows you to constrain on application name"), SortOrder: 2, CreatedAt: &now},
		{Name: "currentTime", Description: new("Allows you to constrain on date values"), SortOrder: 3,
			CreatedAt: &now},
		{Name: "sessionId", Description: new("Allows you to constrain on sessionId"), SortOrder: 4, CreatedAt: &now,
			Stickiness: true},
	}
}

// eventData is a field in the data of events, without its references.
type eventData struct {
	Name        string       `json:"name"`
	Description *string      `json:"description"`
	Stickiness  bool         `json:"stickiness"`
	SortOrder   int64        `json:"sortOrder"`
	CreatedAt   *string      `json:"createdAt"`
	LegalValues []legalValue `json:"legalValues"`
}

func (f ContextField) eventData() eventData {
	s := eventData{f.Name, f.Description, f.Stickiness, f.SortOrder, datetime.FormatOptional(f.CreatedAt), []legalValue{}}
	for _, v := range f.LegalValues {
		s.LegalValues = append(s.LegalValues, legalValue(v))
	}
	return s
}

func (f ContextField) subject() eventlog.Subject { return eventlog.Subject("field:" + f.Name) }

func (f ContextField) change(t eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{Type: t, Subject: f.subject(), Last: f.LastEvent, Data: data, PreData: preData}
}
