// Package featuretype is the feature toggle types: listing them (4.2) and changing a type's expected lifetime (4.3).
//
// The one concept: a type's lifetime is what makes its toggles potentially stale, so a change of it is one write to a table whose
// stream starts the re-evaluation. The toggles themselves are pkg/feature's.
package featuretype

import (
	"context"
	"errors"
	"strings"
)

// FeatureType is a kind of toggle.
type FeatureType struct {
	ID           string // lower case
	Name         string
	Description  string
	LifetimeDays *int64 // 1 to 2147483647; nil: its toggles are never potentially stale
	Position     int64  // the place in lists: the order of creation
}

// ErrNotFound says that there is no such type.
var ErrNotFound = errors.New("no such feature type")

// Lister reads all types, ordered by position.
type Lister interface {
	List(ctx context.Context) ([]FeatureType, error)
}

// Getter reads one type as it is now, or gives ErrNotFound. The id is in lower case.
type Getter interface {
	Get(ctx context.Context, id string) (FeatureType, error)
}

// LifetimeSetter changes a type's lifetime and gives the type as it is then, or ErrNotFound. The id is in lower case.
type LifetimeSetter interface {
	SetLifetime(ctx context.Context, id string, days *int64) (FeatureType, error)
}

// NormalID is the id without regard to letter case (contract, 4.3). Ids are ASCII: no other letter has a case here.
func NormalID(id string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, id)
}

// Defaults are the types of a new instance, in their order.
func Defaults() []FeatureType {
	days := func(n int64) *int64 { return &n }
	return []FeatureType{
		{"release", "Release", "Brings a new feature to users step by step.", days(40), 0},
		{"experiment", "Experiment", "Tries several versions of a feature to see which does best.", days(40), 1},
		{"operational", "Operational", "Controls how the system behaves while a change rolls out.", days(7), 2},
		{"kill-switch", "Kill switch", "Turns a critical part of the system off, or on again, at once.", nil, 3},
		{"permission", "Permission", "Decides what a user is entitled to do or see.", nil, 4},
	}
}
