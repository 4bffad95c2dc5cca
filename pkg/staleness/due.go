package staleness

import (
	"time"

	"toggleadmin/pkg/feature"
)

const (
	millisecondsPerDay = 24 * 60 * 60 * 1000
	// mostDays is more than any lifetime that the service takes (2147483647), and less than what overflows in milliseconds.
	mostDays = int64(100_000_000_000)
)

// Cutoff is the moment such that exactly the toggles created at or before it have outlived the lifetime: now ≥ createdAt + lifetime. nil:
// none has, for there is no lifetime, or it began before the year 1. It is cut to milliseconds, as times of creation are.
func Cutoff(lifetimeDays *int64, now time.Time) *time.Time {
	if lifetimeDays == nil || *lifetimeDays <= 0 || *lifetimeDays > mostDays {
		return nil
	}
	cutoff := time.UnixMilli(now.UnixMilli() - *lifetimeDays*millisecondsPerDay).UTC()
	if cutoff.Year() < 1 {
		return nil
	}
	return &cutoff
}

// ranges are where the toggles of a type are whose flag must change. Without a cutoff none is flagged, and all that are lose it.
func ranges(featureType string, cutoff *time.Time) []feature.Range {
	all := make([]feature.Range, 0, 2*feature.Shards)
	for shard := range feature.Shards {
		all = append(all, feature.Range{Type: featureType, Shard: shard, PotentiallyStale: true, Cutoff: cutoff})
		if cutoff != nil {
			all = append(all, feature.Range{Type: featureType, Shard: shard, Cutoff: cutoff})
		}
	}
	return all
}
