package user_test

import (
	"errors"
	"testing"
	"time"

	"toggleadmin/pkg/user"
)

// TestSignInDistinguishesLetters checks that nobody is found by the address of another mailbox that equals theirs in upper case only.
func TestSignInDistinguishesLetters(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@κόσμος.example"), 1)
	if u, err := store.SignIn(t.Context(), signIn("eve", "ada@κόσμοσ.example")); !errors.Is(err, user.ErrEmailExists) {
		t.Errorf("%+v, %v", u, err)
	}
	signedIn(t, store, signIn("ada", "Ada@ΚόΣΜΟς.example"), 1)
}

// TestSignInIsRefusedWithoutACall checks that a person who was refused causes no further Scan for ten seconds.
func TestSignInIsRefusedWithoutACall(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	client, tap := db.Through(t, nil)
	store := user.NewStore(client, db.Tables)
	in := signIn("eve", "eve@example.com")
	in.DefaultRole = ""
	for range 3 {
		if _, err := store.SignIn(t.Context(), in); !errors.Is(err, user.ErrUnknownIdentity) {
			t.Error(err)
		}
	}
	if tap.Calls() != "GetItem Scan" {
		t.Errorf("calls %s", tap.Calls())
	}
	added, err := user.NewStore(db.Client, db.Tables).Add(t.Context(), person("eve", "other@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	in.Email = "other@example.com" // verified in the meantime
	signedIn(t, store, in, added.ID)
	in = signIn("ada", "ada@example.com")
	in.DefaultRole = ""
	_, _ = store.SignIn(t.Context(), in)
	if added, err = user.NewStore(db.Client, db.Tables).Add(t.Context(), person("ada", "ada@example.com")); err != nil {
		t.Fatal(err)
	}
	in.Now = in.Now.Add(10 * time.Second)
	signedIn(t, store, in, added.ID)
}
