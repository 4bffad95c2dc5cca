// Package feature is the toggles. It is the only writer of them.
//
// The one concept: what others look toggles up by is kept true by the write itself. Every write of a toggle goes through Store, and
// takes along, in one transaction, the toggle's place in the staleness index and the usage that its constraints make of context fields.
//
// What is not here: re-evaluation (pkg/staleness), which decides whose flag changes when a lifetime changes or time passes. The write that
// changes a flag is here, in FlagStore.
package feature

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// Feature is a toggle.
type Feature struct {
	Name             string
	Project          string
	Type             string // the id of its feature type
	CreatedAt        time.Time
	Archived         bool
	Stale            bool     // marked so by a person
	PotentiallyStale bool     // set by re-evaluation alone: a write here only clears it
	ContextFields    []string // the fields that its strategies' constraints use, sorted, each once
}

// What a write refuses.
var (
	ErrExists              = errors.New("there is a toggle with that name")
	ErrNotFound            = errors.New("no such toggle")
	ErrUnknownContextField = errors.New("no such context field")
)

// Shards is the number of partitions that the toggles of one type and flag are spread over in the staleness index.
const Shards = 16

// Shard is the toggle's partition: FNV-1a 32 of its name modulo Shards.
func Shard(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return int(h.Sum32() % Shards)
}

// StalenessKey is the partition key in the staleness index of the toggles of a type, flagged potentially stale or fresh, in a shard.
func StalenessKey(featureType string, potentiallyStale bool, shard int) string {
	flag := "fresh"
	if potentiallyStale {
		flag = "potentially-stale"
	}
	return fmt.Sprintf("%s#%s#%d", featureType, flag, shard)
}

// indexed says whether the toggle can become potentially stale or fresh again.
func (f Feature) indexed() bool { return !f.Archived && !f.Stale }

// usedFields are the context fields that the toggle counts for: none once it is archived.
func (f Feature) usedFields() []string {
	if f.Archived {
		return nil
	}
	return f.ContextFields
}

// stored sorts the fields and cuts the time to what is stored.
func (f Feature) stored() Feature {
	f.ContextFields = slices.Compact(slices.Sorted(slices.Values(f.ContextFields)))
	f.CreatedAt = f.CreatedAt.UTC().Truncate(time.Millisecond)
	return f
}

// resets says whether the step from f to next clears the flag: a change of type, archiving, restoring, marking as stale and undoing it
// do (contract, section 5).
func (f Feature) resets(next Feature) bool {
	return f.Type != next.Type || f.Archived != next.Archived || f.Stale != next.Stale
}
