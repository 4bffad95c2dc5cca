package staleness_test

import (
	"math"
	"testing"
	"time"

	"toggleadmin/pkg/staleness"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestCutoff(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 11, 13, 12, 0, 0, 5_000_000, time.UTC)
	for _, tt := range []struct {
		name     string
		lifetime *int64
		now      time.Time
		due      bool // the toggle created then
	}{
		{"exactly at the end of its lifetime", new(int64(7)), created.Add(7 * 24 * time.Hour), true},
		{"a millisecond before", new(int64(7)), created.Add(7*24*time.Hour - time.Millisecond), false},
		{"a nanosecond before", new(int64(7)), created.Add(7*24*time.Hour - time.Nanosecond), false},
		{"a millisecond after", new(int64(7)), created.Add(7*24*time.Hour + time.Millisecond), true},
		{"another zone", new(int64(7)), created.Add(7 * 24 * time.Hour).In(time.FixedZone("", -36_000)), true},
		{"the shortest lifetime", new(int64(1)), created.Add(24 * time.Hour), true},
		{"the longest lifetime", new(int64(math.MaxInt32)), created.AddDate(7000, 0, 0), false},
		{"more than a lifetime can be", new(int64(math.MaxInt64)), created.AddDate(7000, 0, 0), false},
		{"no lifetime", nil, created.AddDate(7000, 0, 0), false},
		{"none, as 0 says", new(int64(0)), created.AddDate(7000, 0, 0), false},
		{"none, as a negative one would say", new(int64(-1)), created.AddDate(7000, 0, 0), false},
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
}

// A time before the year 1 has no stored form; nothing was created then.
func TestCutoffBeforeTheFirstYear(t *testing.T) {
	t.Parallel()
	now := time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC)
	if cutoff := staleness.Cutoff(new(int64(365)), now); cutoff == nil || cutoff.Year() != 1 {
		t.Errorf("cutoff %v", cutoff)
	}
	if cutoff := staleness.Cutoff(new(int64(366)), now); cutoff != nil {
		t.Errorf("cutoff %v cannot be stored", cutoff)
	}
}
