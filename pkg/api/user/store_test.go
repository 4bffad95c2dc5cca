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

// TestItems checks that Create and Add store every member, but no tokens, and that Create keeps an existing account.
func TestItems(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	account := user.User{
		ID: math.MaxInt32 - 1, Kind: user.ServiceAccount, Name: "n", Username: "u", Role: access.RoleEditor,
		PATs: map[string]int64{"ignored": 1},
	}
	other := account
	other.Name = "other"
	assert.OK(t, store.Create(t.Context(), account), store.Create(t.Context(), other))
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

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	refuse := func(operation string) *user.Store { return through(db, db.Refusing(t, operation)) }
	ctx := t.Context()
	assert.OK(t, store.Create(ctx, user.User{ID: 7, Kind: user.ServiceAccount}))
	reads, counts, writes := refuse("GetItem"), refuse("UpdateItem"), refuse(transact)
	_, list := refuse("Scan").List(ctx)
	_, unfinished := refuse("Scan").Unfinished(ctx)
	for want, err := range map[string]error{
		"get user 7: ":                      failure(reads.Get(ctx, 7)),
		"get the link of an identity: ":     failure(reads.SignIn(ctx, signIn("s", ""))),
		"list users: ":                      list,
		"list unfinished deletions: ":       unfinished,
		"take an id for a user: ":           failure(counts.Add(ctx, user.User{})),
		"raise the counter of users to 7: ": counts.Create(ctx, user.User{ID: 7}),
		"add user 8: ":                      failure(writes.Add(ctx, user.User{})),
		"change user 7: ":                   writes.SetDisabled(ctx, 7, true),
		"begin the deletion of user 7: ":    writes.BeginDeletion(ctx, user.ServiceAccount, 7),
		"create user 7: ":                   writes.Create(ctx, user.User{ID: 7}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
