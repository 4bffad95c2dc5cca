// Package feature stores toggles. It is the only writer of the table Features.
//
// Every write of a toggle also updates, in the same transaction, what toggles are looked up by: the toggle's key in the staleness index, and
// the usage of the context fields that its constraints use. FlagStore is the part that pkg/staleness uses to find and flip flags.
package feature

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/event"
)

// Feature is a toggle.
type Feature struct {
	Name             string
	Project          string
	Type             string // id of its feature type
	CreatedAt        time.Time
	Archived         bool
	Stale            bool     // marked by a person
	PotentiallyStale bool     // set by re-evaluation only; Store only clears it
	ContextFields    []string // used by the constraints of its strategies; sorted, without duplicates
}

// The errors of writes.
var (
	ErrExists              = errors.New("a toggle with this name exists")
	ErrNotFound            = errors.New("toggle not found")
	ErrUnknownContextField = errors.New("context field not found")
)

// Shards is the number of partitions per type and flag in the staleness index.
const Shards = 16

// Shard returns the partition of a toggle: FNV-1a 32 of its name modulo Shards.
func Shard(name string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name) // never fails
	return int(h.Sum32() % Shards)
}

// StalenessKey returns the partition key, in the staleness index, of a type's toggles in a shard.
func StalenessKey(featureType string, potentiallyStale bool, shard int) string {
	flag := "fresh"
	if potentiallyStale {
		flag = "potentially-stale"
	}
	return fmt.Sprintf("%s#%s#%d", featureType, flag, shard)
}

// Range is the toggles of one type and shard with the same flag, which must change: a key range of the staleness index.
type Range struct {
	Type             string
	Shard            int  // 0 to Shards-1
	PotentiallyStale bool // the current flag
	// Cutoff is the latest time of creation of the toggles that have outlived their lifetime; nil: there are none. The range is these toggles
	// if they are not flagged, or the others if they are.
	Cutoff *time.Time
	// LifetimeDays is the lifetime of the type, for announcements.
	LifetimeDays *int64
}

// Contains reports whether a toggle of the type, shard and flag is in the range.
func (r Range) Contains(t Indexed) bool {
	outlived := r.Cutoff != nil && t.CreatedAt <= datetime.Format(*r.Cutoff)
	return outlived != r.PotentiallyStale
}

// Indexed is a toggle as it is in the staleness index, which is eventually consistent.
type Indexed struct {
	Name      string
	CreatedAt string // as stored
}

// Page is a part of a range.
type Page struct {
	Toggles []Indexed
	Next    *Indexed // the start of the next page; nil: this is the last page
}

// canBecomeStale reports whether re-evaluation may flag the toggle. Only then it is in the staleness index.
func (f Feature) canBecomeStale() bool { return !f.Archived && !f.Stale }

// usedFields returns the context fields whose usage includes the toggle.
func (f Feature) usedFields() []string {
	if f.Archived {
		return nil
	}
	return f.ContextFields
}

// normalized returns the toggle as it is stored.
func (f Feature) normalized() Feature {
	f.ContextFields = slices.Compact(slices.Sorted(slices.Values(f.ContextFields)))
	f.CreatedAt = datetime.Milliseconds(f.CreatedAt)
	return f
}

// clearsFlag returns why a change from f to next clears the flag (contract section 5), or nothing if it does not.
func (f Feature) clearsFlag(next Feature) event.Reason {
	switch {
	case f.Archived != next.Archived:
		return event.Archived
	case f.Stale != next.Stale:
		return event.MarkedStale
	case f.Type != next.Type:
		return event.TypeChanged
	}
	return ""
}
