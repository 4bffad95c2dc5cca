package user_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
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

// identity returns the identity in a text: SUBJECT, or SUBJECT at ISSUER.
func identity(text string) user.Identity {
	subject, other, _ := strings.Cut(text, " at ")
	return user.Identity{Issuer: cmp.Or(other, issuer), Subject: subject}
}

// signIn returns the sign-in of a person with an e-mail address that the issuer has verified. Unknown people become
// viewers.
func signIn(who, email string) user.SignIn {
	return user.SignIn{Identity: identity(who), Email: email, EmailVerified: true, DefaultRole: access.RoleViewer,
		Now: signInTime(), Logger: slog.New(slog.DiscardHandler)}
}

// calls makes the calls of a table, and compares the account that each returns, or the error. The rows have the call,
// the name or the identity, the e-mail address, and
//
//	ID NAME <EMAIL> ROLE, identity SUBJECT, disabled: ERROR
//
// without what there is not. New accounts are those of editors. Options of a sign-in are: unverified (the address is
// not), known (there is no default role), and the person's name.
func calls(tb testing.TB, store *user.Store, rows string) {
	tb.Helper()
	limitedCalls(tb, store, user.DefaultLimit, rows)
}

// limitedCalls is calls with another limit of service accounts.
func limitedCalls(tb testing.TB, store *user.Store, limit int64, rows string) {
	tb.Helper()
	for _, row := range table.Rows(tb, 4, rows) {
		call, option, _ := strings.Cut(row[0], " ")
		id, _ := strconv.ParseInt(option, 10, 64)
		ctx, got := tb.Context(), ""
		var u user.User
		var err error
		switch call {
		case "person":
			u, err = store.Add(ctx,
				user.User{Kind: user.Person, Name: row[1], Email: row[2], Role: access.RoleEditor}, limit)
		case "service-account":
			u, err = store.Add(ctx,
				user.User{Kind: user.ServiceAccount, Name: row[1], Username: row[1], Role: access.RoleEditor},
				limit)
		case "sign-in":
			in := signIn(row[1], row[2])
			switch option {
			case "unverified":
				in.EmailVerified = false
			case "known":
				in.DefaultRole = ""
			default:
				in.Name = option
			}
			u, err = store.SignIn(ctx, in)
		case "link":
			u, err = store.Link(ctx, id, identity(row[1]))
		case "unlink":
			u, err = store.Unlink(ctx, id)
		case "disable", "enable":
			err = store.SetDisabled(ctx, id, call == "disable")
		default:
			tb.Fatalf("unknown call: %s", row)
		}
		if u.ID != 0 {
			got = fmt.Sprintf("%d %s <%s> %s", u.ID, u.Name, u.Email, u.Role)
		}
		if u.Identity != nil {
			got += ", identity " + strings.TrimSuffix(u.Identity.Subject+" at "+u.Identity.Issuer, " at "+issuer)
		}
		if u.Disabled {
			got += ", disabled"
		}
		if err != nil {
			got += ": " + err.Error()
		}
		assert.Equal(tb, row, []string{row[0], row[1], row[2], got})
	}
}

// ada is a person with an e-mail address, and eve another one.
const (
	ada = "person | ada | ada@example.com | 1 ada <ada@example.com> Editor\n"
	eve = "person | eve | eve@example.com | 2 eve <eve@example.com> Editor\n"
)
