// Package toggle contains the types and rules of toggles: their names and limits, when they are potentially stale, and
// their JSON form. It is pure: it reads neither a clock nor a table, and imports only the standard library.
//
// pkg/api/feature and pkg/api/featuretype store toggles and types. pkg/operator exports and imports them.
package toggle

import (
	"reflect"
	"slices"
	"time"
)

// Feature is a toggle.
type Feature struct {
	Name             string
	Project          string
	Type             string  // id of its Type
	Description      *string // nil: none
	ImpressionData   bool
	CreatedAt        time.Time
	CreatedBy        *Creator // nil: unknown
	Archived         bool
	ArchivedAt       *time.Time // nil if it is not archived
	Stale            bool       // marked by a user
	PotentiallyStale bool       // set by the stores
	LastEvent        int64      // the id of its last event, the version of the toggle; set by the stores; 0: none

	// Environments contains the state of the toggle by the name of the environment. Environments in which it is off and
	// has no strategies are left out. SetEnvironment changes it.
	Environments map[string]Environment

	// ContextFields are the fields that its strategies use, without those that every context has, and others that were set
	// for the toggle; sorted and without duplicates. SetEnvironment changes those of its strategies.
	ContextFields []string

	Tags []Tag // sorted by type and value, without duplicates

	Owner *Owner // nil: none, and the Owners of its project decide
	Keep  *Keep  // nil: it can be proposed for removal at any time
	Links []Link // in the order in which they were added

	Dependency *Dependency // on its parent; nil: it has none
	Children   []string    // the toggles that depend on it, sorted

	// LastSeen is when applications last used the toggle, by the name of the environment. A sweep sets it. It is no
	// part of the toggle's version and events, and no change of the toggle changes it.
	LastSeen map[string]time.Time

	// FirstSeen is the first of those times that was stored.
	FirstSeen map[string]time.Time

	// ForAllSince is from when on the toggle has been on for everybody, by the name of the environment, without those
	// where it is not. TrackStage sets it. It is no part of the toggle's version and events.
	ForAllSince map[string]time.Time

	// StaleSince is when the toggle was marked as stale; nil if it is not. TrackStage sets it. It is no part of the
	// toggle's version and events.
	StaleSince *time.Time

	// ManagedBy is the URL of the source that describes the toggle as a file, such as a repository; empty: none does.
	ManagedBy string

	// Imported describes the state that the last import wrote, in the form of pkg/operator/transfer; empty: none did. It
	// is no part of the toggle's version and events.
	Imported string
}

// Creator is who created a toggle.
type Creator struct {
	ID   int64  // of the user; 0: the toggle was created in another system
	Name string // in the other system
}

// Normalized returns the toggle as it is stored: with sorted lists, with all context fields of its strategies, without
// empty environments, and with times in milliseconds.
func (f Feature) Normalized() Feature {
	f.ContextFields = slices.Compact(slices.Sorted(slices.Values(append(f.constrainedFields(), f.ContextFields...))))
	f.Children = slices.Compact(slices.Sorted(slices.Values(f.Children)))
	f.Environments = normalizedEnvironments(f.Environments)
	f.Tags = NormalizedTags(f.Tags)
	f.Owner = f.Owner.stored()
	if f.Dependency != nil {
		f.Dependency = &Dependency{
			Feature:  f.Dependency.Feature,
			Enabled:  f.Dependency.Enabled,
			Variants: append([]string{}, slices.Compact(slices.Sorted(slices.Values(f.Dependency.Variants)))...),
		}
	}
	f.CreatedAt = milliseconds(f.CreatedAt)
	if !f.Archived {
		f.ArchivedAt = nil
	}
	if f.ArchivedAt != nil {
		f.ArchivedAt = new(milliseconds(*f.ArchivedAt))
	}
	return f
}

// Differs reports whether the stored form of two toggles differs, apart from what the stores set.
func (f Feature) Differs(other Feature) bool {
	f.PotentiallyStale = other.PotentiallyStale
	f.LastEvent = other.LastEvent
	f.FirstSeen, f.LastSeen = other.FirstSeen, other.LastSeen
	f.ForAllSince, f.StaleSince = other.ForAllSince, other.StaleSince
	f.Imported = other.Imported
	return !reflect.DeepEqual(f.Normalized(), other.Normalized())
}

// LastSeenAt returns when applications last used the toggle in any environment, or nil if they never did.
func (f Feature) LastSeenAt() *time.Time {
	var last *time.Time
	for _, at := range f.LastSeen {
		if last == nil || at.After(*last) {
			last = &at
		}
	}
	return last
}

// UsedContextFields returns the context fields whose references include the toggle: none if it is archived.
func (f Feature) UsedContextFields() []string {
	if f.Archived {
		return nil
	}
	return f.ContextFields
}

func milliseconds(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
