package user_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
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
	remove := func(id int64) { db.Delete(t, db.Tables["Users"], user.Key(id)) }
	addA := func() string { return describe(store.Add(t.Context(), person("a", ""), user.DefaultLimit)) }
	assert.Equal(t, "1 a <> Editor", addA())
	assert.Equal(t, "2 a <> Editor", addA())
	remove(2)
	assert.Equal(t, "3 a <> Editor", addA())
	create(4, 10, 9)
	assert.Equal(t, "11 a <> Editor", addA())
	remove(11)
	create(12)
	remove(12)
	assert.Equal(t, "13 a <> Editor", addA())
	all, err := store.List(t.Context())
	assert.OK(t, err)
	var ids []int64
	for _, u := range all {
		ids = append(ids, u.ID)
	}
	assert.Equal(t, []int64{1, 3, 4, 9, 10, 13}, ids)
	create(access.MaxID - 1)
	assert.Equal(t, "2147483647 a <> Editor", addA())
	assert.Equal(t, "NoAccessError: All ids of accounts, up to 2147483647, are used up.", addA())
}

// TestAddWithCounterBehind checks that a counter that is behind costs a call for each account in between.
func TestAddWithCounterBehind(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	client, tap := db.Through(t, nil)
	store := through(db, client)
	add(t, store, person("ada", "ada@example.com"), person("eve", "eve@example.com"))
	db.Delete(t, db.Tables["Users"], user.Key(0)) // the counter
	assert.Equal(t, "3 new <> Editor", describe(store.Add(t.Context(), person("new", ""), user.DefaultLimit)))
	assert.Equal(t, strings.Repeat(" UpdateItem "+transact, 5), " "+tap.Calls())
}

// TestAddRejectsConflicts checks which names are equal: those of στάσις and of the Kelvin sign in other letters, but
// not those of straße. Each account that is rejected has used an id.
func TestAddRejectsConflicts(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@example.com"))
	const usernameExists = "NameExistsError: There is already an account with this username."
	for _, test := range []struct {
		account user.User
		want    string
	}{
		{serviceAccount("ada"), "2 ada <> Editor"},
		{serviceAccount("στάσις \u212a"), "3 στάσις \u212a <> Editor"},
		{person("two", "ADA@Example.com"), "NameExistsError: There is already a person with this e-mail address."},
		{serviceAccount("ADA"), usernameExists},
		{serviceAccount("aDa"), usernameExists},
		{serviceAccount("ΣΤΆΣΙΣ K"), usernameExists},
		{person("ada", ""), "8 ada <> Editor"},
		{person("ada", ""), "9 ada <> Editor"},
		{serviceAccount("ada@example.com"), "10 ada@example.com <> Editor"},
		{serviceAccount("strasse"), "11 strasse <> Editor"},
		{serviceAccount("straße"), "12 straße <> Editor"},
	} {
		assert.Equal(t, test.want, describe(store.Add(t.Context(), test.account, user.DefaultLimit)))
	}
}
