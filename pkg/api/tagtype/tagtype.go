// Package tagtype manages the types of tags, which pages show in their colors.
//
// A type that toggles use cannot be deleted. The transaction that gives a toggle its first tag of a type raises a number
// in the item of the type, and the deletion reads this number, then the toggles, and fails if the number has changed. The
// type simple always exists, also if it is not stored.
package tagtype

import (
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// TagType is a type of tags.
type TagType struct {
	Name        string
	Description string
	Icon        *string // any text; nil: none
	Color       *string // such as #5A67D8; nil: none
	LastEvent   int64   // the id of its last event
}

// Limit is the maximum number of tag types.
const Limit = 100

// Simple returns the type simple of a new installation.
func Simple() TagType {
	return TagType{Name: toggle.DefaultTagType, Description: "A tag without a special meaning"}
}

// NotFound returns the error if there is no tag type with the name.
func NotFound(name string) error {
	return apierror.Errorf(apierror.NotFound, "There is no tag type with the name %q.", apierror.Echo(name))
}

func taken(name string) error {
	return apierror.Taken("/body/name", "A tag type with the name %q exists.", apierror.Echo(name))
}

// eventData is tagTypeSchema in api/openapi.yaml, and a tag type in the data of events.
type eventData struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Icon        *string `json:"icon"`
	Color       *string `json:"color"`
}

func (t TagType) data() eventData { return eventData{t.Name, t.Description, t.Icon, t.Color} }

func (t TagType) change(kind eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type: kind, Subject: eventlog.Subject("tag-type:" + t.Name), Last: t.LastEvent, Data: data, PreData: preData,
	}
}
