package user_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
	"toggleadmin/test/database"
)

// TestAddUsesEachIDOnce also checks that List orders accounts by id and leaves other items out.
func TestAddUsesEachIDOnce(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, service("1"), 1)
	add(t, store, service("2"), 2)
	db.Delete(t, db.Tables.Users, user.Key(2))
	add(t, store, service("3"), 3)
	create(t, store, user.User{ID: 4, Kind: user.Person, Name: "4"})
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
	if diff := cmp.Diff([]string{"1", "3", "4", "9", "10", "11"}, names); diff != "" {
		t.Error(diff)
	}
	create(t, store, user.User{ID: auth.MaxID - 1, Kind: user.Person})
	if _, err := store.Prepare(t.Context()); err != nil {
		t.Error(err)
	}
	add(t, user.NewStore(db.Client, db.Tables), service("last"), auth.MaxID)
	if _, err := user.NewStore(db.Client, db.Tables).Add(t.Context(), service("s")); err == nil {
		t.Error("an id above the highest was used")
	}
}

// TestAddCalls checks that a Store reads the counter once, and that an account of another process costs one more call.
func TestAddCalls(t *testing.T) {
	t.Parallel()
	other, db := newStore(t)
	add(t, other, service("1"), 1)
	client, tap := db.Through(t, nil)
	store := user.NewStore(client, db.Tables)
	add(t, store, service("2"), 2)
	add(t, store, service("3"), 3)
	add(t, other, service("4"), 4)
	add(t, store, service("5"), 5)
	if want := "GetItem" + strings.Repeat(" TransactWriteItems", 4); tap.Calls() != want {
		t.Errorf("calls %s, want %s", tap.Calls(), want)
	}
}

// earlier writes what an earlier version has written: accounts without username, createdAt and reservation, and a counter above their ids.
func earlier(t *testing.T, db *database.Database) {
	t.Helper()
	account := func(id int64, kind user.Kind, name, email string) {
		item := dynamo.Item{
			"id": dynamo.N(id), "kind": dynamo.S(string(kind)), "name": dynamo.S(name), "rootRole": dynamo.S("Editor"),
			"disabled": dynamo.Bool(false), "pats": dynamo.M(nil),
		}
		if email != "" {
			item["email"] = dynamo.S(email)
		}
		db.Put(t, db.Tables.Users, item)
	}
	account(1, user.Person, "Ada", "ada@example.com")
	account(2, user.Person, "Nobody", "")
	account(5, user.ServiceAccount, "CI", "")
	db.Put(t, db.Tables.Users, dynamo.Item{"id": dynamo.N(0), "lastId": dynamo.N(7)})
}

// TestEarlierAccounts checks that names of accounts of earlier versions are unique, too, even if the first attempt to reserve them fails.
func TestEarlierAccounts(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	earlier(t, db)
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 2 {
			return c.Refuse("ValidationException")
		}
		return c.Pass()
	})
	if _, err := user.NewStore(client, db.Tables).Add(t.Context(), service("ci")); err == nil || !strings.HasPrefix(err.Error(), "reserve the name of user ") {
		t.Errorf("error %v", err)
	}
	for _, tt := range []struct {
		u    user.User
		want error
	}{
		{service("ci"), user.ErrUsernameExists}, {person("n", "ADA@example.com"), user.ErrEmailExists},
	} {
		if _, err := store.Add(t.Context(), tt.u); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v", tt.u, err)
		}
	}
	add(t, store, service("new"), 8)
	renamed, err := store.Update(t.Context(), 5, user.Change{Name: "renamed"})
	want := user.User{ID: 5, Kind: user.ServiceAccount, Name: "renamed", Username: "CI", Role: auth.RoleEditor, PATs: map[string]int64{}}
	if diff := cmp.Diff(want, renamed); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestPrepareDuringDeletion checks that no name stays reserved for an account that was deleted after Prepare had read it.
func TestPrepareDuringDeletion(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	earlier(t, db)
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 1 {
			u, err := store.BeginDeletion(t.Context(), 5)
			if err == nil {
				_, err = dynamo.Transact(t.Context(), db.Client, store.EndDeletion(u))
			}
			if err != nil {
				t.Error(err)
			}
		}
		return c.Pass()
	})
	if last, err := user.NewStore(client, db.Tables).Prepare(t.Context()); last != 7 || err != nil {
		t.Errorf("last id %d, %v", last, err)
	}
	add(t, store, service("ci"), 8)
}

func TestAddRefusesConflicts(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("one", "a@example.com"), 1)
	add(t, store, service("one"), 2)
	add(t, store, service("στάσις \u212a"), 3)
	for _, tt := range []struct {
		u    user.User
		want error
	}{
		{person("two", "A@Example.com"), user.ErrEmailExists}, {service("ONE"), user.ErrUsernameExists}, {service("oNe"), user.ErrUsernameExists},
		{service("ΣΤΆΣΙΣ K"), user.ErrUsernameExists}, // of στάσις and of the Kelvin sign
	} {
		if _, err := store.Add(t.Context(), tt.u); !errors.Is(err, tt.want) {
			t.Errorf("%s %s: %v", tt.u.Name, tt.u.Email, err)
		}
	}
	add(t, store, person("one", ""), 4)
	add(t, store, person("one", ""), 5)
	add(t, store, service("a@example.com"), 6)
	add(t, store, service("strasse"), 7)
	add(t, store, service("straße"), 8) // more than a difference in letter case
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
