package pat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/test/database"
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
func (a *announcing) run(tb testing.TB, f *fixture) (recorded string, err error) {
	tb.Helper()
	before := len(f.expiries(tb))
	result, err := a.Announce(tb.Context(), nil)
	all := f.expiries(tb)[before:]
	if (err == nil) != (result.Left == 0) || result.Announced != len(all) {
		tb.Errorf("%+v, error %v", result, err)
	}
	return strings.Join(all, ", "), err
}

// expiries returns the events token-expiring: "id days".
func (f *fixture) expiries(tb testing.TB) (all []string) {
	tb.Helper()
	err := f.Log().All(tb.Context(), eventlog.Filter{Types: []string{string(eventlog.TokenExpiring)}},
		func(e eventlog.Event) error {
			var token struct{ ID, Days int64 }
			all = append(all, "")
			err := json.Unmarshal(e.Data, &token)
			all[len(all)-1] = fmt.Sprint(token.ID, " ", token.Days)
			return err
		})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// expiring creates a token that expires after the time.
func (f *fixture) expiring(tb testing.TB, description string, after time.Duration) pat.PAT {
	tb.Helper()
	p := newPAT(4, description)
	p.ExpiresAt = now().Add(after)
	created, _, err := f.pats.Create(tb.Context(), p, owner(100))
	if err != nil {
		tb.Fatal(err)
	}
	return created
}

const day = 24 * time.Hour

func TestAnnounceThresholds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	f.expiring(t, "1: recorded at its creation", time.Hour-time.Millisecond)
	f.expiring(t, "2", 20*day)
	f.expiring(t, "3: created within a threshold", 5*day)
	f.expiring(t, "4: found by a run before it expires", time.Hour)
	if got := f.expiries(t); len(got) != 1 || got[0] != "1 1" {
		t.Errorf("at creation: %v", got)
	}
	a := newAnnouncing(f)
	for _, tt := range []struct {
		name string
		at   time.Duration
		want string
	}{
		{"first run", 0, "3 7, 4 1"},
		{"again", 0, ""},
		{"before the next thresholds", 4*day - time.Millisecond, ""},
		{"1 day", 4 * day, "3 1"},
		{"before 14 days", 6*day - time.Millisecond, ""},
		{"14 days", 6 * day, "2 14"},
		{"after its expiry, 7 days and 1 day were not recorded", 21 * day, "2 1"},
		{"nothing is left", 40 * day, ""},
	} {
		a.clock = now().Add(tt.at)
		if got, err := a.run(t, f); got != tt.want || err != nil {
			t.Errorf("%s: %q, error %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// TestAnnounceAgain checks that the next run records a token that one could not, and that of two runs at the same time
// one records it.
func TestAnnounceAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	for i := range 3 {
		f.expiring(t, fmt.Sprint(i), day)
	}
	a, second := newAnnouncing(f), newAnnouncing(f)
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		switch {
		case c.Operation == transact && c.N == 2:
			return c.Refuse("ValidationException")
		case c.Operation == transact && c.N == 3:
			if recorded, err := second.run(t, f); err != nil || recorded != "2 1, 3 1" {
				t.Error(recorded, err)
			}
		}
		return c.Pass()
	})
	a.Store = pat.NewStore(client, f.Tables, f.LogThrough(client), nil)
	if result, err := a.Announce(t.Context(), nil); err == nil || result.Left != 1 ||
		!strings.Contains(a.log.String(), "id=2 ") {
		t.Error(result, err, a.log.String())
	}
	if diff := cmp.Diff([]string{"1 1", "2 1", "3 1"}, f.expiries(t)); diff != "" {
		t.Error(diff)
	}
}

// A token that is deleted before its expiry is recorded stays deleted.
func TestAnnounceDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	p := f.expiring(t, "deleted", day)
	if err := errors.Join(f.pats.Delete(t.Context(), pat.AnyKind, 4, p.ID),
		f.pats.RecordExpiry(t.Context(), p, 1)); err != nil {
		t.Fatal(err)
	}
	f.requireConsistent(t)
	if got := f.expiries(t); len(got) != 0 {
		t.Errorf("recorded: %v", got)
	}
}

func TestNewAnnounceFunction(t *testing.T) {
	t.Parallel()
	database.RequireVariables(t, newFixture(t).Env(t), pat.NewAnnounceFunction, "PERSONAL_ACCESS_TOKENS_TABLE",
		"EVENTS_TABLE", "EVENT_LOG_DAYS")
}
