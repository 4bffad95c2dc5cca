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
	signedIn(t, first, signIn("ada", "ada@example.com"), 1)
	client, tap := db.Through(t, nil)
	store := through(db, client)
	for _, email := range []string{"", "eve@example.com", "new@example.com"} {
		if u := signedIn(t, store, known("ada", email), 1); u.Email != "ada@example.com" {
			t.Error(u)
		}
	}
	assert.Equal(t, "GetItem"+strings.Repeat(" GetItem", 3), tap.Calls())
}

// TestSignInLinksByEmail checks that a person without an identity is found by the address, in any letter case, and is
// linked from then on.
func TestSignInLinksByEmail(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	want := user.User{ID: 2, Kind: user.Person, Name: "Ada", Email: "Ada@Example.com", Role: access.RoleEditor}
	assert.OK(t, store.Create(t.Context(), user.User{ID: 1, Kind: user.ServiceAccount, Username: "ada@example.com",
		Email: "ada@example.com"}), store.Create(t.Context(), want))
	in := known("ada", "aDA@exAmple.com")
	in.Name = "Lovelace"
	want.PATs, want.Identity = map[string]int64{}, &in.Identity
	assert.Equal(t, want, signedIn(t, store, in, 2), ignoreEvent())
	signedIn(t, through(db, db.Client), signIn("ada", ""), 2)
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
	assert.ErrorIs(t, failure(store.SignIn(t.Context(), known("unknown", "unknown@example.com"))), user.ErrUnknownIdentity)
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
	for name, account := range map[string]dynamo.Item{
		"deleted":         nil,
		"service account": {"kind": dynamo.S("service-account"), "identity": linked("ada")},
		"not linked":      {"kind": dynamo.S("user")},
		"another person":  {"kind": dynamo.S("user"), "identity": linked("eve")},
		"in deletion":     {"identity": linked("ada")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, db := newStore(t)
			signedIn(t, store, signIn("ada", ""), 1)
			db.Delete(t, db.Tables.Users, user.Key(1))
			if account != nil {
				account["id"] = dynamo.N(1)
				db.Put(t, db.Tables.Users, account)
			}
			signedIn(t, store, signIn("ada", ""), 2)
			signedIn(t, through(db, db.Client), signIn("ada", ""), 2)
		})
	}
}

// TestSignInTwice checks that a browser that sends two first requests at the same time gets one person, and that both
// succeed.
func TestSignInTwice(t *testing.T) {
	t.Parallel()
	for name, email := range map[string]string{"new": "new@example.com", "known": "ada@example.com", "no address": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, db := newStore(t)
			add(t, store, person("ada", "ada@example.com"))
			id, items := int64(3), map[string]int{"new": 6, "known": 4, "no address": 5}[name]
			if name == "known" {
				id = 1
			}
			client := db.Before(t, transact, 1, func() { signedIn(t, store, signIn("s", email), id) })
			signedIn(t, through(db, client), signIn("s", email), id)
			requireItems(t, db, items) // counter, people, link, and reservations of the addresses
		})
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
