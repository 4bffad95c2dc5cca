package user_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/assert"
)

// TestAddUsesEachIDOnce also checks that List orders accounts by id and leaves other items out.
func TestAddUsesEachIDOnce(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create := func(ids ...int64) {
		for _, id := range ids {
			assert.OK(t, store.Create(t.Context(), user.User{ID: id, Kind: user.Person}))
		}
	}
	remove := func(id int64) { db.Delete(t, db.Tables.Users, user.Key(id)) }
	add(t, store, service("1"), service("2"))
	remove(2)
	addAt(t, store, service("3"), 3)
	create(4, 10, 9)
	addAt(t, store, service("11"), 11)
	remove(11)
	create(12)
	remove(12)
	addAt(t, store, service("13"), 13)
	all, err := store.List(t.Context())
	assert.OK(t, err)
	var ids []int64
	for _, u := range all {
		ids = append(ids, u.ID)
	}
	assert.Equal(t, []int64{1, 3, 4, 9, 10, 13}, ids)
	create(access.MaxID - 1)
	addAt(t, store, service("last"), access.MaxID)
	assert.ErrorIs(t, failure(store.Add(t.Context(), service("s"))), user.ErrNoIDsLeft)
}

// TestAddWithCounterBehind checks that a counter that is behind costs a call for each account in between.
func TestAddWithCounterBehind(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	client, tap := db.Through(t, nil)
	store := through(db, client)
	add(t, store, service("1"), service("2"))
	db.Delete(t, db.Tables.Users, user.Key(0)) // the counter
	addAt(t, store, service("3"), 3)
	assert.Equal(t, strings.Repeat(" UpdateItem "+transact, 5), " "+tap.Calls())
}

func TestAddRefusesConflicts(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("one", "a@example.com"), service("one"), service("στάσις \u212a"))
	assert.ErrorIs(t, failure(store.Add(t.Context(), person("two", "A@Example.com"))), user.ErrEmailExists)
	for _, name := range []string{"ONE", "oNe", "ΣΤΆΣΙΣ K"} { // of στάσις and of the Kelvin sign
		assert.ErrorIs(t, failure(store.Add(t.Context(), service(name))), user.ErrUsernameExists)
	}
	// each rejected account has used an id; straße is more than a difference in letter case
	for i, u := range []user.User{person("one", ""), person("one", ""), service("a@example.com"), service("strasse"),
		service("straße")} {
		addAt(t, store, u, int64(8+i))
	}
}
