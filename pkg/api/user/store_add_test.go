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
	remove := func(id int64) { db.Delete(t, db.Tables["Users"], user.Key(id)) }
	calls(t, store, `
		person | a | | 1 a <> Editor
		person | a | | 2 a <> Editor
	`)
	remove(2)
	calls(t, store, "person | a | | 3 a <> Editor")
	create(4, 10, 9)
	calls(t, store, "person | a | | 11 a <> Editor")
	remove(11)
	create(12)
	remove(12)
	calls(t, store, "person | a | | 13 a <> Editor")
	all, err := store.List(t.Context())
	assert.OK(t, err)
	var ids []int64
	for _, u := range all {
		ids = append(ids, u.ID)
	}
	assert.Equal(t, []int64{1, 3, 4, 9, 10, 13}, ids)
	create(access.MaxID - 1)
	calls(t, store, `
		person | last | | 2147483647 last <> Editor
		person | a | | : NoAccessError: All ids of accounts, up to 2147483647, are used up.
	`)
}

// TestAddWithCounterBehind checks that a counter that is behind costs a call for each account in between.
func TestAddWithCounterBehind(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	client, tap := db.Through(t, nil)
	store := through(db, client)
	calls(t, store, ada+eve)
	db.Delete(t, db.Tables["Users"], user.Key(0)) // the counter
	calls(t, store, "person | new | | 3 new <> Editor")
	assert.Equal(t, strings.Repeat(" UpdateItem "+transact, 5), " "+tap.Calls())
}

// TestAddRefusesConflicts checks which names are equal: those of στάσις and of the Kelvin sign in other letters, but not
// those of straße. Each account that is refused has used an id.
func TestAddRefusesConflicts(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	calls(t, store, ada+`
		service-account | ada | | 2 ada <> Editor
		service-account | "στάσις \u212a" | | "3 στάσις \u212a <> Editor"
		person | two | ADA@Example.com | : NameExistsError: There is already a person with this e-mail address.
		service-account | ADA | | : NameExistsError: There is already a service account with this username.
		service-account | aDa | | : NameExistsError: There is already a service account with this username.
		service-account | ΣΤΆΣΙΣ K | | : NameExistsError: There is already a service account with this username.
		person | ada | | 8 ada <> Editor
		person | ada | | 9 ada <> Editor
		service-account | ada@example.com | | 10 ada@example.com <> Editor
		service-account | strasse | | 11 strasse <> Editor
		service-account | straße | | 12 straße <> Editor
	`)
}
