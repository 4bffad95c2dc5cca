package toggle

import "strings"

// Type is a type of toggles. It determines when they become potentially stale. Its JSON is featureTypeSchema in
// api/openapi.yaml, and an element of featureTypes in the export document.
type Type struct {
	ID           string `json:"id"` // lower case
	Name         string `json:"name"`
	Description  string `json:"description"`
	LifetimeDays *int64 `json:"lifetimeDays"` // 1 to MaxLifetimeDays; nil: its toggles are never potentially stale

	Position  int64 `json:"-"` // in lists: the order of creation
	LastEvent int64 `json:"-"` // the id of its last event: its creation or a change of its lifetime; 0: none
}

// NormalTypeID returns the id of a type as it is stored: letter case is ignored (api/openapi.yaml). Ids are ASCII, so
// only ASCII letters change.
func NormalTypeID(id string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, id)
}

// DefaultTypes returns the types of a new installation, in their order.
func DefaultTypes() []Type {
	types := []Type{
		{
			ID:           DefaultType,
			Name:         "Release",
			Description:  "Brings a new feature to users step by step.",
			LifetimeDays: new(int64(40)),
		},
		{
			ID:           "experiment",
			Name:         "Experiment",
			Description:  "Tries several versions of a feature to see which does best.",
			LifetimeDays: new(int64(40)),
		},
		{
			ID:           "operational",
			Name:         "Operational",
			Description:  "Controls how the system behaves while a change rolls out.",
			LifetimeDays: new(int64(7)),
		},
		{
			ID:          "kill-switch",
			Name:        "Kill switch",
			Description: "Turns a critical part of the system off, or on again, at once.",
		},
		{
			ID:          "permission",
			Name:        "Permission",
			Description: "Decides what a user is entitled to do or see.",
		},
	}
	for i := range types {
		types[i].Position = int64(i)
	}
	return types
}
