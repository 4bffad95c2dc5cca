package staleness_test

import (
	"math"
	"testing"
	"time"

	"toggleadmin/pkg/api/staleness"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestCutoff(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	created := time.Date(2026, 11, 13, 12, 0, 0, 5_000_000, time.UTC)
	for _, tt := range []struct {
		name     string
		lifetime *int64
		now      time.Time
		due      bool
	}{
		{"at the end of the lifetime", new(int64(7)), created.Add(7 * day), true},
		{"a millisecond before", new(int64(7)), created.Add(7*day - time.Millisecond), false},
		{"a nanosecond before", new(int64(7)), created.Add(7*day - time.Nanosecond), false},
		{"other time zone", new(int64(7)), created.Add(7 * day).In(time.FixedZone("", -36_000)), true},
		{"shortest lifetime", new(int64(1)), created.Add(day), true},
		{"longest lifetime", new(int64(math.MaxInt32)), created.AddDate(7000, 0, 0), false},
		{"lifetime that overflows", new(int64(math.MaxInt64)), created.AddDate(7000, 0, 0), false},
		{"no lifetime", nil, created.AddDate(7000, 0, 0), false},
		{"lifetime 0", new(int64(0)), created.AddDate(7000, 0, 0), false},
		{"created in the future", new(int64(1)), created.Add(-time.Hour), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cutoff := staleness.Cutoff(tt.lifetime, tt.now)
			if due := cutoff != nil && !created.After(*cutoff); due != tt.due {
				t.Errorf("due: %t, cutoff %v", due, cutoff)
			}
		})
	}
	// A time before the year 1 cannot be stored.
	early := time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC)
	if cutoff := staleness.Cutoff(new(int64(365)), early); cutoff == nil || cutoff.Year() != 1 {
		t.Errorf("cutoff %v", cutoff)
	}
	if cutoff := staleness.Cutoff(new(int64(366)), early); cutoff != nil {
		t.Errorf("cutoff %v", cutoff)
	}
}
