package tokenexpiry_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/tokenexpiry"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// fixture has the service account 4, and the environment production.
type fixture struct {
	*database.Database
	announcer tokenexpiry.Announcer
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	f := &fixture{Database: db, announcer: newAnnouncer(db, db.Client)}
	robot := user.User{ID: 4, Kind: user.ServiceAccount, Name: "ci", Role: access.RoleEditor}
	assert.OK(tb, user.NewStore(db.Client, db.Tables, db.Log()).Create(tb.Context(), robot))
	_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(tb.Context(),
		environment.Environment{Name: "production", Type: "production"})
	assert.OK(tb, err)
	return f
}

// newAnnouncer returns an announcer that uses another client, and discards its log.
func newAnnouncer(db *database.Database, client *dynamodb.Client) tokenexpiry.Announcer {
	log := db.LogThrough(client)
	return tokenexpiry.Announcer{
		PATs:         pat.NewStore(client, db.Tables, log, rand.Reader),
		ClientTokens: clienttoken.NewStore(client, db.Tables, log),
		Now:          now,
		Logger:       slog.New(slog.DiscardHandler),
	}
}

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC) }

// createPAT creates a personal access token that expires after a time. The ids are 1, 2, and so on.
func (f *fixture) createPAT(tb testing.TB, description string, after time.Duration) {
	tb.Helper()
	p := pat.PAT{UserID: 4, Description: description, CreatedAt: now(), ExpiresAt: now().Add(after)}
	_, _, err := f.announcer.PATs.Create(tb.Context(), p, pat.Owner{Limit: 100})
	assert.OK(tb, err)
}

// createClientToken creates a client token that expires after a time, and returns its listed form.
func (f *fixture) createClientToken(tb testing.TB, name string, after time.Duration) string {
	tb.Helper()
	t, _, err := f.announcer.ClientTokens.Create(tb.Context(), clienttokentable.Token{
		Name: name, Type: clienttokentable.Backend, Environment: "production", CreatedAt: now(),
		ExpiresAt: new(now().Add(after)),
	}, 100, rand.Reader)
	assert.OK(tb, err)
	return t.Listed()
}

// announce returns the events of a run at a time after now.
func (f *fixture) announce(tb testing.TB, after time.Duration) string {
	tb.Helper()
	before := len(f.expiries(tb))
	a := f.announcer
	a.Now = func() time.Time { return now().Add(after) }
	result, err := a.Announce(tb.Context(), nil)
	assert.OK(tb, err)
	all := f.expiries(tb)[before:]
	assert.Equal(tb, tokenexpiry.Announcements{Announced: len(all)}, result)
	return strings.Join(all, ", ")
}

var expiry = regexp.MustCompile(`(?m)^token-expiring .*(?:"id":(\d+)|"tokenName":"([^"]*)"),.*"days":(\d+)`)

// expiries returns the events token-expiring: the id of a personal access token or the name of a client token, and the
// days.
func (f *fixture) expiries(tb testing.TB) (all []string) {
	tb.Helper()
	for _, found := range expiry.FindAllStringSubmatch(strings.Join(f.Events(tb), "\n"), -1) {
		all = append(all, found[1]+found[2]+" "+found[3])
	}
	return all
}

const (
	day      = 24 * time.Hour
	transact = "TransactWriteItems"
)

func TestAnnounceThresholds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.createPAT(t, "1: recorded at its creation", time.Hour-time.Millisecond)
	f.createPAT(t, "2", 20*day)
	f.createPAT(t, "3: created within a threshold", 5*day)
	f.createPAT(t, "4: found by a run before it expires", time.Hour)
	f.createPAT(t, "5", 700*time.Hour)
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

// The thresholds of a client token are those of its current expiry. A change to an expiry within an hour is recorded at
// once, as a creation is. A token that never expires has none.
func TestAnnounceClientTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.createClientToken(t, "short", time.Hour-time.Millisecond)
	changed := f.createClientToken(t, "changed", 10*day)
	change := func(expires *time.Time) {
		assert.OK(t, f.announcer.ClientTokens.Update(t.Context(), changed, expires, now()))
	}
	assert.Equal(t, []string{"short 1"}, f.expiries(t))
	assert.Equal(t, "changed 14", f.announce(t, 0))
	assert.Equal(t, "", f.announce(t, 0))
	assert.Equal(t, "changed 7", f.announce(t, 3*day))
	change(new(now().Add(20 * day)))
	assert.Equal(t, "", f.announce(t, 3*day))
	assert.Equal(t, "changed 14", f.announce(t, 6*day))
	change(new(now().Add(time.Minute)))
	assert.Equal(t, "changed 1", f.expiries(t)[4])
	change(nil)
	change(new(now().Add(day)))
	assert.Equal(t, "changed 1", f.announce(t, 0))
	change(nil)
	assert.Equal(t, "", f.announce(t, 0))
}

// The event of a client token has the same data as its other events, and no secret.
func TestEventOfAClientToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, selector, _ := strings.Cut(f.createClientToken(t, "shop", day), "v2_")
	f.announce(t, 0)
	events := f.Events(t)
	assert.Equal(t, `token-expiring client-token:`+selector+` by system: {"id":"`+selector+`","tokenName":"shop",`+
		`"type":"backend","environment":"production","projects":["*"],"expiresAt":"2026-11-21T05:39:00.123Z","days":1}`,
		events[len(events)-1])
}

// If the tokens of one kind cannot be read, those of the other kind are recorded.
func TestAnnounceOneKind(t *testing.T) {
	t.Parallel()
	for fails, want := range map[string]string{"1": "client 1", "2": "1 1"} {
		f := newFixture(t)
		f.createPAT(t, "ci", day)
		f.createClientToken(t, "client", day)
		client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
			if fmt.Sprint(c.Operation, c.N) == "Scan"+fails {
				return c.Refuse("ValidationException")
			}
			return c.Pass()
		})
		a := newAnnouncer(f.Database, client)
		_, err := a.Announce(t.Context(), nil)
		assert.Equal(t, true, err != nil)
		assert.Equal(t, []string{want}, f.expiries(t))
	}
}

// TestAnnounceAgain checks that the next run records a token that one could not, that of two runs at the same time one
// records it, and that a token that is deleted at the same time stays deleted.
func TestAnnounceAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 4 {
		f.createPAT(t, fmt.Sprint(i), day)
	}
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		switch fmt.Sprint(c.Operation, c.N) {
		case transact + "2":
			return c.Refuse("ValidationException")
		case transact + "3":
			assert.OK(t, f.announcer.PATs.Delete(t.Context(), pat.AnyKind, 4, 4))
			assert.Equal(t, "2 1, 3 1", f.announce(t, 0))
		}
		return c.Pass()
	})
	var log bytes.Buffer
	a := newAnnouncer(f.Database, client)
	a.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if result, err := a.Announce(t.Context(), nil); err == nil || result.Left != 1 ||
		!strings.Contains(log.String(), "token=pat:2 ") {
		t.Error(result, err, log.String())
	}
	assert.Equal(t, []string{"1 1", "2 1", "3 1"}, f.expiries(t))
}

// A token whose transaction conflicts delays the others only for a limited time.
func TestAnnounceDespiteAConflict(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 3 {
		f.createPAT(t, fmt.Sprint(i), day)
	}
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == transact && strings.Contains(c.Body, `"id":{"N":"1"}`) {
			return c.Cancel("TransactionConflict", "None")
		}
		return c.Pass()
	})
	var log bytes.Buffer
	a := newAnnouncer(f.Database, client)
	a.Logger, a.Timeout = slog.New(slog.NewTextHandler(&log, nil)), time.Second
	if result, err := a.Announce(t.Context(), nil); err == nil || result.Announced != 2 || result.Left != 1 ||
		!strings.Contains(log.String(), "token=pat:1 ") {
		t.Error(result, err, log.String())
	}
	assert.Equal(t, []string{"2 1", "3 1"}, f.expiries(t))
}

// Calls end before the deadline, so that the cause can be logged.
func TestAnnounceStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.createPAT(t, "ci", day)
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) { return c.Hang() })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+50*time.Millisecond)
	defer cancel()
	var log bytes.Buffer
	a := newAnnouncer(f.Database, client)
	a.Logger = slog.New(slog.NewTextHandler(&log, nil))
	_, err := a.Announce(ctx, nil)
	if err == nil || ctx.Err() != nil || !strings.Contains(log.String(), "tokens cannot be read") {
		t.Error(err, ctx.Err(), log.String())
	}
}
