package user_test

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func newStore(tb testing.TB) (*user.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return user.NewStore(db.Client, db.Tables, db.Log()), db
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

// ignoreEvent ignores the ids of events.
func ignoreEvent() cmp.Option { return cmpopts.IgnoreFields(user.User{}, "LastEvent") }

func equalItems() cmp.Option {
	return cmp.Comparer(func(a, b dynamo.Item) bool { return database.DiffItems(a, b) == "" })
}

func person(name, email string) user.User {
	return user.User{Kind: user.Person, Name: name, Email: email, Role: access.RoleViewer}
}

func service(name string) user.User {
	return user.User{Kind: user.ServiceAccount, Name: name, Username: name, Role: access.RoleEditor}
}

// add adds an account and fails the test unless it gets the id.
func add(tb testing.TB, store *user.Store, u user.User, id int64) {
	tb.Helper()
	added, err := store.Add(tb.Context(), u)
	if err != nil {
		tb.Fatal(err)
	}
	if added.ID != id {
		tb.Errorf("id %d, want %d", added.ID, id)
	}
}

func create(tb testing.TB, store *user.Store, u user.User) {
	tb.Helper()
	if err := store.Create(tb.Context(), u); err != nil {
		tb.Fatal(err)
	}
}

// TestItems checks that Create and Add store every member, but no tokens.
func TestItems(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	account := user.User{
		ID: math.MaxInt32 - 1, Kind: user.ServiceAccount, Name: "n", Username: "u", Role: access.RoleEditor,
		PATs: map[string]int64{"ignored": 1},
	}
	create(t, store, account)
	account.Kind, account.Username, account.Email, account.Role, account.Disabled = user.Person, "", "e@example.com",
		access.RoleAdmin, true
	account.CreatedAt = new(time.Date(2026, 11, 22, 4, 0, 0, 1_000_000, time.UTC))
	add(t, store, account, math.MaxInt32)
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
		if diff := database.DiffItems(want, got); diff != "" {
			t.Error(diff)
		}
	}
	got, err := store.Get(t.Context(), math.MaxInt32)
	account.ID, account.PATs = math.MaxInt32, map[string]int64{}
	if diff := cmp.Diff(account, got, ignoreEvent()); err != nil || diff != "" {
		t.Error(err, diff)
	}
	db.Put(t, db.Tables.Users, dynamo.Item{"id": dynamo.N(2), "kind": dynamo.S("user"),
		"pats": dynamo.M(dynamo.Item{"k": dynamo.N(7)})})
	if u, err := store.Get(t.Context(), 2); err != nil || u.PATs["k"] != 7 {
		t.Error(u, err)
	}
}

func TestCreateKeepsAnExistingAccount(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	first := user.User{ID: 1, Kind: user.Person, Name: "first"}
	create(t, store, first)
	create(t, store, user.User{ID: 1, Kind: user.Person, Name: "second"})
	if got, err := store.Get(t.Context(), 1); err != nil || got.Name != "first" {
		t.Error(got, err)
	}
}

func TestUnknownAccounts(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, service("s"), 1) // creates the counter, 0
	for _, id := range []int64{0, -1, 2, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64} {
		if _, err := store.Get(t.Context(), id); !errors.Is(err, user.ErrNotFound) {
			t.Errorf("get %d: %v", id, err)
		}
		if err := store.SetDisabled(t.Context(), id, true); !errors.Is(err, user.ErrNotFound) {
			t.Errorf("disable %d: %v", id, err)
		}
		if _, err := store.Update(t.Context(), id, user.Change{Name: "n"}); !errors.Is(err, user.ErrNotFound) {
			t.Errorf("update %d: %v", id, err)
		}
		if err := store.BeginDeletion(t.Context(), user.ServiceAccount, id); !errors.Is(err, user.ErrNotFound) {
			t.Errorf("delete %d: %v", id, err)
		}
	}
	if all := items(t, db); len(all) != 4 {
		t.Errorf("items: %v", all)
	}
}

func TestSetDisabled(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	want := user.User{ID: 1, Kind: user.Person, Name: "n", Email: "e", Role: access.RoleEditor, PATs: map[string]int64{}}
	create(t, store, want)
	for _, want.Disabled = range []bool{false, true, true, false} {
		if err := store.SetDisabled(t.Context(), 1, want.Disabled); err != nil {
			t.Error(err)
		}
		got, err := store.Get(t.Context(), 1)
		if diff := cmp.Diff(want, got, ignoreEvent()); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	refuse := func(operation string) *user.Store {
		client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == operation {
				return c.Refuse("ValidationException")
			}
			return c.Pass()
		})
		return user.NewStore(client, db.Tables, db.LogThrough(client))
	}
	ctx := t.Context()
	_, get := refuse("GetItem").Get(ctx, 7)
	_, list := refuse("Scan").List(ctx)
	_, counter := refuse("UpdateItem").Add(ctx, user.User{})
	_, add := refuse("TransactWriteItems").Add(ctx, user.User{})
	create(t, user.NewStore(db.Client, db.Tables, db.Log()), user.User{ID: 7, Kind: user.ServiceAccount})
	_, update := refuse("TransactWriteItems").Update(ctx, 7, user.Change{Name: "n"})
	begin := refuse("TransactWriteItems").BeginDeletion(ctx, user.ServiceAccount, 7)
	_, unfinished := refuse("Scan").Unfinished(ctx)
	for _, tt := range []struct {
		want string
		err  error
	}{
		{"get user 7: ", get}, {"list users: ", list}, {"take an id for a user: ", counter}, {"add user 1: ", add},
		{"change user 7: ", update}, {"begin the deletion of user 7: ", begin}, {"list unfinished deletions: ", unfinished},
		{"create user 7: ", refuse("TransactWriteItems").Create(ctx, user.User{ID: 7})},
		{"raise the counter of users to 7: ", refuse("UpdateItem").Create(ctx, user.User{ID: 7})},
	} {
		if tt.err == nil || !strings.HasPrefix(tt.err.Error(), tt.want) {
			t.Errorf("error %v, want %q", tt.err, tt.want)
		}
	}
}
