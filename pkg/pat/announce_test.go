package pat_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/event"
	"toggleadmin/pkg/pat"
	"toggleadmin/test/database"
)

// bus records events. It rejects those with the subject rejects.
type bus struct {
	events  []event.Event
	rejects string
}

func (b *bus) Publish(_ context.Context, events []event.Event) []error {
	errs := make([]error, len(events))
	for i, e := range events {
		if e.Subject == b.rejects {
			errs[i] = errors.New("throttled")
			continue
		}
		b.events = append(b.events, e)
	}
	return errs
}

// announcing is an Announcer with its bus, clock and log.
type announcing struct {
	pat.Announcer
	bus
	clock time.Time
	log   bytes.Buffer
}

func newAnnouncing(f *fixture) *announcing {
	a := &announcing{clock: now()}
	a.Announcer = pat.Announcer{
		Store: f.pats, Publisher: &a.bus, Source: "my-stack", Now: func() time.Time { return a.clock }, Logger: slog.New(slog.NewTextHandler(&a.log, nil)),
	}
	return a
}

// run returns the events of a run: "subject days".
func (a *announcing) run(tb testing.TB) (sent string, err error) {
	tb.Helper()
	a.events = nil
	result, err := a.Announce(tb.Context(), nil)
	var all []string
	for _, e := range a.events {
		all = append(all, fmt.Sprint(e.Subject, " ", e.Data.(event.Token).Days)) //nolint:errcheck // it panics
	}
	if (err == nil) != (result.Left == 0) {
		tb.Errorf("%+v, error %v", result, err)
	}
	return strings.Join(all, ", "), err
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
	f.expiring(t, "1: never announced before it expired", -time.Millisecond)
	f.expiring(t, "2", 20*day)
	f.expiring(t, "3: created within a threshold", 5*day)
	a := newAnnouncing(f)
	for _, tt := range []struct {
		name string
		at   time.Duration
		want string
	}{
		{"first run", 0, "3 7"},
		{"again", 0, ""},
		{"before the next thresholds", 4*day - time.Millisecond, ""},
		{"1 day", 4 * day, "3 1"},
		{"before 14 days", 6*day - time.Millisecond, ""},
		{"14 days", 6 * day, "2 14"},
		{"after its expiry, 7 days and 1 day were not announced", 21 * day, "2 1"},
		{"nothing is left", 40 * day, ""},
	} {
		a.clock = now().Add(tt.at)
		if got, err := a.run(t); got != tt.want || err != nil {
			t.Errorf("%s: %q, error %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestAnnouncement(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	f.expiring(t, "pipeline", 13*day)
	a := newAnnouncing(f)
	if _, err := a.run(t); err != nil {
		t.Fatal(err)
	}
	// The threshold was reached before the token was created.
	want := []event.Event{event.New("my-stack", event.TokenExpiring, "1", now().Add(-day).UnixMilli(), now(), event.Token{
		ID: 1, UserID: 4, Description: "pipeline", ExpiresAt: "2026-12-03T05:39:00.123Z", Days: 14,
	})}
	if diff := cmp.Diff(want, a.events); diff != "" {
		t.Error(diff)
	}
}

// Each event is sent until the bus has stored it and the token is marked. It has the same id each time.
func TestAnnounceAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	for i := range event.MaxBatch + 2 {
		f.expiring(t, fmt.Sprint(i), day)
	}
	a := newAnnouncing(f)
	a.rejects = "11"
	if sent, err := a.run(t); err == nil || len(a.events) != event.MaxBatch+1 || strings.Contains(sent, "11 ") {
		t.Errorf("%s, error %v", sent, err)
	}
	if !strings.Contains(a.log.String(), "id=11 cause=throttled") {
		t.Error(a.log.String())
	}
	first := a.events[0]
	a.rejects = ""
	// One event is stored by the bus, but its token is not marked.
	unmarked, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "UpdateItem" {
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
	f.expiring(t, "unmarked", day)
	a.Store = pat.NewStore(unmarked, f.Tables, rand.Reader)
	if sent, err := a.run(t); err == nil || sent != "11 1, 13 1" {
		t.Errorf("%s, error %v", sent, err)
	}
	lost := a.events
	a.Store = f.pats
	if sent, err := a.run(t); err != nil || sent != "11 1, 13 1" {
		t.Errorf("%s, error %v", sent, err)
	}
	if diff := cmp.Diff(lost, a.events); diff != "" || first.ID == lost[0].ID {
		t.Error(diff)
	}
}

// A token that is deleted before it is marked stays deleted.
func TestAnnounceDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	p := f.expiring(t, "deleted", day)
	if err := errors.Join(f.pats.Delete(t.Context(), pat.AnyKind, 4, p.ID), f.pats.Announced(t.Context(), p, 1)); err != nil {
		t.Fatal(err)
	}
	f.requireConsistent(t)
}

func TestNewAnnounceFunction(t *testing.T) {
	t.Parallel()
	env := newFixture(t).Env(t)
	env.Vars["EVENT_BUS"], env.Vars["EVENT_SOURCE"] = "my-stack", "my-stack"
	database.RequireVariables(t, env, pat.NewAnnounceFunction, "PERSONAL_ACCESS_TOKENS_TABLE", "EVENT_BUS", "EVENT_SOURCE")
}
