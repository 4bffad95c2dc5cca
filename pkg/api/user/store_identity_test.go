package user_test

import (
	"testing"

	"toggleadmin/pkg/platform/dynamo"
)

// TestLink checks that an identity is linked to one person, even if it is linked to another one at the same time, and
// that an unlinked identity is unknown.
func TestLink(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	// overtaken links s to ada while it is linked to eve.
	overtaken := func() {
		client := db.Before(t, transact, 1, func() {
			calls(t, store, "link 2 | s | | 2 eve <eve@example.com> Editor")
		})
		calls(t, through(db, client), "link 1 | s | | 2 eve <eve@example.com> Editor, identity s: "+
			"link user 1: another person is linked to that identity")
	}
	calls(t, store, ada+eve+`
		service-account | ci | | 3 ci <> Editor
		sign-in | old | | 4 old <> Viewer, identity old
	`)
	overtaken()
	calls(t, store, `
		sign-in | s | | 2 eve <eve@example.com> Editor, identity s
		link 4 | new | | 4 old <> Viewer, identity old
		sign-in | new | | 4 old <> Viewer, identity new
		unlink 2 | | | 2 eve <eve@example.com> Editor, identity s
		unlink 2 | | | 2 eve <eve@example.com> Editor
		link 3 | unused | | : link user 3: no such user
		unlink 3 | | | : unlink user 3: no such user
	`)
	requireItems(t, db, 10) // two counters, four accounts, three reservations and a link
	// A link that counts no more, as after a restore of one table, is made again at the same time.
	db.Put(t, db.Tables.Identifiers, dynamo.Item{"id": dynamo.S("identity:" + issuer + " s"), "accountId": dynamo.N(2)})
	overtaken()
	requireItems(t, db, 11)
	calls(t, store, `
		unlink 2 | | | 2 eve <eve@example.com> Editor, identity s
		sign-in | s | | 5 s <> Viewer, identity s
		sign-in | other | eve@example.com | 2 eve <eve@example.com> Editor, identity other
	`)
}
