package user_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

// rejected returns the error of a sign-in that is rejected.
func rejected(reason string) string { return "AuthenticationRequired: " + reason }

const otherIdentity = "the person with the e-mail address is linked to another identity"

// TestSignInByAddress checks that an unlinked person is found by the e-mail address, in any letter case, and linked from
// then on.
func TestSignInByAddress(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, serviceAccount("ada@example.com"), person("Ada", "Ada@Example.com"))
	in := signIn("ada", "aDA@exAmple.com")
	in.Name = "Lovelace"
	const want = "2 Ada <Ada@Example.com> Editor, identity ada"
	assert.Equal(t, want, describe(store.SignIn(t.Context(), in)))
	assert.Equal(t, want, describe(store.SignIn(t.Context(), signIn("ada", ""))))
}

// TestSignInOfNewPerson checks that an unknown person gets the default role, and no e-mail address that is malformed or
// that the issuer has not verified.
func TestSignInOfNewPerson(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	named := signIn("1", "Ada@Example.com")
	named.Name = "Ada"
	unverified := signIn("9", "new@example.com")
	unverified.EmailVerified = false
	withoutRole := signIn("unknown", "unknown@example.com")
	withoutRole.DefaultRole = 0
	longest := strings.Repeat("x", 243) + "@example.com"
	for _, test := range []struct {
		in   user.SignIn
		want string
	}{
		{named, "1 Ada <ada@example.com> Viewer, identity 1"},
		{signIn("2", ""), "2 2 <> Viewer, identity 2"},
		{signIn("3", "ada"), "3 3 <> Viewer, identity 3"},
		{signIn("4", " ada@example.com"), "4 4 <> Viewer, identity 4"},
		{signIn("5", "Ada <ada@example.com>"), "5 5 <> Viewer, identity 5"},
		{signIn("6", "\u212aim@example.com"), "6 6 <> Viewer, identity 6"},
		{signIn("7", "x"+longest), "7 7 <> Viewer, identity 7"},
		{signIn("8", "kim@example.com"), "8 kim@example.com <kim@example.com> Viewer, identity 8"},
		{unverified, "9 9 <> Viewer, identity 9"},
		{withoutRole, rejected("no person has the identity or the e-mail address, and no default role is set")},
		{signIn("10", "10@example.com"), "10 10@example.com <10@example.com> Viewer, identity 10"},
		{signIn("11", longest), "11 " + longest + " <" + longest + "> Viewer, identity 11"},
	} {
		assert.Equal(t, test.want, describe(store.SignIn(t.Context(), test.in)))
	}
	assert.Equal(t, "NameExistsError: There is already a person with this e-mail address.",
		describe(store.Add(t.Context(), person("second", "ADA@example.com"), user.DefaultLimit)))
}

// TestSignInWithAddressOfLinkedPerson checks that a verified address does not find a person who has an identity, whoever
// linked it, until an operator removes it. A recycled mailbox or another issuer would take over the account.
func TestSignInWithAddressOfLinkedPerson(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@example.com"), person("eve", "eve@example.com"))
	const linkedAda = "1 ada <ada@example.com> Editor, identity ada"
	assert.Equal(t, linkedAda, describe(store.SignIn(ctx, signIn("ada", "ada@example.com"))))
	assert.Equal(t, "2 eve <eve@example.com> Editor", describe(store.Link(ctx, 2, identity("eve"))))
	otherIssuer := signIn("ada", "ada@example.com")
	otherIssuer.Identity.Issuer = "https://other.example.com"
	for _, in := range []user.SignIn{
		signIn("new", "ada@example.com"), signIn("new", "eve@example.com"), otherIssuer,
	} {
		assert.Equal(t, rejected(otherIdentity), describe(store.SignIn(ctx, in)))
	}
	assert.Equal(t, linkedAda, describe(store.SignIn(ctx, signIn("ada", ""))))
	assert.Equal(t, "2 eve <eve@example.com> Editor, identity eve", describe(store.SignIn(ctx, signIn("eve", ""))))
	assert.Equal(t, linkedAda, describe(store.Unlink(ctx, 1)))
	assert.Equal(t, "1 ada <ada@example.com> Editor, identity ada at https://other.example.com",
		describe(store.SignIn(ctx, otherIssuer)))
}

// TestSignInWithAddressOfDisabledPerson checks that nobody gets a new account in place of a disabled one whose address
// the issuer sends, verified or not.
func TestSignInWithAddressOfDisabledPerson(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@example.com"))
	unverified := signIn("ada", "Ada@Example.com")
	unverified.EmailVerified = false
	assert.OK(t, store.SetDisabled(ctx, 1, true, false))
	assert.Equal(t, rejected("the person with the e-mail address, which is not verified, is disabled"),
		describe(store.SignIn(ctx, unverified)))
	assert.Equal(t, "1 ada <ada@example.com> Editor, identity other, disabled",
		describe(store.SignIn(ctx, signIn("other", "ada@example.com"))))
	assert.OK(t, store.SetDisabled(ctx, 1, false, false))
	assert.Equal(t, "2 ada <> Viewer, identity ada", describe(store.SignIn(ctx, unverified)))
}

// TestSignInComparesAddressesInLowerCase checks that addresses of different mailboxes find different people, although
// they are equal in upper case.
func TestSignInComparesAddressesInLowerCase(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@κόσμος.example"))
	assert.Equal(t, "2 ada@κόσμοσ.example <ada@κόσμοσ.example> Viewer, identity eve",
		describe(store.SignIn(t.Context(), signIn("eve", "ada@κόσμοσ.example"))))
	assert.Equal(t, "1 ada <ada@κόσμος.example> Editor, identity ada",
		describe(store.SignIn(t.Context(), signIn("ada", "Ada@ΚόΣΜΟς.example"))))
}

// TestSignInWithReservedAddress checks that an address whose account is missing, because a restore has not ended, is
// rejected.
func TestSignInWithReservedAddress(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"))
	db.Delete(t, db.Tables["Users"], user.Key(1))
	assert.Equal(t, rejected("the e-mail address is reserved for a person who does not exist"),
		describe(store.SignIn(t.Context(), signIn("ada", "ada@example.com"))))
}

// TestSignInOfLinkedPerson checks that a linked person is found by two reads, and then by one call, whatever the e-mail
// address is.
func TestSignInOfLinkedPerson(t *testing.T) {
	t.Parallel()
	first, db := newStore(t)
	add(t, first, person("ada", "ada@example.com"), person("eve", "eve@example.com"))
	assert.Equal(t, "1 ada <ada@example.com> Editor", describe(first.Link(t.Context(), 1, identity("ada"))))
	client, tap := db.Through(t, nil)
	store := through(db, client)
	for _, email := range []string{"", "eve@example.com", "new@example.com"} {
		assert.Equal(t, "1 ada <ada@example.com> Editor, identity ada",
			describe(store.SignIn(t.Context(), signIn("ada", email))))
	}
	// the link, the person and the directory, then both of the latter together
	assert.Equal(t, strings.Repeat("GetItem ", 3)+"BatchGetItem"+" BatchGetItem", tap.Calls())
}

// TestSignInIgnoresForeignLinks checks that a link does not count if its account is missing, another kind, or linked to
// another identity.
func TestSignInIgnoresForeignLinks(t *testing.T) {
	t.Parallel()
	linked := func(subject string) types.AttributeValue {
		return dynamo.M(dynamo.Item{"issuer": dynamo.S(issuer), "subject": dynamo.S(subject)})
	}
	for i, account := range []dynamo.Item{
		nil, // deleted
		{"kind": dynamo.S("service-account"), "identity": linked("ada")},
		{"kind": dynamo.S("user")},
		{"kind": dynamo.S("user"), "identity": linked("eve")},
		{"identity": linked("ada")}, // in deletion
	} {
		store, db := newStore(t)
		assert.Equal(t, "1 ada <> Viewer, identity ada", describe(store.SignIn(t.Context(), signIn("ada", ""))))
		db.Delete(t, db.Tables["Users"], user.Key(1))
		if i > 0 {
			account["id"] = dynamo.N(1)
			db.Put(t, db.Tables["Users"], account)
		}
		for _, s := range []*user.Store{store, through(db, db.Client)} {
			assert.Equal(t, "2 ada <> Viewer, identity ada", describe(s.SignIn(t.Context(), signIn("ada", ""))))
		}
	}
}

// TestSignInTwice checks that a browser that sends two first requests at the same time gets one person, and that both
// succeed. Of two identities with the same address, the first is linked.
func TestSignInTwice(t *testing.T) {
	t.Parallel()
	const (
		found   = "1 ada <ada@example.com> Editor, identity s"
		added   = "3 new@example.com <new@example.com> Viewer, identity s"
		unnamed = "3 s <> Viewer, identity s"
	)
	for _, test := range []struct {
		first, second         user.SignIn
		wantFirst, wantSecond string
		items                 int // two counters, people, link, and reservations of the addresses
	}{
		{signIn("s", "ada@example.com"), signIn("s", "ada@example.com"), found, found, 5},
		{signIn("s", "ada@example.com"), signIn("other", "ada@example.com"), found, rejected(otherIdentity), 5},
		{signIn("s", "new@example.com"), signIn("s", "new@example.com"), added, added, 7},
		{signIn("s", ""), signIn("s", ""), unnamed, unnamed, 6},
	} {
		store, db := newStore(t)
		add(t, store, person("ada", "ada@example.com"))
		client := db.Before(t, transact, 1, func() {
			assert.Equal(t, test.wantFirst, describe(store.SignIn(t.Context(), test.first)))
		})
		assert.Equal(t, test.wantSecond, describe(through(db, client).SignIn(t.Context(), test.second)))
		requireItems(t, db, test.items)
	}
}

// TestInterruptedSignIn stops a sign-in before or after its transaction is carried out. The next one finds one person.
func TestInterruptedSignIn(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		store, db := newStore(t)
		want := "1 ada <ada@example.com> Editor, identity ada"
		if i < 2 {
			add(t, store, person("ada", "ada@example.com"))
		} else {
			want = fmt.Sprintf("%d ada@example.com <ada@example.com> Viewer, identity ada", 4-i)
		}
		ctx, client := db.Interrupted(t.Context(), t, 1, i%2 == 1)
		if u, err := through(db, client).SignIn(ctx, signIn("ada", "ada@example.com")); err == nil {
			t.Error("the sign-in did not fail", u)
		}
		assert.Equal(t, want, describe(store.SignIn(t.Context(), signIn("ada", "ada@example.com"))))
		requireItems(t, db, 5) // two counters, person, reservation and link
	}
}
