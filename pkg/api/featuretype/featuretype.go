// Package featuretype manages the feature toggle types: it lists them (contract section 4.2) and changes a type's
// expected lifetime (contract section 4.3).
//
// A type's lifetime determines when its toggles become potentially stale. Setting it is one write, even if it is the
// current one; the table's stream then triggers the re-evaluation (pkg/background/staleness).
package featuretype

import (
	"strings"

	"toggleadmin/pkg/platform/apierror"
)

// FeatureType is a kind of toggle. Its JSON is featureTypeSchema in api/openapi.yaml.
type FeatureType struct {
	ID           string `json:"id"` // lower case
	Name         string `json:"name"`
	Description  string `json:"description"`
	LifetimeDays *int64 `json:"lifetimeDays"` // 1 to 2147483647; nil: its toggles are never potentially stale
	Position     int64  `json:"-"`            // in lists: the order of creation
	// LastEvent is the id of its last event: its creation or a change of its lifetime; 0: none.
	LastEvent int64 `json:"-"`
}

// notFound returns the error if there is no type with the id.
func notFound(id string) error {
	return apierror.Errorf(apierror.NotFound, "There is no feature type with the id %q.", apierror.Echo(id))
}

// NormalID returns the id as it is stored: letter case is ignored (api/openapi.yaml). Ids are ASCII, so only ASCII
// letters change.
func NormalID(id string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, id)
}

// Defaults returns the types of a new instance, in their order.
func Defaults() []FeatureType {
	return []FeatureType{
		{"release", "Release", "Brings a new feature to users step by step.", new(int64(40)), 0, 0},
		{"experiment", "Experiment", "Tries several versions of a feature to see which does best.", new(int64(40)), 1, 0},
		{"operational", "Operational", "Controls how the system behaves while a change rolls out.", new(int64(7)), 2, 0},
		{"kill-switch", "Kill switch", "Turns a critical part of the system off, or on again, at once.", nil, 3, 0},
		{"permission", "Permission", "Decides what a user is entitled to do or see.", nil, 4, 0},
	}
}
