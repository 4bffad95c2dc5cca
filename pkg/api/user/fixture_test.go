package user_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
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

// requireItems compares the number of items in both tables.
func requireItems(tb testing.TB, db *database.Database, want int) {
	tb.Helper()
	if all := append(db.Scan(tb, db.Tables["Users"]), db.Scan(tb, db.Tables["Identifiers"])...); len(all) != want {
		tb.Errorf("%d items, want %d: %v", len(all), want, all)
	}
}

// failure returns the error of a call.
func failure(_ user.User, err error) error { return err }

func signInTime() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 1_000_000, time.UTC) }

const issuer = "https://issuer.example.com"

// identity returns a person's identity at the issuer.
func identity(subject string) user.Identity { return user.Identity{Issuer: issuer, Subject: subject} }

// signIn returns the sign-in of a person with an e-mail address that the issuer has verified. Unknown people become
// viewers.
func signIn(subject, email string) user.SignIn {
	return user.SignIn{
		Identity:      identity(subject),
		Email:         email,
		EmailVerified: true,
		DefaultRole:   access.RoleViewer,
		Now:           signInTime(),
		Logger:        slog.New(slog.DiscardHandler),
	}
}

// person returns an editor.
func person(name, email string) user.User {
	return user.User{Kind: user.Person, Name: name, Email: email, Role: access.RoleEditor}
}

// serviceAccount returns an editor.
func serviceAccount(name string) user.User {
	return user.User{Kind: user.ServiceAccount, Name: name, Username: name, Role: access.RoleEditor}
}

// add adds accounts. In an empty store, the first has the id 1.
func add(tb testing.TB, store *user.Store, accounts ...user.User) {
	tb.Helper()
	for _, u := range accounts {
		_, err := store.Add(tb.Context(), u, user.DefaultLimit)
		assert.OK(tb, err)
	}
}

// describe returns what a call returned: the account as "ID NAME <EMAIL> ROLE, identity SUBJECT, disabled", without what
// it does not have, and then the error.
func describe(u user.User, err error) string {
	if u.ID == 0 {
		return fmt.Sprint(err)
	}
	text := fmt.Sprintf("%d %s <%s> %s", u.ID, u.Name, u.Email, u.Role)
	if u.Identity != nil {
		text += ", identity " + u.Identity.Subject
		if u.Identity.Issuer != issuer {
			text += " at " + u.Identity.Issuer
		}
	}
	if u.Disabled {
		text += ", disabled"
	}
	if err != nil {
		text += ": " + err.Error()
	}
	return text
}
