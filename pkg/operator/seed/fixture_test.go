package seed_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/operator/seed"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// fixture is a set of empty tables.
type fixture struct{ *database.Database }

func newFixture(tb testing.TB) fixture {
	tb.Helper()
	return fixture{database.New(tb)}
}

func (f fixture) config(known seed.Credentials) seed.Config {
	return seed.Config{Client: f.Client, Tables: f.Tables, Now: now, Random: rand.Reader, Known: known}
}

func (f fixture) seed(tb testing.TB, known seed.Credentials) seed.Result {
	tb.Helper()
	r, err := seed.Seed(tb.Context(), f.config(known))
	assert.OK(tb, err)
	return r
}

// principal is the id of the principal that a token belongs to, or "".
func (f fixture) principal(tb testing.TB, token string) string {
	tb.Helper()
	a := &authorizer.Authenticator{Store: authorizer.NewStore(f.Client, f.Tables, f.Log()), Now: now,
		Logger: slog.New(slog.DiscardHandler)}
	p, _ := a.Authenticate(tb.Context(), token)
	return p.ID
}

// checkCounts checks the number of items in each table, and the feature types.
func (f fixture) checkCounts(tb testing.TB, want map[string]int) {
	tb.Helper()
	got := map[string]int{}
	for id, name := range f.Tables.ByID() {
		if n := len(f.Scan(tb, name)); n > 0 {
			got[id] = n
		}
	}
	types, err := featuretype.NewStore(f.Client, f.Tables, f.Log()).List(tb.Context())
	assert.OK(tb, err)
	assert.Equal(tb, want, got)
	assert.Equal(tb, featuretype.Defaults(), types)
}

var errCrashed = errors.New("crashed")

// crash runs a call whose n-th write is its last one: the write is carried out or not, and the process seems to end.
// crash reports whether there was an n-th write.
func (f fixture) crash(tb testing.TB, n int, carriedOut bool, run func(context.Context, seed.Config) error) bool {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	writes, c := 0, f.config(seed.Credentials{})
	c.Client, _ = f.Through(tb, func(call *database.Call) (*http.Response, error) {
		switch call.Operation {
		case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems":
			writes++
		}
		if writes < n {
			return call.Pass()
		}
		defer cancel()
		if carriedOut && writes == n {
			return call.Lose()
		}
		return nil, errCrashed
	})
	if err := run(ctx, c); (err != nil) != (writes >= n) {
		tb.Errorf("write %d: error %v", n, err)
	}
	return writes >= n
}
