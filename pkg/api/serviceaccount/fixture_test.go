package serviceaccount_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// fixture is one test's tables with the stores and handlers that use them.
type fixture struct {
	*database.Database
	operation.Set
	users *user.Store
	pats  *pat.Store
}

// newFixture also creates a person with the id 1.
func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	f := &fixture{
		Database: db, users: user.NewStore(db.Client, db.Tables, db.Log()),
		pats: pat.NewStore(db.Client, db.Tables, db.Log(), rand.Reader),
	}
	_, err := f.users.Add(tb.Context(), user.User{Kind: user.Person, Name: "Ada", Email: "ada@example.com",
		Role: access.RoleAdmin}, user.DefaultLimit)
	assert.OK(tb, err)
	roles := role.NewStore(db.Client, db.Tables, nil)
	f.Set = operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create": serviceaccount.Create(f.users, roles, now, user.DefaultLimit),
		"update": serviceaccount.Update(f.users, f.pats, roles),
		"list":   serviceaccount.List(f.users, f.pats, roles),
		"delete": serviceaccount.Delete(f.users, f.pats),
	}}
	return f
}

// call is a call of an operation.
type call struct {
	operation string
	id        string // of the account
	body      string
	want      string // the status and the whole response, or the name and the message of the error
}

// expect makes the calls one after the other.
func (f *fixture) expect(t *testing.T, calls []call) {
	t.Helper()
	for _, c := range calls {
		f.Expect(t.Context(), t, c.operation, c.id, c.body, c.want)
	}
}

// noAccount is the response of an operation on an account that does not exist, or is a person's.
func noAccount(id string) string {
	return fmt.Sprintf("404 NotFoundError: There is no service account with the id %q.", id)
}

const (
	usernameExists     = "409 NameExistsError: There is already an account with this username."
	tooMany            = "403 NoAccessError: The maximum number of service accounts (2) is reached. Delete one first."
	noEntityTag        = "412 PreconditionFailed: The resource has no entity tag, so only `*` matches it in `If-Match`."
	matchesIfNoneMatch = "412 PreconditionFailed: The resource exists and matches `If-None-Match`."
)

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_456_789, time.UTC) }

// account adds a service account with tokens.
func (f *fixture) account(tb testing.TB, username string, tokens int) {
	tb.Helper()
	a, err := f.users.Add(tb.Context(), user.User{Kind: user.ServiceAccount, Name: username, Username: username,
		Role: access.RoleEditor, CreatedAt: new(now())}, user.DefaultLimit)
	assert.OK(tb, err)
	for i := range tokens {
		_, _, err := f.pats.Create(tb.Context(), pat.PAT{
			UserID: a.ID, Description: fmt.Sprint("token ", i), CreatedAt: now(), ExpiresAt: now().AddDate(1, 0, 0),
		}, pat.Owner{Kind: user.ServiceAccount, Limit: pat.MostPerOwner})
		assert.OK(tb, err)
	}
}
