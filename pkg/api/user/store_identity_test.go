package user_test

import (
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestLink checks that an identity is linked to one person, even if it is linked to another one at the same time.
func TestLink(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", ""), person("eve", ""), service("ci"))
	signIns(t, store, "old | | 4")
	client := db.Before(t, transact, 1, func() {
		assert.OK(t, failure(store.Link(t.Context(), 2, identity("s"))))
	})
	u, err := through(db, client).Link(t.Context(), 1, identity("s"))
	assert.ErrorIs(t, err, user.ErrIdentityExists)
	assert.Equal(t, int64(2), u.ID)
	signIns(t, store, "s | | 2")
	u, err = store.Link(t.Context(), 4, identity("new"))
	assert.OK(t, err)
	assert.Equal(t, new(identity("old")), u.Identity)
	signIns(t, store, "new | | 4")
	// A link that counts no more, as after a restore of one table, is made again at the same time.
	assert.OK(t, failure(store.Unlink(t.Context(), 2)))
	db.Put(t, db.Tables.Identifiers, dynamo.Item{"id": dynamo.S("identity:https://issuer.example.com s"),
		"accountId": dynamo.N(2)})
	client = db.Before(t, transact, 1, func() {
		assert.OK(t, failure(store.Link(t.Context(), 2, identity("s"))))
	})
	assert.ErrorIs(t, failure(through(db, client).Link(t.Context(), 1, identity("s"))), user.ErrIdentityExists)
	requireItems(t, db, 9) // two counters, four accounts, a reservation and two links
	for _, id := range []int64{0, -1, 3, 5} {
		assert.ErrorIs(t, failure(store.Link(t.Context(), id, identity("unused"))), user.ErrNotFound)
	}
}

// TestUnlink checks that an unlinked identity is unknown, and that the person can be linked to another one.
func TestUnlink(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), service("ci"))
	before := items(t, db)
	signIns(t, store, "ada | ada@example.com | 1")
	for _, want := range []*user.Identity{new(identity("ada")), nil} {
		u, err := store.Unlink(t.Context(), 1)
		assert.OK(t, err)
		assert.Equal(t, want, u.Identity)
	}
	assert.Equal(t, before, items(t, db), database.Items())
	signIns(t, store, `
		ada | | 3
		eve | ada@example.com | 1
	`)
	for _, id := range []int64{0, -1, 2, 4} {
		assert.ErrorIs(t, failure(store.Unlink(t.Context(), id)), user.ErrNotFound)
	}
}
