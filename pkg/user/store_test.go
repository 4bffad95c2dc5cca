package user_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
	"toggleadmin/test/database"
)

func newStore(tb testing.TB) (*user.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return user.NewStore(db.Client, db.Tables), db
}

func person(name, email string) user.User {
	return user.User{Kind: user.Person, Name: name, Email: email, Role: auth.RoleViewer}
}

func service(name string) user.User {
	return user.User{Kind: user.ServiceAccount, Name: name, Role: auth.RoleEditor}
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
		ID: math.MaxInt32 - 1, Kind: user.ServiceAccount, Name: "n", Role: auth.RoleEditor, PATs: map[string]int64{"ignored": 1},
	}
	create(t, store, account)
	account.Kind, account.Email, account.Role, account.Disabled = user.Person, "e@example.com", auth.RoleAdmin, true
	add(t, store, account, math.MaxInt32)
	for id, want := range map[int64]dynamo.Item{
		math.MaxInt32 - 1: {"kind": dynamo.S("service-account"), "rootRole": dynamo.S("Editor"), "disabled": dynamo.Bool(false)},
		math.MaxInt32: {
			"kind": dynamo.S("user"), "rootRole": dynamo.S("Admin"), "email": dynamo.S("e@example.com"), "disabled": dynamo.Bool(true),
		},
	} {
		want["id"], want["name"], want["pats"] = dynamo.N(id), dynamo.S("n"), dynamo.M(nil)
		if diff := database.DiffItems(want, db.Get(t, db.Tables.Users, user.Key(id))); diff != "" {
			t.Error(diff)
		}
	}
	got, err := store.Get(t.Context(), math.MaxInt32)
	account.ID, account.PATs = math.MaxInt32, map[string]int64{}
	if diff := cmp.Diff(account, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	db.Put(t, db.Tables.Users, dynamo.Item{"id": dynamo.N(2), "pats": dynamo.M(dynamo.Item{"k": dynamo.N(7)})})
	if u, err := store.Get(t.Context(), 2); err != nil || u.PATs["k"] != 7 {
		t.Error(u, err)
	}
}

func TestCreateKeepsAnExistingAccount(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	first := user.User{ID: 1, Kind: user.Person, Name: "first"}
	create(t, store, first)
	create(t, store, user.User{ID: 1, Kind: user.Person, Name: "second"})
	if failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{store.Creation(first)}); err != nil || failures == nil {
		t.Errorf("in a transaction: %v", err)
	}
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
	}
	if items := db.Scan(t, db.Tables.Users); len(items) != 2 {
		t.Errorf("items: %v", items)
	}
}

func TestSetDisabled(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	want := user.User{ID: 1, Kind: user.Person, Name: "n", Email: "e", Role: auth.RoleEditor, PATs: map[string]int64{}}
	create(t, store, want)
	for _, want.Disabled = range []bool{false, true, true, false} {
		if err := store.SetDisabled(t.Context(), 1, want.Disabled); err != nil {
			t.Error(err)
		}
		got, err := store.Get(t.Context(), 1)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

// TestAddUsesEachIDOnce also checks that List orders accounts by id and leaves the counter out.
func TestAddUsesEachIDOnce(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, service("1"), 1)
	add(t, store, service("2"), 2)
	db.Delete(t, db.Tables.Users, user.Key(2))
	add(t, store, service("3"), 3)
	create(t, store, user.User{ID: 10, Kind: user.Person, Name: "10"})
	create(t, store, user.User{ID: 9, Kind: user.Person, Name: "9"})
	add(t, store, service("11"), 11)
	all, err := store.List(t.Context())
	if err != nil {
		t.Error(err)
	}
	var names []string
	for _, u := range all {
		names = append(names, u.Name)
	}
	if diff := cmp.Diff([]string{"1", "3", "9", "10", "11"}, names); diff != "" {
		t.Error(diff)
	}
	create(t, store, user.User{ID: auth.MaxID, Kind: user.Person})
	if _, err := store.Add(t.Context(), service("s")); err == nil {
		t.Error("an id above the highest was used")
	}
}

func TestAddRefusesConflicts(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("one", "a@example.com"), 1)
	add(t, store, service("one"), 2)
	for _, tt := range []struct {
		u    user.User
		want error
	}{
		{person("two", "A@Example.com"), user.ErrEmailExists}, {service("ONE"), user.ErrNameExists},
	} {
		if _, err := store.Add(t.Context(), tt.u); !errors.Is(err, tt.want) {
			t.Errorf("%s %s: %v", tt.u.Name, tt.u.Email, err)
		}
	}
	add(t, store, person("one", ""), 3)
	add(t, store, person("one", ""), 4)
	add(t, store, service("a@example.com"), 5)
}

// TestAddConcurrently checks that concurrent calls use neither an id nor an address twice.
func TestAddConcurrently(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	const clients = 8
	var running sync.WaitGroup
	var errs [clients]error
	for i := range clients {
		running.Go(func() {
			_, err := store.Add(t.Context(), service(fmt.Sprint(i)))
			_, errs[i] = store.Add(t.Context(), person("n", "same@example.com"))
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	added := 0
	for _, err := range errs {
		if err == nil {
			added++
		} else if !errors.Is(err, user.ErrEmailExists) {
			t.Error(err)
		}
	}
	all, err := store.List(t.Context())
	if err != nil || added != 1 || len(all) != clients+1 || all[clients].ID != clients+1 {
		t.Errorf("one address was added %d times; %d accounts, %v", added, len(all), err)
	}
}

func TestAddLosesEveryRace(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" {
			add(t, store, service(fmt.Sprint(c.N)), int64(c.N))
			if c.N == 3 {
				defer cancel()
			}
		}
		return c.Pass()
	})
	_, err := user.NewStore(client, db.Tables).Add(ctx, service("s"))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
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
		return user.NewStore(client, db.Tables)
	}
	ctx := t.Context()
	_, get := refuse("GetItem").Get(ctx, 7)
	_, list := refuse("Scan").List(ctx)
	_, counter := refuse("GetItem").Add(ctx, user.User{})
	_, scan := refuse("Scan").Add(ctx, user.User{})
	_, add := refuse("TransactWriteItems").Add(ctx, user.User{})
	for _, tt := range []struct {
		want string
		err  error
	}{
		{"get user 7: ", get}, {"list users: ", list}, {"read the counter of users: ", counter}, {"list users: ", scan}, {"add user 1: ", add},
		{"create user 7: ", refuse("PutItem").Create(ctx, user.User{ID: 7})}, {"set user 7 disabled: ", refuse("UpdateItem").SetDisabled(ctx, 7, true)},
	} {
		if tt.err == nil || !strings.HasPrefix(tt.err.Error(), tt.want) {
			t.Errorf("error %v, want %q", tt.err, tt.want)
		}
	}
}
