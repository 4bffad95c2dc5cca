package stores_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
	"toggleadmin/test/database"
)

// fixture is the stores of one test's tables.
type fixture struct {
	*database.Database
	Users     *user.Store
	PATs      *pat.Store
	APITokens *apitoken.Store
	Tokens    *authorizer.Store
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	return &fixture{
		Database: db, Users: user.NewStore(db.Client, db.Tables), PATs: pat.NewStore(db.Client, db.Tables, rand.Reader),
		APITokens: apitoken.NewStore(db.Client, db.Tables), Tokens: authorizer.NewStore(db.Client, db.Tables),
	}
}

// property is one behavior of a store.
type property struct {
	name string
	test func(t *testing.T, g *fixture)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, p := range tokens() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.test(t, newFixture(t))
		})
	}
}

func account(tb testing.TB, g *fixture, id int64, kind user.Kind) {
	tb.Helper()
	check(tb, g.Users.Create(tb.Context(), user.User{ID: id, Kind: kind, Name: fmt.Sprint(id), Role: auth.RoleEditor}))
}

func create(tb testing.TB, g *fixture, userID int64, description string) {
	tb.Helper()
	expires := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	_, _, err := g.PATs.Create(tb.Context(), pat.PAT{
		UserID: userID, Description: description, CreatedAt: expires.AddDate(-4, 0, 0), ExpiresAt: expires,
	}, pat.Owner{Kind: user.ServiceAccount, Limit: 100})
	check(tb, err)
}

// instant returns a time that is finer than what is stored, and what is stored of it.
func instant() (fine, stored time.Time) {
	return time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200)), time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
}

// unavailable fails the test unless err is dynamo.ErrUnavailable.
func unavailable(tb testing.TB, err error) {
	tb.Helper()
	if !errors.Is(err, dynamo.ErrUnavailable) {
		tb.Errorf("error %v", err)
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
