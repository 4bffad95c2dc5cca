package pat_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

const (
	get      = "GetItem"
	transact = "TransactWriteItems"
	count    = "UpdateItem"
)

// fixture is one test's tables with the stores that use them.
type fixture struct {
	*database.Database
	pats  *pat.Store
	users *user.Store
}

// newFixture creates accounts with the ids: 1 is a person, the others are service accounts.
func newFixture(tb testing.TB, ids ...int64) *fixture {
	tb.Helper()
	db := database.New(tb)
	f := &fixture{Database: db, users: user.NewStore(db.Client, db.Tables, db.Log())}
	f.pats = f.through(db.Client)
	for _, id := range ids {
		u := user.User{ID: id, Kind: user.ServiceAccount, Name: fmt.Sprint(id), Role: access.RoleEditor}
		if id == 1 {
			u.Kind = user.Person
		}
		assert.OK(tb, f.users.Create(tb.Context(), u))
	}
	return f
}

// through returns a store that uses another client.
func (f *fixture) through(client *dynamodb.Client) *pat.Store {
	return pat.NewStore(client, f.Tables, f.LogThrough(client), rand.Reader)
}

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC) }

const day = 24 * time.Hour

func newPAT(userID int64, description string) pat.PAT {
	return pat.PAT{UserID: userID, Description: description, CreatedAt: now(), ExpiresAt: now().AddDate(1, 0, 0)}
}

// expiring returns a token of account 4 that expires after the time.
func expiring(description string, after time.Duration) pat.PAT {
	p := newPAT(4, description)
	p.ExpiresAt = now().Add(after)
	return p
}

// create creates a token of an account of the kind.
func create(ctx context.Context, store *pat.Store, kind user.Kind, p pat.PAT) error {
	_, _, err := store.Create(ctx, p, pat.Owner{Kind: kind, Limit: 100})
	return err
}

// create creates a token of an account.
func (f *fixture) create(tb testing.TB, p pat.PAT) pat.PAT {
	tb.Helper()
	created, _, err := f.pats.Create(tb.Context(), p, pat.Owner{Limit: 100})
	assert.OK(tb, err)
	return created
}

// as returns the context of an actor.
func as(tb testing.TB, name string) context.Context {
	tb.Helper()
	return eventlog.WithActor(tb.Context(), eventlog.Actor{Name: name})
}

// requireConsistent fails the test unless the tokens are exactly those in their owners' maps.
func (f *fixture) requireConsistent(tb testing.TB) {
	tb.Helper()
	all, listErr := f.pats.List(tb.Context())
	accounts, usersErr := f.users.List(tb.Context())
	assert.OK(tb, listErr, usersErr)
	entries, tokens := map[string]int64{}, map[string]int64{}
	for _, u := range accounts {
		for key, id := range u.PATs {
			entries[fmt.Sprint(u.ID, key)] = id
		}
	}
	for _, p := range all {
		tokens[fmt.Sprint(p.UserID, pat.DescriptionKey(p.Description))] = p.ID
	}
	assert.Equal(tb, entries, tokens)
}
