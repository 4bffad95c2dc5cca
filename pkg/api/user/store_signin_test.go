package user_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
)

// TestSignInOfLinkedPerson checks that a linked person is found by two reads, and then by one, whatever the e-mail
// address is.
func TestSignInOfLinkedPerson(t *testing.T) {
	t.Parallel()
	first, db := newStore(t)
	add(t, first, person("ada", "ada@example.com"), person("eve", "eve@example.com"))
	signIns(t, first, "ada | ada@example.com | 1")
	client, tap := db.Through(t, nil)
	signIns(t, through(db, client), `
		ada | | 1
		ada | eve@example.com | 1
		ada | new@example.com | 1
	`)
	assert.Equal(t, "GetItem"+strings.Repeat(" GetItem", 3), tap.Calls())
	assert.Equal(t, "ada@example.com", signedIn(t, first, signIn("ada", "new@example.com"), 1).Email)
}

// TestSignInLinksByEmail checks that a person without an identity is found by the address, in any letter case, and is
// linked from then on.
func TestSignInLinksByEmail(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	want := user.User{ID: 2, Kind: user.Person, Name: "Ada", Email: "Ada@Example.com", Role: access.RoleEditor}
	assert.OK(t, store.Create(t.Context(), user.User{ID: 1, Kind: user.ServiceAccount, Username: "ada@example.com",
		Email: "ada@example.com"}), store.Create(t.Context(), want))
	in := signIn("ada", "aDA@exAmple.com")
	in.Name = "Lovelace"
	want.PATs, want.Identity = map[string]int64{}, &in.Identity
	assert.Equal(t, want, signedIn(t, store, in, 2), ignoreEvent())
	signIns(t, through(db, db.Client), "ada | | 2")
}

// TestSignInAddsPerson checks that an unknown person gets the default role, and no address that the issuer has not
// verified.
func TestSignInAddsPerson(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	in := signIn("ada", "Ada@Example.com")
	in.Name = "Ada"
	got := signedIn(t, store, in, 1)
	want := user.User{
		ID: 1, Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleViewer, PATs: map[string]int64{},
		Identity: &in.Identity, CreatedAt: new(signInTime()),
	}
	stored, err := store.Get(t.Context(), 1)
	assert.OK(t, err)
	assert.Equal(t, []user.User{want, want}, []user.User{got, stored}, ignoreEvent())
	for i, email := range []string{"", "ada", " ada@example.com", "Ada <ada@example.com>", "\u212aim@example.com",
		strings.Repeat("x", 250) + "@example.com"} {
		if u := signedIn(t, store, signIn(fmt.Sprint(i), email), int64(2+i)); u.Email != "" || u.Name != fmt.Sprint(i) {
			t.Errorf("stored are the address %q and the name %q", u.Email, u.Name)
		}
	}
	assert.Equal(t, "kim@example.com", signedIn(t, store, signIn("kim", "kim@example.com"), 8).Name)
	before := len(items(t, db))
	in = signIn("unknown", "unknown@example.com")
	in.DefaultRole = ""
	assert.ErrorIs(t, failure(store.SignIn(t.Context(), in)), user.ErrUnknownIdentity)
	requireItems(t, db, before)
	assert.ErrorIs(t, failure(store.Add(t.Context(), person("second", "ADA@example.com"))), user.ErrEmailExists)
}

// TestSignInIgnoresForeignLinks checks that a link does not count if its account is missing, another kind, or linked to
// another identity.
func TestSignInIgnoresForeignLinks(t *testing.T) {
	t.Parallel()
	linked := func(subject string) types.AttributeValue {
		return dynamo.M(dynamo.Item{"issuer": dynamo.S("https://issuer.example.com"), "subject": dynamo.S(subject)})
	}
	for i, account := range []dynamo.Item{
		nil, // deleted
		{"kind": dynamo.S("service-account"), "identity": linked("ada")},
		{"kind": dynamo.S("user")},
		{"kind": dynamo.S("user"), "identity": linked("eve")},
		{"identity": linked("ada")}, // in deletion
	} {
		store, db := newStore(t)
		signIns(t, store, "ada | | 1")
		db.Delete(t, db.Tables.Users, user.Key(1))
		if i > 0 {
			account["id"] = dynamo.N(1)
			db.Put(t, db.Tables.Users, account)
		}
		signIns(t, store, "ada | | 2")
		signIns(t, through(db, db.Client), "ada | | 2")
	}
}

// TestSignInTwice checks that a browser that sends two first requests at the same time gets one person, and that both
// succeed.
func TestSignInTwice(t *testing.T) {
	t.Parallel()
	for step, items := range map[string]int{ // counter, people, link, and reservations of the addresses
		"s | new@example.com | 3": 6,
		"s | ada@example.com | 1": 4,
		"s | | 3":                 5,
	} {
		store, db := newStore(t)
		add(t, store, person("ada", "ada@example.com"))
		signIns(t, through(db, db.Before(t, transact, 1, func() { signIns(t, store, step) })), step)
		requireItems(t, db, items)
	}
}

// TestInterruptedSignIn stops a sign-in before or after its transaction is carried out. The next one finds one person.
func TestInterruptedSignIn(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		store, db := newStore(t)
		add(t, store, person("eve", ""))
		if i < 2 {
			addAt(t, store, person("ada", "ada@example.com"), 2)
		}
		ctx, client := db.Interrupted(t.Context(), t, 1, i%2 == 1)
		if u, err := through(db, client).SignIn(ctx, signIn("ada", "ada@example.com")); err == nil {
			t.Error("the sign-in did not fail", u)
		}
		u, err := store.SignIn(t.Context(), signIn("ada", "ada@example.com"))
		assert.OK(t, err)
		assert.Equal(t, "ada@example.com", u.Email)
		requireItems(t, db, 5) // counter, two people, reservation and link
	}
}
