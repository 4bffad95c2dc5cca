// Package stalenessindex reads the staleness index of the table Features, and flips the flags of toggles that are due.
//
// The index contains the toggles that can become stale, by type, flag and time of creation, so that a query finds those
// whose flag must change. The transactions of pkg/api/feature keep the key of a toggle up to date.
package stalenessindex

import (
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

// Range is a key range of the staleness index: the toggles of one type and shard that have the same flag and whose flag
// must change.
type Range struct {
	Type             string
	Shard            int  // 0 to featuretable.Shards-1
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
func (r Range) key() string {
	return featuretable.StalenessKey(r.Type, r.PotentiallyStale, r.Shard)
}

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
	change := FlipChange(f, r.LifetimeDays, reason, causedBy)
	change.Last = f.LastEvent
	return change
}

// Page is a part of a range. Its toggles have what the staleness index contains: the name, the project, the type, the
// time of creation and the last event.
type Page struct {
	Toggles []toggle.Feature
	Next    *toggle.Feature // the start of the next page; nil: this is the last page
}

// FlipChange returns the record of a flip of the flag, without the id of the toggle's last event. The flag is set if
// there is no reason to clear it. causedBy is the id of the event of the lifetime that causes the flip, or nil.
func FlipChange(f toggle.Feature, lifetimeDays *int64, reason toggle.ClearReason, causedBy *int64) eventlog.Change {
	kind := eventlog.FeaturePotentiallyStaleOn
	if reason != "" {
		kind = eventlog.FeaturePotentiallyStaleOff
	}
	return featuretable.Change(f, kind, f.FlagChange(lifetimeDays, reason, causedBy), nil)
}
