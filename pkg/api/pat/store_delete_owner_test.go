package pat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

// signIn returns the sign-in of Ada. Unknown people are not added.
func signIn() user.SignIn {
	return user.SignIn{
		Identity: user.Identity{Issuer: "https://issuer.example.com", Subject: "ada"}, Email: "ada@example.com",
		EmailVerified: true,
		Now:           now(), Logger: slog.New(slog.DiscardHandler),
	}
}

// ada adds a person with a token and returns its id.
func (f *fixture) ada(tb testing.TB) int64 {
	tb.Helper()
	u, err := f.users.Add(tb.Context(), user.User{Kind: user.Person, Name: "Ada", Email: "ada@example.com",
		Role: access.RoleAdmin})
	if err != nil {
		tb.Fatal(err)
	}
	if _, _, err := f.pats.Create(tb.Context(), newPAT(u.ID, "t"), pat.Owner{Kind: user.Person, Limit: 1}); err != nil {
		tb.Fatal(err)
	}
	return u.ID
}

// accounts returns the items of the three tables without the counters.
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

func (f *fixture) requireAccounts(tb testing.TB, want []dynamo.Item) {
	tb.Helper()
	equal := cmp.Comparer(func(a, b dynamo.Item) bool { return database.DiffItems(a, b) == "" })
	if diff := cmp.Diff(want, f.accounts(tb), equal); diff != "" {
		tb.Error(diff)
	}
}

// TestDeletePerson stops the deletion of a person at each of its calls, before or after the call is carried out, and
// repeats it.
func TestDeletePerson(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		crash      int // number of the call
		carriedOut bool
	}{{2, true}, {4, false}, {4, true}, {7, false}, {7, true}} { // the others are reads
		t.Run(fmt.Sprintf("call %d, carried out: %t", tt.crash, tt.carriedOut), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id := f.ada(t)
			if u, err := f.users.SignIn(t.Context(), signIn()); err != nil || u.ID != id {
				t.Fatal(u, err)
			}
			if err := f.pats.DeleteOwner(t.Context(), user.ServiceAccount, id); !errors.Is(err, user.ErrNotFound) {
				t.Errorf("as a service account: %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
				if calls++; calls < tt.crash {
					return c.Pass()
				}
				defer cancel()
				if tt.carriedOut && calls == tt.crash {
					return c.Lose()
				}
				return nil, errors.New("crash")
			})
			if err := pat.NewStore(client, f.Tables, f.LogThrough(client), nil).DeleteOwner(ctx, user.Person, id); err == nil {
				t.Error("the deletion did not fail")
			}
			if ended := tt.crash == 7 && tt.carriedOut; !ended {
				f.requireUnusable(t, id)
				if err := f.pats.DeleteOwner(t.Context(), user.Person, id); err != nil {
					t.Error(err)
				}
			}
			f.requireAccounts(t, nil)
			if err := f.pats.DeleteOwner(t.Context(), user.Person, id); !errors.Is(err, user.ErrNotFound) {
				t.Error(err)
			}
			in := signIn()
			in.DefaultRole = access.RoleViewer
			if u, err := f.users.SignIn(t.Context(), in); err != nil || u.ID == id || u.Role != access.RoleViewer {
				t.Errorf("the next sign-in: %+v, %v", u, err)
			}
		})
	}
}

// requireUnusable fails the test if anything but a deletion accepts Ada, whose deletion has begun.
func (f *fixture) requireUnusable(t *testing.T, id int64) {
	t.Helper()
	if _, owner, err := f.pats.Get(t.Context(), id, 1); !errors.Is(err, pat.ErrNotFound) &&
		(err != nil || !owner.Disabled) {
		t.Errorf("the owner of the token: %+v, %v", owner, err)
	}
	if u, err := f.users.SignIn(t.Context(), signIn()); !errors.Is(err, user.ErrEmailExists) {
		t.Errorf("sign-in: %+v, %v", u, err)
	}
	if _, err := f.users.Link(t.Context(), id, user.Identity{Subject: "s"}); !errors.Is(err, user.ErrNotFound) {
		t.Errorf("link: %v", err)
	}
	if err := f.users.SetDisabled(t.Context(), id, false); !errors.Is(err, user.ErrNotFound) {
		t.Errorf("enable: %v", err)
	}
	if err := f.pats.DeleteOwner(t.Context(), user.ServiceAccount, id); !errors.Is(err, user.ErrNotFound) {
		t.Errorf("delete as a service account: %v", err)
	}
	if all, err := f.users.Unfinished(t.Context()); err != nil || len(all) != 1 || all[0].ID != id ||
		all[0].Kind != user.Person {
		t.Errorf("unfinished: %+v, %v", all, err)
	}
}

// TestDeletePersonDuringSignIn deletes a person between the calls of a sign-in that links them. Nothing of the person
// remains.
func TestDeletePersonDuringSignIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.ada(t)
	linking, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation != "TransactWriteItems" || c.N != 1 {
			return c.Pass()
		}
		deleting, _ := f.Through(t, func(d *database.Call) (*http.Response, error) {
			if d.Operation == "TransactWriteItems" && d.N == 1 {
				if response, err := c.Pass(); err != nil || response.StatusCode != http.StatusOK { // links
					t.Error(response, err)
				}
			}
			return d.Pass()
		})
		if err := pat.NewStore(deleting, f.Tables, f.LogThrough(deleting), nil).DeleteOwner(t.Context(), user.Person,
			id); err != nil {
			t.Error(err)
		}
		return c.Pass() // the same transaction again
	})
	_, _ = user.NewStore(linking, f.Tables, f.LogThrough(linking)).SignIn(t.Context(), signIn()) // either result
	f.requireAccounts(t, nil)
}

// TestDeletePersonAfterIdentityIsTaken checks that a slow deletion does not delete the link of a new account with the
// same identity.
func TestDeletePersonAfterIdentityIsTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.ada(t)
	in := signIn()
	if _, err := f.users.SignIn(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.Email, in.DefaultRole = "", access.RoleViewer
	var added user.User
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 3 { // the last one
			var err error
			if added, err = f.users.SignIn(t.Context(), in); err != nil {
				t.Error(err)
			}
		}
		return c.Pass()
	})
	if err := pat.NewStore(client, f.Tables, f.LogThrough(client), nil).DeleteOwner(t.Context(), user.Person,
		id); err != nil {
		t.Fatal(err)
	}
	in.DefaultRole = ""
	if u, err := user.NewStore(f.Client, f.Tables, f.Log()).SignIn(t.Context(), in); err != nil || u.ID != added.ID ||
		u.ID == id {
		t.Errorf("%+v, %v, want %+v", u, err, added)
	}
	if n := len(f.accounts(t)); n != 2 { // the new account and its link
		t.Errorf("%d items", n)
	}
}
