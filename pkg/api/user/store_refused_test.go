package user_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/user"
	"toggleadmin/test/database"
)

// TestSignInKeepsIdentity checks that a verified address does not find a person who has an identity, whoever linked it,
// until an operator removes it. A recycled mailbox or another issuer would take over the account.
func TestSignInKeepsIdentity(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), 1)
	add(t, store, person("eve", "eve@example.com"), 2)
	signedIn(t, store, signIn("ada", "ada@example.com"), 1)
	if _, err := store.Link(t.Context(), 2, identity("eve")); err != nil {
		t.Fatal(err)
	}
	before := items(t, db)
	other := signIn("ada", "ada@example.com")
	other.Identity.Issuer = "https://other.example.com"
	for _, in := range []user.SignIn{signIn("new", "ada@example.com"), signIn("new", "eve@example.com"), other} {
		if u, err := store.SignIn(t.Context(), in); !errors.Is(err, user.ErrOtherIdentity) {
			t.Errorf("%+v found %+v, %v", in, u, err)
		}
	}
	if diff := cmp.Diff(before, items(t, db), equalItems()); diff != "" {
		t.Error(diff)
	}
	if _, err := store.Unlink(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	signedIn(t, store, other, 1)
}

// TestSignInOfTwoIdentities checks that the first of two identities with the same address is linked, also if both sign
// in at the same time.
func TestSignInOfTwoIdentities(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), 1)
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 1 {
			signedIn(t, store, signIn("first", "ada@example.com"), 1)
		}
		return c.Pass()
	})
	_, err := user.NewStore(client, db.Tables, db.LogThrough(client)).SignIn(t.Context(),
		signIn("second", "ada@example.com"))
	// counter, person, link and reservation
	if all := items(t, db); !errors.Is(err, user.ErrOtherIdentity) || len(all) != 4 {
		t.Errorf("%v, items: %v", err, all)
	}
}

// TestSignInOfDisabledPerson checks that nobody gets a new account in place of a disabled one whose address the issuer
// sends, verified or not.
func TestSignInOfDisabledPerson(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@example.com"), 1)
	notVerified := signIn("ada", "Ada@Example.com")
	notVerified.EmailVerified = false
	disable := func(id int64, disabled bool) {
		if err := store.SetDisabled(t.Context(), id, disabled); err != nil {
			t.Fatal(err)
		}
	}
	disable(1, true)
	if u, err := store.SignIn(t.Context(), notVerified); !errors.Is(err, user.ErrLockedOut) {
		t.Errorf("%+v, %v", u, err)
	}
	if u := signedIn(t, store, signIn("other", "ada@example.com"), 1); !u.Disabled {
		t.Errorf("%+v", u)
	}
	disable(1, false)
	u, err := store.SignIn(t.Context(), notVerified) // another person
	if err != nil || u.ID == 1 || u.Email != "" || u.Name != "ada" {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestSignInDistinguishesLetters checks that addresses of different mailboxes find different people, although they are
// equal in upper case.
func TestSignInDistinguishesLetters(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@κόσμος.example"), 1)
	signedIn(t, store, signIn("eve", "ada@κόσμοσ.example"), 2)
	signedIn(t, store, signIn("ada", "Ada@ΚόΣΜΟς.example"), 1)
}

// TestSignInWithReservedAddress checks that an address whose account is missing, because one table was restored, is
// refused.
func TestSignInWithReservedAddress(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), 1)
	db.Delete(t, db.Tables.Users, user.Key(1))
	if u, err := store.SignIn(t.Context(), signIn("ada", "ada@example.com")); !errors.Is(err, user.ErrEmailExists) {
		t.Errorf("%+v, %v", u, err)
	}
}
