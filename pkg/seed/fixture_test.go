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
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// fixture is a set of empty tables.
type fixture struct {
	*database.Database
	types  *featuretype.Store
	fields *contextfield.Store
	users  *user.Store
}

func newFixture(tb testing.TB) fixture {
	tb.Helper()
	db := database.New(tb)
	return fixture{db, featuretype.NewStore(db.Client, db.Tables, db.Log()),
		contextfield.NewStore(db.Client, db.Tables, db.Log()), user.NewStore(db.Client, db.Tables, db.Log())}
}

func (f fixture) config() seed.Config {
	return seed.Config{Client: f.Client, Tables: f.Tables, Log: f.Log(), Now: now, Random: rand.Reader}
}

func (f fixture) seed(tb testing.TB, known seed.Credentials) seed.Result {
	tb.Helper()
	c := f.config()
	c.Known = known
	r, err := seed.Seed(tb.Context(), c)
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
	for id, name := range f.Tables {
		if n := len(f.Scan(tb, name)); n > 0 {
			got[id] = n
		}
	}
	types, err := f.types.List(tb.Context())
	assert.OK(tb, err)
	assert.Equal(tb, want, got)
	assert.Equal(tb, toggle.DefaultTypes(), types)
}

var errCrashed = errors.New("crashed")

// crash runs a call whose n-th write is its last one: the write is carried out or not, and the process seems to end.
// crash reports whether there was an n-th write.
func crash[T any](tb testing.TB, f fixture, n int, carriedOut bool, run func(context.Context, seed.Config) (T, error)) bool {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	writes, c := 0, f.config()
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
	c.Log = f.LogThrough(c.Client)
	if _, err := run(ctx, c); (err != nil) != (writes >= n) {
		tb.Errorf("write %d: error %v", n, err)
	}
	return writes >= n
}
