package pat_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
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
	u, err := f.users.Add(tb.Context(), u, user.DefaultLimit)
	assert.OK(tb, err)
	for id := range tokens {
		item := pat.Key(u.ID, id+1)
		item["description"], item["expiresAt"] = dynamo.S(fmt.Sprint(id+1)), dynamo.Time(now())
		f.Put(tb, f.Tables["PersonalAccessTokens"], item)
	}
	return u
}

// accounts returns the items of the three tables without the counters of ids, and without numbers that are 0.
func (f *fixture) accounts(tb testing.TB) (all []dynamo.Item) {
	tb.Helper()
	for _, table := range []string{f.Tables["Users"], f.Tables["Identifiers"], f.Tables["PersonalAccessTokens"]} {
		for _, item := range f.Scan(tb, table) {
			for _, number := range []string{"people", "serviceAccounts"} {
				if item.Int(number) == 0 {
					delete(item, number)
				}
			}
			if item["lastAccountId"] == nil && item["lastId"] == nil && len(item) > 1 {
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
				f := newFixture(t, 99)
				before := f.accounts(t)
				u, types := f.ada(t, kind, 51), "service-account-deleted account service-account-token-deleted"
				if kind == user.Person {
					types = "user-deleted user pat-deleted"
					_, err := f.users.SignIn(t.Context(), signIn())
					assert.OK(t, err)
				}
				created := len(f.Events(t))
				ctx, client := f.Interrupted(as(t, "first"), t, carriedOut/2+1, carriedOut%2 == 1)
				if err := f.through(client).DeleteOwner(ctx, kind, u.ID, true); err == nil {
					t.Error("the deletion did not fail")
				}
				if carriedOut < 7 {
					f.requireUnusable(t, u)
					assert.OK(t, f.pats.DeleteOwner(as(t, "second"), kind, u.ID, true))
				}
				assert.Equal(t, before, f.accounts(t), database.Items())
				assert.Equal(t, apierror.NotFound, apierror.KindOf(f.pats.DeleteOwner(t.Context(), kind, u.ID, true)))
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
			})
		}
	}
}

// requireUnusable fails the test if anything but a deletion accepts an account whose deletion has begun.
func (f *fixture) requireUnusable(t *testing.T, u user.User) {
	t.Helper()
	ctx := t.Context()
	other := user.ServiceAccount
	if u.Kind == user.ServiceAccount {
		other = user.Person
	}
	if _, owner, err := f.pats.Get(ctx, u.ID, 51); apierror.KindOf(err) != apierror.NotFound && !owner.Disabled {
		t.Errorf("the owner of the token: %+v, %v", owner, err)
	}
	_, get := f.users.Get(ctx, u.ID) // which every change of an account begins with
	_, add := f.users.Add(ctx, u, user.DefaultLimit)
	_, signedIn := f.users.SignIn(ctx, signIn())
	assert.Equal(t, apierror.NotFound, apierror.KindOf(get))
	assert.Equal(t, apierror.NameExists, apierror.KindOf(add))
	assert.Equal(t, apierror.AuthenticationRequired, apierror.KindOf(signedIn))
	assert.Equal(t, apierror.NotFound, apierror.KindOf(create(ctx, f.pats, u.Kind, newPAT(u.ID, "new"))))
	assert.Equal(t, apierror.NotFound, apierror.KindOf(create(ctx, f.pats, pat.AnyKind, newPAT(u.ID, "new"))))
	assert.Equal(t, apierror.NotFound, apierror.KindOf(f.pats.DeleteOwner(ctx, other, u.ID, true)))
	all, listErr := f.users.List(ctx)
	unfinished, err := f.users.Unfinished(ctx)
	assert.OK(t, listErr, err)
	if len(all) != 1 || len(unfinished) != 1 || unfinished[0].ID != u.ID || unfinished[0].Kind != u.Kind {
		t.Errorf("listed: %+v, unfinished: %+v", all, unfinished)
	}
}

// TestSlowDeletion checks that a slow deletion does not delete an identifier that a new account has in the meantime: a
// username after another call has ended the deletion, an identity before.
func TestSlowDeletion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, kind := range []user.Kind{user.ServiceAccount, user.Person} {
		f := newFixture(t)
		id := f.ada(t, kind, 1).ID
		var want []dynamo.Item // what does not belong to the deleted account
		store := f.through(f.Before(t, transact, 3, func() {
			if kind == user.ServiceAccount {
				assert.OK(t, f.pats.DeleteOwner(ctx, kind, id, true))
				f.ada(t, kind, 0)
			} else {
				in := signIn()
				in.Email, in.DefaultRole = "", access.RoleViewer
				_, err := f.users.SignIn(ctx, in)
				assert.OK(t, err)
			}
			want = slices.DeleteFunc(f.accounts(t), func(item dynamo.Item) bool {
				return item.Int("id") == id || item.Int("accountId") == id || item.Int("id") == -1
			})
		}))
		if kind == user.Person {
			_, err := f.users.SignIn(ctx, signIn())
			assert.OK(t, err)
		}
		assert.OK(t, store.DeleteOwner(ctx, kind, id, true))
		assert.Equal(t, want, slices.DeleteFunc(f.accounts(t), func(item dynamo.Item) bool { return item.Int("id") == -1 }),
			database.Items())
		if len(want) < 2 {
			t.Errorf("%v, want a new account and its identifier", want)
		}
	}
}

// TestDeletePersonDuringSignIn deletes a person between the calls of two sign-ins that link them: one transaction arrives
// before the deletion begins, although after it read the person, and one after it. Nothing of the person remains.
func TestDeletePersonDuringSignIn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f := newFixture(t)
	id := f.ada(t, user.Person, 1).ID
	deleting := f.through(f.Before(t, transact, 1, func() {
		u, err := f.users.SignIn(ctx, signIn())
		if assert.OK(t, err); u.Identity == nil {
			t.Error("not linked")
		}
	}))
	linking := f.Before(t, transact, 1, func() { assert.OK(t, deleting.DeleteOwner(ctx, user.Person, id, true)) })
	_, err := user.NewStore(linking, f.Tables, f.LogThrough(linking)).SignIn(ctx, signIn())
	assert.Equal(t, apierror.AuthenticationRequired, apierror.KindOf(err))
	assert.Equal(t, 0, len(f.accounts(t)))
}

// The deletion of an account ends its memberships and its roles in projects. The last Owner of a protected project is
// deleted only by force.
func TestDeleteMember(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.ada(t, user.ServiceAccount, 1).ID
	groups := group.NewStore(f.Client, f.Tables, f.Log())
	_, err := groups.Create(t.Context(), accesstable.Group{Name: "g", Members: []int64{id}})
	assert.OK(t, err)
	owner := []access.Role{access.RoleOwner}
	for mode, project := range map[access.Mode]access.Project{
		access.Protected: {ID: "p", Groups: map[int64][]access.Role{1: owner}},
		access.Open:      {ID: "q", Users: map[int64][]access.Role{id: owner}},
	} {
		project.Mode = mode
		f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalProject(project))
	}
	err = f.pats.DeleteOwner(t.Context(), user.ServiceAccount, id, false)
	assert.Equal(t, "ConflictError: The project \"p\" is protected and would have no Owner. Give somebody else the role first.",
		apierror.From(err).Error())
	assert.OK(t, f.pats.DeleteOwner(t.Context(), user.ServiceAccount, id, true))
	g, err := groups.Get(t.Context(), 1)
	assert.OK(t, err)
	q, err := accesstable.NewReader(f.Client, f.Tables).Project(t.Context(), "q")
	assert.OK(t, err)
	assert.Equal(t, []int{0, 0}, []int{len(g.Members), len(q.Users)})
}
