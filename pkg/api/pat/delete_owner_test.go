package pat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// signIn returns the sign-in of Ada. Unknown people are not added.
func signIn() user.SignIn {
	return user.SignIn{Identity: user.Identity{Subject: "ada"}, Email: "ada@example.com", EmailVerified: true, Now: now(),
		Logger: slog.New(slog.DiscardHandler)}
}

// ada adds a person or a service account with tokens.
func (f *fixture) ada(tb testing.TB, kind user.Kind, tokens int64) user.User {
	tb.Helper()
	u := user.User{Kind: kind, Name: "Ada", Role: access.RoleAdmin, Email: "ada@example.com"}
	if kind == user.ServiceAccount {
		u.Email, u.Username = "", "ada"
	}
	u, err := f.users.Add(tb.Context(), u)
	assert.OK(tb, err)
	for id := range tokens {
		item := pat.Key(u.ID, id+1)
		item["description"], item["expiresAt"] = dynamo.S(fmt.Sprint(id+1)), dynamo.Time(now())
		f.Put(tb, f.Tables.PersonalAccessTokens, item)
	}
	return u
}

// accounts returns the items of the three tables without the counters of ids.
func (f *fixture) accounts(tb testing.TB) (all []dynamo.Item) {
	tb.Helper()
	for _, table := range []string{f.Tables.Users, f.Tables.Identifiers, f.Tables.PersonalAccessTokens} {
		for _, item := range f.Scan(tb, table) {
			if item["lastAccountId"] == nil && item["lastId"] == nil {
				all = append(all, item)
			}
		}
	}
	return all
}

// TestInterruptedDeletion stops the deletion of an account with 51 tokens at each of its four transactions, before or
// after the transaction is carried out. Another caller ends it. Every deletion is recorded once, by who made it.
func TestInterruptedDeletion(t *testing.T) {
	t.Parallel()
	for _, kind := range []user.Kind{user.Person, user.ServiceAccount} {
		for carriedOut := 1; carriedOut <= 7; carriedOut++ { // in halves of transactions
			t.Run(fmt.Sprint(kind, carriedOut), func(t *testing.T) {
				t.Parallel()
				testInterruptedDeletion(t, kind, carriedOut)
			})
		}
	}
}

func testInterruptedDeletion(t *testing.T, kind user.Kind, carriedOut int) {
	t.Helper()
	f := newFixture(t, 99)
	before := f.accounts(t)
	u, types := f.ada(t, kind, 51), "service-account-deleted account service-account-token-deleted"
	if kind == user.Person {
		types = "user-deleted user pat-deleted"
		_, err := f.users.SignIn(t.Context(), signIn())
		assert.OK(t, err)
	}
	created := len(f.Events(t))
	as := func(name string) context.Context { return eventlog.WithActor(t.Context(), eventlog.Actor{Name: name}) }
	ctx, client := f.Interrupted(as("first"), t, carriedOut/2+1, carriedOut%2 == 1)
	if err := f.through(client).DeleteOwner(ctx, kind, u.ID); err == nil {
		t.Error("the deletion did not fail")
	}
	if carriedOut < 7 {
		f.requireUnusable(t, u)
		assert.OK(t, f.pats.DeleteOwner(as("second"), kind, u.ID))
	}
	assert.Equal(t, before, f.accounts(t), database.Items())
	assert.ErrorIs(t, f.pats.DeleteOwner(t.Context(), kind, u.ID), user.ErrNotFound)
	events, names := f.Events(t)[created:], strings.Fields(types)
	if want := fmt.Sprintf("%s %s:%d by first: before {", names[0], names[1], u.ID); !strings.HasPrefix(events[0], want) {
		t.Errorf("%s, want %s", events[0], want)
	}
	var want []string
	for id := 1; id <= 51; id++ {
		by := "second"
		if carriedOut >= 3+id/51*2 {
			by = "first"
		}
		want = append(want, fmt.Sprintf(`%s pat:%d by %s: before {"id":"%[2]d","userId":%[4]d,"description":"%[2]d",`+
			`"expiresAt":"2026-11-20T05:39:00.123Z"}`, names[2], id, by, u.ID))
	}
	assert.Equal(t, want, events[1:])
}

// requireUnusable fails the test if anything but a deletion accepts an account whose deletion has begun.
func (f *fixture) requireUnusable(t *testing.T, u user.User) {
	t.Helper()
	other, taken, unknown := user.ServiceAccount, user.ErrEmailExists, user.ErrEmailExists
	if u.Kind == user.ServiceAccount {
		other, taken, unknown = user.Person, user.ErrUsernameExists, user.ErrUnknownIdentity
	}
	if _, owner, err := f.pats.Get(t.Context(), u.ID, 51); !errors.Is(err, pat.ErrNotFound) && !owner.Disabled {
		t.Errorf("the owner of the token: %+v, %v", owner, err)
	}
	_, _, create := f.pats.Create(t.Context(), newPAT(u.ID, "new"), pat.Owner{Kind: u.Kind, Limit: 100})
	_, _, createOwn := f.pats.Create(t.Context(), newPAT(u.ID, "new"), pat.Owner{Limit: 100})
	_, update := f.users.Update(t.Context(), u.ID, user.Change{Name: "n"})
	_, link := f.users.Link(t.Context(), u.ID, user.Identity{Subject: "s"})
	_, add := f.users.Add(t.Context(), u)
	_, signedIn := f.users.SignIn(t.Context(), signIn())
	for _, got := range [][2]error{{create, pat.ErrNoOwner}, {createOwn, pat.ErrNoOwner}, {update, user.ErrNotFound},
		{link, user.ErrNotFound}, {add, taken}, {signedIn, unknown},
		{f.users.SetDisabled(t.Context(), u.ID, false), user.ErrNotFound},
		{f.pats.DeleteOwner(t.Context(), other, u.ID), user.ErrNotFound}} {
		assert.ErrorIs(t, got[0], got[1])
	}
	all, listErr := f.users.List(t.Context())
	unfinished, err := f.users.Unfinished(t.Context())
	assert.OK(t, listErr, err)
	if len(all) != 1 || len(unfinished) != 1 || unfinished[0].ID != u.ID || unfinished[0].Kind != u.Kind {
		t.Errorf("listed: %+v, unfinished: %+v", all, unfinished)
	}
}

// TestSlowDeletion ends a deletion after another one, and after the username was given to a new account.
func TestSlowDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.ada(t, user.ServiceAccount, 0).ID
	var want []dynamo.Item
	store := f.through(f.Before(t, transact, 2, func() {
		assert.OK(t, f.pats.DeleteOwner(t.Context(), user.ServiceAccount, id))
		f.ada(t, user.ServiceAccount, 0)
		want = f.accounts(t)
	}))
	assert.OK(t, store.DeleteOwner(t.Context(), user.ServiceAccount, id))
	assert.Equal(t, want, f.accounts(t), database.Items())
}

// TestDeletePersonDuringSignIn deletes a person between the calls of a sign-in that links them. Nothing of the person
// remains.
func TestDeletePersonDuringSignIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.ada(t, user.Person, 1).ID
	linking, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == transact && c.N == 1 {
			deleting, _ := f.Through(t, func(d *database.Call) (*http.Response, error) {
				if d.Operation == transact && d.N == 1 {
					_, _ = c.Lose()
					u, err := f.users.Get(t.Context(), id)
					if assert.OK(t, err); u.Identity == nil {
						t.Error("not linked")
					}
				}
				return d.Pass()
			})
			assert.OK(t, f.through(deleting).DeleteOwner(t.Context(), user.Person, id))
		}
		return c.Pass() // the same transaction again
	})
	_, _ = user.NewStore(linking, f.Tables, f.LogThrough(linking)).SignIn(t.Context(), signIn()) // either result
	assert.Equal(t, 0, len(f.accounts(t)))
}

// TestDeletePersonAfterIdentityIsTaken checks that a slow deletion does not delete the link of a new account with the
// same identity.
func TestDeletePersonAfterIdentityIsTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.ada(t, user.Person, 1).ID
	signedIn := func(store *user.Store, in user.SignIn) int64 {
		u, err := store.SignIn(t.Context(), in)
		assert.OK(t, err)
		return u.ID
	}
	signedIn(f.users, signIn())
	in := signIn()
	in.Email, in.DefaultRole = "", access.RoleViewer
	var added int64
	store := f.through(f.Before(t, transact, 3, func() { added = signedIn(f.users, in) })) // the last one
	assert.OK(t, store.DeleteOwner(t.Context(), user.Person, id))
	in.DefaultRole = ""
	got := signedIn(user.NewStore(f.Client, f.Tables, f.Log()), in)
	if all := f.accounts(t); len(all) != 2 || got != added || got == id { // the new account and its link
		t.Errorf("account %d, want %d, items %v", got, added, all)
	}
}
