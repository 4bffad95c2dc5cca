package toggle_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/toggle"
)

// date parses a time. It returns nil for an empty text.
func date(t *testing.T, text string) *time.Time {
	t.Helper()
	if text == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return &at
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// A time before the year 1 or after the year 9999 cannot be stored.
func TestCutoffAndPotentiallyStaleAt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lifetimeDays       int64
		at                 string // the current time for the cutoff, and the time of creation of a toggle
		cutoff             string // empty: none
		potentiallyStaleAt string // empty: never
	}{
		{1, "2026-11-20T12:00:00.005Z", "2026-11-19T12:00:00.005Z", "2026-11-21T12:00:00.005Z"},
		{7, "2026-11-20T12:00:00.005Z", "2026-11-13T12:00:00.005Z", "2026-11-27T12:00:00.005Z"},
		{7, "2026-11-20T12:00:00.004999999Z", "2026-11-13T12:00:00.004Z", "2026-11-27T12:00:00.004Z"},
		{7, "2026-11-20T02:00:00.005-10:00", "2026-11-13T12:00:00.005Z", "2026-11-27T12:00:00.005Z"},
		{0, "2026-11-20T12:00:00Z", "", ""},
		{toggle.MaxLifetimeDays, "9026-11-20T12:00:00Z", "", ""},
		{1 << 62, "9026-11-20T12:00:00Z", "", ""},
		{1<<63 - 1, "9026-11-20T12:00:00Z", "", ""},
		{365, "0002-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0003-01-01T00:00:00Z"},
		{366, "0002-01-01T00:00:00Z", "", "0003-01-02T00:00:00Z"},
		{1, "9999-12-30T05:39:00Z", "9999-12-29T05:39:00Z", "9999-12-31T05:39:00Z"},
		{2, "9999-12-30T05:39:00Z", "9999-12-28T05:39:00Z", ""},
	} {
		at := *date(t, test.at)
		cutoff := toggle.Cutoff(&test.lifetimeDays, at)
		if !sameTime(cutoff, date(t, test.cutoff)) {
			t.Errorf("%+v: the cutoff is %v", test, cutoff)
		}
		staleAt := toggle.Feature{CreatedAt: at}.PotentiallyStaleAt(&test.lifetimeDays)
		if !sameTime(staleAt, date(t, test.potentiallyStaleAt)) {
			t.Errorf("%+v: potentially stale at %v", test, staleAt)
		}
	}
}

func TestNoLifetime(t *testing.T) {
	t.Parallel()
	at := *date(t, "2026-11-20T12:00:00Z")
	if cutoff := toggle.Cutoff(nil, at); cutoff != nil {
		t.Errorf("the cutoff is %v", cutoff)
	}
	if staleAt := (toggle.Feature{CreatedAt: at}).PotentiallyStaleAt(nil); staleAt != nil {
		t.Errorf("potentially stale at %v", staleAt)
	}
}

// Cutoff, which selects toggles in the index, and IsPotentiallyStale, which decides about one toggle, agree.
func TestIsPotentiallyStale(t *testing.T) {
	t.Parallel()
	created := *date(t, "2026-11-13T12:00:00.005Z")
	for _, test := range []struct {
		now  string
		want bool
	}{
		{"2026-11-20T12:00:00.004999999Z", false},
		{"2026-11-20T12:00:00.005Z", true},
		{"2026-11-20T02:00:00.005-10:00", true},
		{"2027-01-01T00:00:00Z", true},
	} {
		f, now := toggle.Feature{CreatedAt: created}, *date(t, test.now)
		if got := f.IsPotentiallyStale(new(int64(7)), now); got != test.want {
			t.Errorf("at %s: potentially stale is %t", test.now, got)
		}
		if got := f.Expired(toggle.Cutoff(new(int64(7)), now)); got != test.want {
			t.Errorf("at %s: expired is %t", test.now, got)
		}
		for _, never := range []toggle.Feature{
			{CreatedAt: created, Archived: true},
			{CreatedAt: created, Stale: true},
		} {
			if never.IsPotentiallyStale(new(int64(7)), now) {
				t.Errorf("at %s: %+v is potentially stale", test.now, never)
			}
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		toggle toggle.Feature
		want   toggle.State
	}{
		{toggle.Feature{}, toggle.StateActive},
		{toggle.Feature{PotentiallyStale: true}, toggle.StatePotentiallyStale},
		{toggle.Feature{Stale: true}, toggle.StateStale},
		{toggle.Feature{Stale: true, PotentiallyStale: true}, toggle.StateStale},
	} {
		if got := test.toggle.State(); got != test.want {
			t.Errorf("%+v: the state is %s", test.toggle, got)
		}
	}
}

func TestClearReason(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		next toggle.Feature
		want toggle.ClearReason
	}{
		{"another name", toggle.Feature{Name: "x", Type: "release"}, ""},
		{"another type", toggle.Feature{Type: "experiment"}, toggle.ReasonTypeChanged},
		{"stale", toggle.Feature{Type: "experiment", Stale: true}, toggle.ReasonMarkedStale},
		{"archived", toggle.Feature{Type: "experiment", Stale: true, Archived: true}, toggle.ReasonArchived},
	} {
		old := toggle.Feature{Type: "release"}
		if got := old.ClearReason(test.next); got != test.want {
			t.Errorf("%s: the reason is %q", test.name, got)
		}
		if got := test.next.ClearReason(old); got != test.want {
			t.Errorf("the reverse of %s: the reason is %q", test.name, got)
		}
	}
}
