package user_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestItems checks that Create and Add store every member, but no tokens.
func TestItems(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	account := user.User{
		ID: math.MaxInt32 - 1, Kind: user.ServiceAccount, Name: "n", Username: "u", Role: access.RoleEditor,
		PATs: map[string]int64{"ignored": 1},
	}
	assert.OK(t, store.Create(t.Context(), account))
	account.Kind, account.Username, account.Email, account.Role, account.Disabled = user.Person, "", "e@example.com",
		access.RoleAdmin, true
	account.CreatedAt = new(time.Date(2026, 11, 22, 4, 0, 0, 1_000_000, time.UTC))
	addAt(t, store, account, math.MaxInt32)
	for id, want := range map[int64]dynamo.Item{
		math.MaxInt32 - 1: {"kind": dynamo.S("service-account"), "rootRole": dynamo.S("Editor"),
			"disabled": dynamo.Bool(false), "username": dynamo.S("u")},
		math.MaxInt32: {
			"kind": dynamo.S("user"), "rootRole": dynamo.S("Admin"), "email": dynamo.S("e@example.com"),
			"disabled":  dynamo.Bool(true),
			"createdAt": dynamo.S("2026-11-22T04:00:00.001Z"),
		},
	} {
		want["id"], want["name"], want["pats"] = dynamo.N(id), dynamo.S("n"), dynamo.M(nil)
		got := db.Get(t, db.Tables.Users, user.Key(id))
		delete(got, eventlog.AttributeEvent)
		assert.Equal(t, want, got, database.Items())
	}
	item := db.Get(t, db.Tables.Users, user.Key(math.MaxInt32))
	item["pats"] = dynamo.M(dynamo.Item{"k": dynamo.N(7)})
	db.Put(t, db.Tables.Users, item)
	got, err := store.Get(t.Context(), math.MaxInt32)
	assert.OK(t, err)
	account.ID, account.PATs = math.MaxInt32, map[string]int64{"k": 7}
	assert.Equal(t, account, got, ignoreEvent())
}

func TestCreateKeepsAnExistingAccount(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	for _, name := range []string{"first", "second"} {
		assert.OK(t, store.Create(t.Context(), user.User{ID: 1, Kind: user.Person, Name: name}))
	}
	got, err := store.Get(t.Context(), 1)
	assert.OK(t, err)
	assert.Equal(t, "first", got.Name)
}

func TestUnknownAccounts(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, service("s")) // creates the counter, 0
	for _, id := range []int64{0, -1, 2, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64} {
		for _, err := range []error{failure(store.Get(t.Context(), id)), store.SetDisabled(t.Context(), id, true),
			failure(store.Update(t.Context(), id, user.Change{Name: "n"})),
			store.BeginDeletion(t.Context(), user.ServiceAccount, id)} {
			assert.ErrorIs(t, err, user.ErrNotFound)
		}
	}
	requireItems(t, db, 4)
}

func TestSetDisabled(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	want := user.User{ID: 1, Kind: user.Person, Name: "n", Email: "e", Role: access.RoleEditor, PATs: map[string]int64{}}
	assert.OK(t, store.Create(t.Context(), want))
	for _, want.Disabled = range []bool{false, true, true, false} {
		assert.OK(t, store.SetDisabled(t.Context(), 1, want.Disabled))
		got, err := store.Get(t.Context(), 1)
		assert.OK(t, err)
		assert.Equal(t, want, got, ignoreEvent())
	}
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	refuse := func(operation string) *user.Store { return through(db, db.Refusing(t, operation)) }
	ctx := t.Context()
	add := failure(refuse(transact).Add(ctx, user.User{}))
	assert.OK(t, store.Create(ctx, user.User{ID: 7, Kind: user.ServiceAccount}))
	_, list := refuse("Scan").List(ctx)
	_, unfinished := refuse("Scan").Unfinished(ctx)
	for want, err := range map[string]error{
		"get user 7: ": failure(refuse("GetItem").Get(ctx, 7)), "list users: ": list,
		"take an id for a user: ": failure(refuse("UpdateItem").Add(ctx, user.User{})), "add user 1: ": add,
		"change user 7: ":                failure(refuse(transact).Update(ctx, 7, user.Change{Name: "n"})),
		"begin the deletion of user 7: ": refuse(transact).BeginDeletion(ctx, user.ServiceAccount, 7),
		"list unfinished deletions: ":    unfinished,
		"get the link of an identity: ":  failure(refuse("GetItem").SignIn(ctx, signIn("s", ""))),
		"create user 7: ":                refuse(transact).Create(ctx, user.User{ID: 7}),
		"raise the counter of users to 7: ": refuse("UpdateItem").Create(ctx,
			user.User{ID: 7}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
