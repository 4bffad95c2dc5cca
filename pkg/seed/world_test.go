package seed_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/seed"
	"toggleadmin/test/database"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// world is a set of empty tables.
type world struct{ *database.Database }

func newWorld(tb testing.TB) world {
	tb.Helper()
	return world{database.New(tb)}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func (w world) config(known seed.Credentials) seed.Config {
	return seed.Config{Client: w.Client, Tables: w.Tables, Now: now, Random: rand.Reader, Known: known}
}

func (w world) seed(tb testing.TB, known seed.Credentials) seed.Result {
	tb.Helper()
	r, err := seed.Seed(tb.Context(), w.config(known))
	check(tb, err)
	return r
}

// principal is the id of the principal that a token belongs to, or "".
func (w world) principal(tb testing.TB, token string) string {
	tb.Helper()
	a := &authorizer.Authenticator{Store: authorizer.NewStore(w.Client, w.Tables), Now: now, Logger: slog.New(slog.DiscardHandler)}
	p, _ := a.Authenticate(tb.Context(), token)
	return p.ID
}

// checkCounts checks the number of items in each table, and the feature types.
func (w world) checkCounts(tb testing.TB, want map[string]int) {
	tb.Helper()
	got := map[string]int{}
	for id, name := range w.Tables.ByID() {
		if n := len(w.Scan(tb, name)); n > 0 {
			got[id] = n
		}
	}
	types, err := featuretype.NewStore(w.Client, w.Tables).List(tb.Context())
	check(tb, err)
	if diff := cmp.Diff(want, got) + cmp.Diff(featuretype.Defaults(), types); diff != "" {
		tb.Error(diff)
	}
}

var errCrashed = errors.New("crashed")

// crash runs a call whose n-th write is its last one: the write is carried out or not, and the process seems to end. crash reports
// whether there was an n-th write.
func (w world) crash(tb testing.TB, n int, carriedOut bool, run func(context.Context, seed.Config) error) bool {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	writes, c := 0, w.config(seed.Credentials{})
	c.Client, _ = w.Through(tb, func(call *database.Call) (*http.Response, error) {
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
