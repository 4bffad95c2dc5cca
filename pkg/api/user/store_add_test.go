package user_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
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
	db.Delete(t, db.Tables.Users, user.Key(11))
	create(t, store, user.User{ID: 12, Kind: user.Person, Name: "12"})
	db.Delete(t, db.Tables.Users, user.Key(12))
	add(t, store, service("13"), 13)
	all, err := store.List(t.Context())
	if err != nil {
		t.Error(err)
	}
	var names []string
	for _, u := range all {
		names = append(names, u.Name)
	}
	if diff := cmp.Diff([]string{"1", "3", "4", "9", "10", "13"}, names); diff != "" {
		t.Error(diff)
	}
	create(t, store, user.User{ID: access.MaxID - 1, Kind: user.Person})
	add(t, store, service("last"), access.MaxID)
	if _, err := store.Add(t.Context(), service("s")); !errors.Is(err, user.ErrNoIDsLeft) {
		t.Error(err)
	}
}

// TestAddSettles checks that an account whose response is lost is added once, even if the engine has forgotten the
// request, and that a counter that is behind costs a call for each account in between.
func TestAddSettles(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	token := regexp.MustCompile(`"ClientRequestToken":"[^"]*"`)
	client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) {
		c.Body = token.ReplaceAllString(c.Body, `"ClientRequestToken":"`+rand.Text()+`"`)
		if c.Operation == "TransactWriteItems" && c.N <= 2 {
			return c.Lose()
		}
		return c.Pass()
	})
	losing := user.NewStore(client, db.Tables, db.LogThrough(client))
	added := service("1")
	added.CreatedAt = new(time.Date(2026, 11, 22, 4, 0, 0, 1_000_000, time.UTC))
	add(t, losing, added, 1)
	add(t, losing, service("2"), 2)
	db.Delete(t, db.Tables.Users, user.Key(0)) // the counter
	add(t, losing, service("3"), 3)
	const add, again = "UpdateItem TransactWriteItems", " TransactWriteItems"
	if want := add + again + again + " PutItem" + strings.Repeat(" "+add, 4); tap.Calls() != want {
		t.Errorf("calls %s, want %s", tap.Calls(), want)
	}
	if all, err := store.List(t.Context()); len(all) != 3 || err != nil {
		t.Error(all, err)
	}
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
		{person("two", "A@Example.com"), user.ErrEmailExists}, {service("ONE"), user.ErrUsernameExists},
		{service("oNe"), user.ErrUsernameExists},
		{service("ΣΤΆΣΙΣ K"), user.ErrUsernameExists}, // of στάσις and of the Kelvin sign
	} {
		if _, err := store.Add(t.Context(), tt.u); !errors.Is(err, tt.want) {
			t.Errorf("%s %s: %v", tt.u.Name, tt.u.Email, err)
		}
	}
	add(t, store, person("one", ""), 8) // each rejected account has used an id
	add(t, store, person("one", ""), 9)
	add(t, store, service("a@example.com"), 10)
	add(t, store, service("strasse"), 11)
	add(t, store, service("straße"), 12) // more than a difference in letter case
}
