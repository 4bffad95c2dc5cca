package pat_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// announce returns the events of a run: "id days".
func (f *fixture) announce(tb testing.TB, after time.Duration) string {
	tb.Helper()
	before := len(f.expiries(tb))
	a := pat.Announcer{Store: f.pats, Now: func() time.Time { return now().Add(after) }}
	result, err := a.Announce(tb.Context(), nil)
	assert.OK(tb, err)
	all := f.expiries(tb)[before:]
	assert.Equal(tb, pat.Announcements{Announced: len(all)}, result)
	return strings.Join(all, ", ")
}

var expiry = regexp.MustCompile(`(?m)^token-expiring .*"id":(\d+),.*"days":(\d+)`)

// expiries returns the events token-expiring: "id days".
func (f *fixture) expiries(tb testing.TB) (all []string) {
	tb.Helper()
	for _, found := range expiry.FindAllStringSubmatch(strings.Join(f.Events(tb), "\n"), -1) {
		all = append(all, found[1]+" "+found[2])
	}
	return all
}

const day = 24 * time.Hour

func TestAnnounceThresholds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	f.create(t, expiring("1: recorded at its creation", time.Hour-time.Millisecond))
	f.create(t, expiring("2", 20*day))
	f.create(t, expiring("3: created within a threshold", 5*day))
	f.create(t, expiring("4: found by a run before it expires", time.Hour))
	f.create(t, expiring("5", 700*time.Hour))
	assert.Equal(t, []string{"1 1"}, f.expiries(t))
	for _, test := range []struct {
		after time.Duration // since the creation
		want  string        // the recorded tokens, each with a number of days
	}{
		{0, "3 7, 4 1"},
		{0, ""},
		{4*day - time.Millisecond, ""},
		{4 * day, "3 1"},
		{6*day - time.Millisecond, ""},
		{6 * day, "2 14"},
		{20*day - time.Hour - time.Millisecond, "2 1, 5 14"}, // 7 days of token 2 were not recorded
		{700 * time.Hour, ""},                                // token 5 has expired, 7 days and 1 day were not recorded
	} {
		if got := f.announce(t, test.after); got != test.want {
			t.Errorf("after %s: %q, want %q", test.after, got, test.want)
		}
	}
}

// TestAnnounceAgain checks that the next run records a token that one could not, that of two runs at the same time one
// records it, and that a token that is deleted at the same time stays deleted.
func TestAnnounceAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	for i := range 4 {
		f.create(t, expiring(fmt.Sprint(i), day))
	}
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		switch fmt.Sprint(c.Operation, c.N) {
		case transact + "2":
			return c.Refuse("ValidationException")
		case transact + "3":
			assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 4, 4))
			assert.Equal(t, "2 1, 3 1", f.announce(t, 0))
		}
		return c.Pass()
	})
	var log bytes.Buffer
	a := pat.Announcer{Store: f.through(client), Now: now, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	if result, err := a.Announce(t.Context(), nil); err == nil || result.Left != 1 ||
		!strings.Contains(log.String(), "id=2 ") {
		t.Error(result, err, log.String())
	}
	assert.Equal(t, []string{"1 1", "2 1", "3 1"}, f.expiries(t))
	f.requireConsistent(t)
}

// A token whose transaction conflicts delays the others only for a limited time.
func TestAnnounceDespiteAConflict(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	for i := range 3 {
		f.create(t, expiring(fmt.Sprint(i), day))
	}
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == transact && strings.Contains(c.Body, `"id":{"N":"1"}`) {
			return c.Cancel("TransactionConflict", "None")
		}
		return c.Pass()
	})
	var log bytes.Buffer
	a := pat.Announcer{
		Store: f.through(client), Now: now, Logger: slog.New(slog.NewTextHandler(&log, nil)), Timeout: time.Second,
	}
	if result, err := a.Announce(t.Context(), nil); err == nil || result.Announced != 2 || result.Left != 1 ||
		!strings.Contains(log.String(), "id=1 ") {
		t.Error(result, err, log.String())
	}
	assert.Equal(t, []string{"2 1", "3 1"}, f.expiries(t))
}

// Calls end before the deadline, so that the cause can be logged.
func TestAnnounceStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	f.create(t, expiring("ci", day))
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) { return c.Hang() })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+50*time.Millisecond)
	defer cancel()
	var log bytes.Buffer
	a := pat.Announcer{Store: f.through(client), Now: now, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	_, err := a.Announce(ctx, nil)
	if err == nil || ctx.Err() != nil || !strings.Contains(log.String(), "tokens cannot be read") {
		t.Error(err, ctx.Err(), log.String())
	}
}
