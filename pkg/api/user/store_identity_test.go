package user_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/user"
	"toggleadmin/test/database"
)

// TestLink checks that an identity is linked to one person, even if it is linked to another one at the same time.
func TestLink(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", ""), 1)
	add(t, store, person("eve", ""), 2)
	add(t, store, service("ci"), 3)
	signedIn(t, store, signIn("old", ""), 4)
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 1 {
			if _, err := store.Link(t.Context(), 2, identity("s")); err != nil {
				t.Error(err)
			}
		}
		return c.Pass()
	})
	if u, err := user.NewStore(client, db.Tables, db.LogThrough(client)).Link(t.Context(), 1,
		identity("s")); !errors.Is(err, user.ErrIdentityExists) || u.ID != 2 {
		t.Error(u, err)
	}
	signedIn(t, store, signIn("s", ""), 2)
	if u, err := store.Link(t.Context(), 4, identity("new")); err != nil || u.Identity == nil ||
		*u.Identity != identity("old") {
		t.Error(u, err)
	}
	signedIn(t, store, signIn("new", ""), 4)
	if items := items(t, db); len(items) != 9 { // two counters, four accounts, a reservation and two links
		t.Errorf("items: %v", items)
	}
	for _, id := range []int64{0, -1, 3, 5} {
		if _, err := store.Link(t.Context(), id, identity("unused")); !errors.Is(err, user.ErrNotFound) {
			t.Errorf("link %d: %v", id, err)
		}
	}
}

// TestUnlink checks that an unlinked identity is unknown, and that the person can be linked again.
func TestUnlink(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), 1)
	add(t, store, service("ci"), 2)
	before := items(t, db)
	in := signIn("ada", "ada@example.com")
	signedIn(t, store, in, 1)
	if u, err := store.Unlink(t.Context(), 1); err != nil || u.Identity == nil || *u.Identity != in.Identity {
		t.Error(u, err)
	}
	if diff := cmp.Diff(before, items(t, db), equalItems()); diff != "" {
		t.Error(diff)
	}
	if u, err := store.Unlink(t.Context(), 1); err != nil || u.Identity != nil {
		t.Errorf("a second time: %v, %v", u, err)
	}
	in.Email, in.DefaultRole = "", ""
	if _, err := store.SignIn(t.Context(), in); !errors.Is(err, user.ErrUnknownIdentity) {
		t.Error(err)
	}
	signedIn(t, store, signIn("ada", "ada@example.com"), 1)
	for _, id := range []int64{0, -1, 2, 3} {
		if _, err := store.Unlink(t.Context(), id); !errors.Is(err, user.ErrNotFound) {
			t.Errorf("unlink %d: %v", id, err)
		}
	}
}
