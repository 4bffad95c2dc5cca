// Package staleness keeps the flag potentiallyStale of every toggle correct (contract section 5): after a type's lifetime changes, triggered
// by the stream of the table FeatureTypes (Handler.Stream), and as time passes, triggered every minute (Handler.Sweep).
//
// The toggles of a type whose flag must change are two key ranges of the staleness index per shard. Both triggers run the same code: they
// query these ranges and flip each toggle with one conditional write. No progress is stored. After a run that ends early, or crashes, the
// next run does the rest. Runs may overlap, repeat and come in any order. Their cost is proportional to the number of flags that change.
//
// No operation deletes a type. If its item is deleted in another way, the stream record of the deletion is the only trigger that clears the
// flags of its toggles. A toggle that the index does not show yet at that moment keeps its flag until the toggle is written or the type is
// created again.
package staleness

import (
	"time"

	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
)

const (
	millisecondsPerDay = 86_400_000
	// maxDays is more than the longest lifetime (2147483647), and does not overflow in milliseconds.
	maxDays = int64(100_000_000_000)
)

// Cutoff returns the latest time of creation, in milliseconds, of the toggles that have outlived the lifetime at the time now:
// now ≥ createdAt + lifetime. It returns nil if there are none, because there is no lifetime or because it began before the year 1.
func Cutoff(lifetimeDays *int64, now time.Time) *time.Time {
	if lifetimeDays == nil || *lifetimeDays <= 0 || *lifetimeDays > maxDays {
		return nil
	}
	cutoff := time.UnixMilli(now.UnixMilli() - *lifetimeDays*millisecondsPerDay).UTC()
	if cutoff.Year() < 1 {
		return nil
	}
	return &cutoff
}

// dueRanges returns the ranges of the toggles of a type whose flag must change. Without a cutoff, these are all flagged toggles.
func dueRanges(t featuretype.FeatureType, now time.Time) []feature.Range {
	var all []feature.Range
	cutoff := Cutoff(t.LifetimeDays, now)
	for shard := range feature.Shards {
		flagged := feature.Range{Type: t.ID, Shard: shard, PotentiallyStale: true, Cutoff: cutoff, LifetimeDays: t.LifetimeDays}
		all = append(all, flagged)
		if cutoff != nil {
			fresh := flagged
			fresh.PotentiallyStale = false
			all = append(all, fresh)
		}
	}
	return all
}
