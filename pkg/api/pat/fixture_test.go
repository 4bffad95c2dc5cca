package pat_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/database"
)

// fixture is one test's tables with the stores that use them.
type fixture struct {
	*database.Database
	pats  *pat.Store
	users *user.Store
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	return &fixture{Database: db, pats: pat.NewStore(db.Client, db.Tables, db.Log(), rand.Reader),
		users: user.NewStore(db.Client, db.Tables, db.Log())}
}

// serviceAccounts creates service accounts with the ids.
func (f *fixture) serviceAccounts(tb testing.TB, ids ...int64) {
	tb.Helper()
	for _, id := range ids {
		f.account(tb, id, user.ServiceAccount)
	}
}

func (f *fixture) account(tb testing.TB, id int64, kind user.Kind) {
	tb.Helper()
	if err := f.users.Create(tb.Context(), user.User{ID: id, Kind: kind, Name: fmt.Sprint(id),
		Role: access.RoleEditor}); err != nil {
		tb.Fatal(err)
	}
}

func owner(limit int) pat.Owner { return pat.Owner{Kind: user.ServiceAccount, Limit: limit} }

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC) }

func newPAT(userID int64, description string) pat.PAT {
	return pat.PAT{UserID: userID, Description: description, CreatedAt: now(), ExpiresAt: now().AddDate(1, 0, 0)}
}

// create creates a token of a service account.
func (f *fixture) create(tb testing.TB, userID int64, description string) (pat.PAT, access.Token) {
	tb.Helper()
	p, token, err := f.pats.Create(tb.Context(), newPAT(userID, description), owner(100))
	if err != nil {
		tb.Fatal(err)
	}
	return p, token
}

// requireConsistent fails the test unless the tokens are exactly those in their owners' maps, and no id is above the
// counter.
func (f *fixture) requireConsistent(tb testing.TB) {
	tb.Helper()
	stored, listErr := f.pats.List(tb.Context())
	accounts, usersErr := f.users.List(tb.Context())
	last, counterErr := f.pats.LastID(tb.Context())
	if err := errors.Join(listErr, usersErr, counterErr); err != nil {
		tb.Fatal(err)
	}
	entries := map[string]int64{}
	for _, u := range accounts {
		for key, id := range u.PATs {
			entries[fmt.Sprint(u.ID, key)] = id
		}
	}
	for _, p := range stored {
		if entries[fmt.Sprint(p.UserID, pat.DescriptionKey(p.Description))] != p.ID || p.ID > last {
			tb.Errorf("PAT %d of user %d is not in the map %v, or is above the counter, %d", p.ID, p.UserID, entries, last)
		}
	}
	if len(stored) != len(entries) {
		tb.Errorf("%d tokens, but the accounts' maps contain %v", len(stored), entries)
	}
}
