package user_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/table"
)

const transact = "TransactWriteItems"

func newStore(tb testing.TB) (*user.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return through(db, db.Client), db
}

// through returns another store, which uses a client.
func through(db *database.Database, client *dynamodb.Client) *user.Store {
	return user.NewStore(client, db.Tables, db.LogThrough(client))
}

// items returns the items of both tables, without the ids of events.
func items(tb testing.TB, db *database.Database) []dynamo.Item {
	tb.Helper()
	all := append(db.Scan(tb, db.Tables.Users), db.Scan(tb, db.Tables.Identifiers)...)
	for _, item := range all {
		delete(item, eventlog.AttributeEvent)
	}
	return all
}

func requireItems(tb testing.TB, db *database.Database, n int) {
	tb.Helper()
	if all := items(tb, db); len(all) != n {
		tb.Errorf("%d items, want %d: %v", len(all), n, all)
	}
}

// ignoreEvent ignores the ids of events.
func ignoreEvent() cmp.Option { return cmpopts.IgnoreFields(user.User{}, "LastEvent") }

func person(name, email string) user.User {
	return user.User{Kind: user.Person, Name: name, Email: email, Role: access.RoleViewer}
}

func service(name string) user.User {
	return user.User{Kind: user.ServiceAccount, Name: name, Username: name, Role: access.RoleEditor}
}

// add adds accounts, which get the ids from 1.
func add(tb testing.TB, store *user.Store, accounts ...user.User) {
	tb.Helper()
	for i, u := range accounts {
		addAt(tb, store, u, int64(i+1))
	}
}

// addAt adds an account and fails the test unless it gets the id.
func addAt(tb testing.TB, store *user.Store, u user.User, id int64) {
	tb.Helper()
	added, err := store.Add(tb.Context(), u)
	assert.OK(tb, err)
	assert.Equal(tb, id, added.ID)
}

// failure returns the error of a call.
func failure(_ user.User, err error) error { return err }

func signInTime() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 1_000_000, time.UTC) }

func identity(subject string) user.Identity {
	return user.Identity{Issuer: "https://issuer.example.com", Subject: subject}
}

// signIn returns the sign-in of a subject with an e-mail address that the issuer has verified. Unknown people become
// viewers.
func signIn(subject, email string) user.SignIn {
	return user.SignIn{
		Identity: identity(subject), Email: email, EmailVerified: true, DefaultRole: access.RoleViewer, Now: signInTime(),
		Logger: slog.New(slog.DiscardHandler),
	}
}

// signIns signs in as the rows say, with signIn's subject and address, and compares the ID of the person, or the error.
func signIns(tb testing.TB, store *user.Store, rows string) {
	tb.Helper()
	for _, row := range table.Rows(tb, 3, rows) {
		u, err := store.SignIn(tb.Context(), signIn(row[0], row[1]))
		got := fmt.Sprint(u.ID)
		if err != nil {
			got = err.Error()
		} else {
			assert.Equal(tb, new(identity(row[0])), u.Identity)
		}
		assert.Equal(tb, row[2], got)
	}
}

// signedIn signs in and fails the test unless the person has the id.
func signedIn(tb testing.TB, store *user.Store, in user.SignIn, id int64) user.User {
	tb.Helper()
	u, err := store.SignIn(tb.Context(), in)
	if err != nil || u.ID != id || u.Identity == nil || *u.Identity != in.Identity {
		tb.Fatalf("found %+v, %v, want %d", u, err, id)
	}
	return u
}
