package feature

import (
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
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

// Range is a key range of the staleness index: the toggles of one type and shard that have the same flag and whose flag
// must change.
type Range struct {
	Type             string
	Shard            int  // 0 to Shards-1
	PotentiallyStale bool // the current flag
	// Cutoff is the latest time of creation of the toggles whose lifetime has expired; nil: there are none. If the flag is
	// clear, the range has the expired toggles. If it is set, the range has the toggles that are not expired.
	Cutoff *time.Time
	// LifetimeDays is the lifetime of the type, and LastEvent the id of the event that changed it, for events.
	LifetimeDays *int64
	LastEvent    int64
}

// Contains reports whether a toggle of the type, shard and flag is in the range.
func (r Range) Contains(f toggle.Feature) bool { return f.Expired(r.Cutoff) != r.PotentiallyStale }

// key returns the partition key of the range in the staleness index.
func (r Range) key() string { return StalenessKey(r.Type, r.PotentiallyStale, r.Shard) }

// record returns the record of a flip of a toggle of the range. If the lifetime of the toggle had not expired when the
// lifetime was changed, the flip has no cause but the passing of time.
func (r Range) record(f toggle.Feature) eventlog.Change {
	var reason toggle.ClearReason
	if r.PotentiallyStale {
		reason = toggle.ReasonLifetimeChanged
	}
	var causedBy *int64
	if r.LastEvent > f.LastEvent &&
		(r.PotentiallyStale || f.Expired(toggle.Cutoff(r.LifetimeDays, eventlog.TimeOf(r.LastEvent)))) {
		causedBy = &r.LastEvent
	}
	change := flipRecord(f, r.LifetimeDays, reason, causedBy)
	change.Last = f.LastEvent
	return change
}

// Page is a part of a range. Its toggles have what the staleness index contains: the name, the project, the type, the
// time of creation and the last event.
type Page struct {
	Toggles []toggle.Feature
	Next    *toggle.Feature // the start of the next page; nil: this is the last page
}
