package pat_test

import (
	"bytes"
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
	"toggleadmin/test/table"
)

// announcing is an Announcer with its clock and log.
type announcing struct {
	pat.Announcer
	clock time.Time
	log   bytes.Buffer
}

func newAnnouncing(f *fixture) *announcing {
	a := &announcing{clock: now()}
	a.Announcer = pat.Announcer{Store: f.pats, Now: func() time.Time { return a.clock },
		Logger: slog.New(slog.NewTextHandler(&a.log, nil))}
	return a
}

// run returns the events of a run: "id days".
func (a *announcing) run(tb testing.TB, f *fixture) string {
	tb.Helper()
	before := len(f.expiries(tb))
	result, err := a.Announce(tb.Context(), nil)
	assert.OK(tb, err)
	all := f.expiries(tb)[before:]
	assert.Equal(tb, pat.Announcements{Announced: len(all)}, result)
	return strings.Join(all, ", ")
}

var expiry = regexp.MustCompile(`^token-expiring .*"id":(\d+),.*"days":(\d+)`)

// expiries returns the events token-expiring: "id days".
func (f *fixture) expiries(tb testing.TB) (all []string) {
	tb.Helper()
	for _, line := range f.Events(tb) {
		if found := expiry.FindStringSubmatch(line); found != nil {
			all = append(all, found[1]+" "+found[2])
		}
	}
	return all
}

// expiring creates a token that expires after the time.
func (f *fixture) expiring(tb testing.TB, description string, after time.Duration) pat.PAT {
	tb.Helper()
	p := newPAT(4, description)
	p.ExpiresAt = now().Add(after)
	return f.create(tb, p)
}

const day = 24 * time.Hour

func TestAnnounceThresholds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	f.expiring(t, "1: recorded at its creation", time.Hour-time.Millisecond)
	f.expiring(t, "2", 20*day)
	f.expiring(t, "3: created within a threshold", 5*day)
	f.expiring(t, "4: found by a run before it expires", time.Hour)
	assert.Equal(t, []string{"1 1"}, f.expiries(t))
	a := newAnnouncing(f)
	for _, row := range table.Rows(t, 2, `
		# time since the creation | recorded tokens and days
		0s | 3 7, 4 1
		0s |
		95h59m59.999s |
		96h | 3 1
		143h59m59.999s |
		144h | 2 14
		# token 2 has expired, 7 days and 1 day were not recorded
		504h | 2 1
		960h |
	`) {
		after, err := time.ParseDuration(row[0])
		assert.OK(t, err)
		a.clock = now().Add(after)
		if got := a.run(t, f); got != row[1] {
			t.Errorf("%s: %q", row, got)
		}
	}
}

// TestAnnounceAgain checks that the next run records a token that one could not, and that of two runs at the same time
// one records it.
func TestAnnounceAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	for i := range 3 {
		f.expiring(t, fmt.Sprint(i), day)
	}
	a, second := newAnnouncing(f), newAnnouncing(f)
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		switch {
		case c.Operation == transact && c.N == 2:
			return c.Refuse("ValidationException")
		case c.Operation == transact && c.N == 3:
			assert.Equal(t, "2 1, 3 1", second.run(t, f))
		}
		return c.Pass()
	})
	a.Store = f.through(client)
	if result, err := a.Announce(t.Context(), nil); err == nil || result.Left != 1 ||
		!strings.Contains(a.log.String(), "id=2 ") {
		t.Error(result, err, a.log.String())
	}
	assert.Equal(t, []string{"1 1", "2 1", "3 1"}, f.expiries(t))
}

// A token that is deleted before its expiry is recorded stays deleted.
func TestAnnounceDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	p := f.expiring(t, "deleted", day)
	assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 4, p.ID), f.pats.RecordExpiry(t.Context(), p, 1))
	f.requireConsistent(t)
	assert.Equal(t, 0, len(f.expiries(t)))
}
