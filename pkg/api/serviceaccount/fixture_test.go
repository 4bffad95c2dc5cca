package serviceaccount_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
)

// fixture is one test's tables with the stores and handlers that use them.
type fixture struct {
	*database.Database
	operation.Set
	store *serviceaccount.Store
	users *user.Store
	pats  *pat.Store
}

// newFixture also creates a person with the id 1.
func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	f := &fixture{
		Database: db, store: serviceaccount.NewStore(db.Client, db.Tables, db.Log()),
		users: user.NewStore(db.Client, db.Tables, db.Log()),
		pats:  pat.NewStore(db.Client, db.Tables, db.Log(), rand.Reader),
	}
	_, err := f.users.Add(tb.Context(), user.User{Kind: user.Person, Name: "Ada", Email: "ada@example.com",
		Role: access.RoleAdmin})
	assert.OK(tb, err)
	f.Set = operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create": serviceaccount.Create(f.users, now), "update": serviceaccount.Update(f.store),
		"list": serviceaccount.List(f.store), "delete": serviceaccount.Delete(f.store),
	}}
	return f
}

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_456_789, time.UTC) }

// account adds a service account with tokens.
func (f *fixture) account(tb testing.TB, username string, tokens int) {
	tb.Helper()
	a, err := f.users.Add(tb.Context(), user.User{Kind: user.ServiceAccount, Name: username, Username: username,
		Role: access.RoleEditor, CreatedAt: new(now())})
	assert.OK(tb, err)
	for i := range tokens {
		_, _, err := f.pats.Create(tb.Context(), pat.PAT{
			UserID: a.ID, Description: fmt.Sprint("token ", i), CreatedAt: now(), ExpiresAt: now().AddDate(1, 0, 0),
		}, pat.Owner{Kind: user.ServiceAccount, Limit: pat.MostPerOwner})
		assert.OK(tb, err)
	}
}
