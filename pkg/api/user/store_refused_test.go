package user_test

import (
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestSignInKeepsIdentity checks that a verified address does not find a person who has an identity, whoever linked it,
// until an operator removes it. A recycled mailbox or another issuer would take over the account.
func TestSignInKeepsIdentity(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), person("eve", "eve@example.com"))
	signIns(t, store, "ada | ada@example.com | 1")
	assert.OK(t, failure(store.Link(t.Context(), 2, identity("eve"))))
	before := items(t, db)
	other := signIn("ada", "ada@example.com")
	other.Identity.Issuer = "https://other.example.com"
	for _, in := range []user.SignIn{signIn("new", "ada@example.com"), signIn("new", "eve@example.com"), other} {
		assert.ErrorIs(t, failure(store.SignIn(t.Context(), in)), user.ErrOtherIdentity)
	}
	assert.Equal(t, before, items(t, db), database.Items())
	assert.OK(t, failure(store.Unlink(t.Context(), 1)))
	signedIn(t, store, other, 1)
}

// TestSignInOfTwoIdentities checks that the first of two identities with the same address is linked, also if both sign
// in at the same time.
func TestSignInOfTwoIdentities(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"))
	client := db.Before(t, transact, 1, func() { signIns(t, store, "first | ada@example.com | 1") })
	signIns(t, through(db, client), "second | ada@example.com | "+user.ErrOtherIdentity.Error())
	requireItems(t, db, 4) // counter, person, link and reservation
}

// TestSignInOfDisabledPerson checks that nobody gets a new account in place of a disabled one whose address the issuer
// sends, verified or not.
func TestSignInOfDisabledPerson(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@example.com"))
	notVerified := signIn("ada", "Ada@Example.com")
	notVerified.EmailVerified = false
	assert.OK(t, store.SetDisabled(t.Context(), 1, true))
	assert.ErrorIs(t, failure(store.SignIn(t.Context(), notVerified)), user.ErrLockedOut)
	if u := signedIn(t, store, signIn("other", "ada@example.com"), 1); !u.Disabled {
		t.Errorf("%+v", u)
	}
	assert.OK(t, store.SetDisabled(t.Context(), 1, false))
	// another person
	if u := signedIn(t, store, notVerified, 2); u.Email != "" || u.Name != "ada" {
		t.Errorf("%+v", u)
	}
}

// TestSignInDistinguishesLetters checks that addresses of different mailboxes find different people, although they are
// equal in upper case.
func TestSignInDistinguishesLetters(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@κόσμος.example"))
	signIns(t, store, `
		eve | ada@κόσμοσ.example | 2
		ada | Ada@ΚόΣΜΟς.example | 1
	`)
}

// TestSignInWithReservedAddress checks that an address whose account is missing, because one table was restored, is
// refused.
func TestSignInWithReservedAddress(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"))
	db.Delete(t, db.Tables.Users, user.Key(1))
	signIns(t, store, "ada | ada@example.com | "+user.ErrEmailExists.Error())
}
