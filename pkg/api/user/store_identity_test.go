package user_test

import (
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
)

// TestLink checks that an identity is linked to one person, even if it is linked to another one at the same time, and
// that an unlinked identity is unknown.
func TestLink(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	// superseded links s to ada while it is linked to eve.
	superseded := func() {
		client := db.Before(t, transact, 1, func() {
			calls(t, store, "link 2 | s | | 2 eve <eve@example.com> Editor")
		})
		calls(t, through(db, client), "link 1 | s | | 2 eve <eve@example.com> Editor, identity s: "+
			"link user 1: NameExistsError: Another person is linked to this identity.")
	}
	calls(t, store, ada+eve+`
		service-account | ci | | 3 ci <> Editor
		sign-in | old | | 4 old <> Viewer, identity old
	`)
	superseded()
	calls(t, store, `
		sign-in | s | | 2 eve <eve@example.com> Editor, identity s
		link 4 | new | | 4 old <> Viewer, identity old
		sign-in | new | | 4 old <> Viewer, identity new
		unlink 2 | | | 2 eve <eve@example.com> Editor, identity s
		unlink 2 | | | 2 eve <eve@example.com> Editor
		link 3 | unused | | : link user 3: NotFoundError: There is no person with the id 3.
		unlink 3 | | | : unlink user 3: NotFoundError: There is no person with the id 3.
	`)
	requireItems(t, db, 10) // two counters, four accounts, three reservations and a link
	// A link that counts no more, as after a restore of one table, is made again at the same time.
	db.Put(t, db.Tables["Identifiers"], dynamo.Item{"id": dynamo.S("identity:" + issuer + " s"), "accountId": dynamo.N(2)})
	superseded()
	requireItems(t, db, 11)
	calls(t, store, `
		unlink 2 | | | 2 eve <eve@example.com> Editor, identity s
		sign-in | s | | 5 s <> Viewer, identity s
		sign-in | other | eve@example.com | 2 eve <eve@example.com> Editor, identity other
	`)
}

// TestLinkAfterARestore links people whose items in the two tables do not fit together, because one was restored.
func TestLinkAfterARestore(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	link := func(subject string, id int64) {
		db.Put(t, db.Tables["Identifiers"], dynamo.Item{"id": dynamo.S("identity:" + issuer + " " + subject),
			"accountId": dynamo.N(id)})
	}
	calls(t, store, ada+eve+`
		link 1 | a | | 1 ada <ada@example.com> Editor
		link 2 | b | | 2 eve <eve@example.com> Editor
	`)
	// The link of the old identity is another person's.
	link("a", 2)
	link("b", 1)
	calls(t, store, `
		link 1 | new | | 1 ada <ada@example.com> Editor, identity a
		sign-in | new | | 1 ada <ada@example.com> Editor, identity new
		unlink 2 | | | 2 eve <eve@example.com> Editor, identity b
		unlink 2 | | | 2 eve <eve@example.com> Editor
	`)
	assert.Equal(t, int64(2), db.Get(t, db.Tables["Identifiers"], user.IdentifierKey("identity:"+issuer+" a")).Int("accountId"))
	// A person without events and without a link can be linked, and then changed.
	item := user.Key(7)
	item["kind"], item["name"], item["rootRole"] = dynamo.S("user"), dynamo.S("old"), dynamo.S("Viewer")
	item["identity"] = dynamo.M(dynamo.Item{"issuer": dynamo.S(issuer), "subject": dynamo.S("old")})
	db.Put(t, db.Tables["Users"], item)
	calls(t, store, "link 7 | old | | 7 old <> Viewer, identity old")
	assert.OK(t, store.SetRole(t.Context(), 7, access.RoleEditor))
	calls(t, store, "sign-in | old | | 7 old <> Editor, identity old")
}
