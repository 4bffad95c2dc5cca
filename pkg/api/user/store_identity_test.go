package user_test

import (
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

// TestLink checks that an identity is linked to one person, even if it is linked to another one at the same time, and
// that an unlinked identity is unknown.
func TestLink(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, db := newStore(t)
	// superseded links s to ada while it is linked to eve.
	superseded := func() {
		client := db.Before(t, transact, 1, func() {
			assert.Equal(t, "2 eve <eve@example.com> Editor", describe(store.Link(ctx, 2, identity("s"))))
		})
		assert.Equal(t, "2 eve <eve@example.com> Editor, identity s: "+
			"link user 1: NameExistsError: Another person is linked to this identity.",
			describe(through(db, client).Link(ctx, 1, identity("s"))))
	}
	add(t, store, person("ada", "ada@example.com"), person("eve", "eve@example.com"), serviceAccount("ci"))
	assert.Equal(t, "4 old <> Viewer, identity old", describe(store.SignIn(ctx, signIn("old", ""))))
	superseded()
	// A link and its removal return the account as it was before.
	assert.Equal(t, "2 eve <eve@example.com> Editor, identity s", describe(store.SignIn(ctx, signIn("s", ""))))
	assert.Equal(t, "4 old <> Viewer, identity old", describe(store.Link(ctx, 4, identity("new"))))
	assert.Equal(t, "4 old <> Viewer, identity new", describe(store.SignIn(ctx, signIn("new", ""))))
	assert.Equal(t, "2 eve <eve@example.com> Editor, identity s", describe(store.Unlink(ctx, 2)))
	assert.Equal(t, "2 eve <eve@example.com> Editor", describe(store.Unlink(ctx, 2)))
	assert.Equal(t, "link user 3: NotFoundError: There is no person with the id 3.",
		describe(store.Link(ctx, 3, identity("unused"))))
	assert.Equal(t, "unlink user 3: NotFoundError: There is no person with the id 3.", describe(store.Unlink(ctx, 3)))
	requireItems(t, db, 10) // two counters, four accounts, three reservations and a link
	// A link that counts no more, as during a restore, is made again at the same time.
	db.Put(t, db.Tables["Identifiers"], dynamo.Item{"id": dynamo.S("identity:" + issuer + " s"), "accountId": dynamo.N(2)})
	superseded()
	requireItems(t, db, 11)
	assert.Equal(t, "2 eve <eve@example.com> Editor, identity s", describe(store.Unlink(ctx, 2)))
	assert.Equal(t, "5 s <> Viewer, identity s", describe(store.SignIn(ctx, signIn("s", ""))))
	assert.Equal(t, "2 eve <eve@example.com> Editor, identity other",
		describe(store.SignIn(ctx, signIn("other", "eve@example.com"))))
}

// TestLinkAfterARestore links people whose items in the two tables do not fit together, because a restore has not ended.
func TestLinkAfterARestore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, db := newStore(t)
	link := func(subject string, id int64) {
		db.Put(t, db.Tables["Identifiers"], dynamo.Item{"id": dynamo.S("identity:" + issuer + " " + subject),
			"accountId": dynamo.N(id)})
	}
	add(t, store, person("ada", "ada@example.com"), person("eve", "eve@example.com"))
	assert.Equal(t, "1 ada <ada@example.com> Editor", describe(store.Link(ctx, 1, identity("a"))))
	assert.Equal(t, "2 eve <eve@example.com> Editor", describe(store.Link(ctx, 2, identity("b"))))
	// The link of the old identity is another person's.
	link("a", 2)
	link("b", 1)
	assert.Equal(t, "1 ada <ada@example.com> Editor, identity a", describe(store.Link(ctx, 1, identity("new"))))
	assert.Equal(t, "1 ada <ada@example.com> Editor, identity new", describe(store.SignIn(ctx, signIn("new", ""))))
	assert.Equal(t, "2 eve <eve@example.com> Editor, identity b", describe(store.Unlink(ctx, 2)))
	assert.Equal(t, "2 eve <eve@example.com> Editor", describe(store.Unlink(ctx, 2)))
	assert.Equal(t, int64(2), db.Get(t, db.Tables["Identifiers"], user.IdentifierKey("identity:"+issuer+" a")).Int("accountId"))
	// A person without events and without a link can be linked, and then changed.
	item := user.Key(7)
	item["kind"], item["name"], item["rootRole"] = dynamo.S("user"), dynamo.S("old"), dynamo.N(3)
	item["identity"] = dynamo.M(dynamo.Item{"issuer": dynamo.S(issuer), "subject": dynamo.S("old")})
	db.Put(t, db.Tables["Users"], item)
	assert.Equal(t, "7 old <> Viewer, identity old", describe(store.Link(ctx, 7, identity("old"))))
	assert.OK(t, store.SetRole(ctx, 7, access.RoleEditor, true))
	assert.Equal(t, "7 old <> Editor, identity old", describe(store.SignIn(ctx, signIn("old", ""))))
}
