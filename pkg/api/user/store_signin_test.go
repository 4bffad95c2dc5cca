package user_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
)

// TestSignIn checks which person a sign-in finds, links or adds, and what it refuses.
func TestSignIn(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]string{
		// An unlinked person is found by the address, in any letter case, and linked from then on.
		"address": `
			service-account | ada@example.com | | 1 ada@example.com <> Editor
			person | Ada | Ada@Example.com | 2 Ada <Ada@Example.com> Editor
			sign-in Lovelace | ada | aDA@exAmple.com | 2 Ada <Ada@Example.com> Editor, identity ada
			sign-in | ada | | 2 Ada <Ada@Example.com> Editor, identity ada
		`,
		// An unknown person gets the default role, and no address that the issuer has not verified.
		"new person": `
			sign-in Ada | ada | Ada@Example.com | 1 Ada <ada@example.com> Viewer, identity ada
			sign-in | 2 | | 2 2 <> Viewer, identity 2
			sign-in | 3 | ada | 3 3 <> Viewer, identity 3
			sign-in | 4 | " ada@example.com" | 4 4 <> Viewer, identity 4
			sign-in | 5 | Ada <ada@example.com> | 5 5 <> Viewer, identity 5
			sign-in | 6 | "\u212aim@example.com" | 6 6 <> Viewer, identity 6
			sign-in | 7 | 244×x@example.com | 7 7 <> Viewer, identity 7
			sign-in | 8 | kim@example.com | 8 kim@example.com <kim@example.com> Viewer, identity 8
			sign-in unverified | 9 | new@example.com | 9 9 <> Viewer, identity 9
			sign-in known | unknown | unknown@example.com | : UNKNOWN
			sign-in | 10 | 10@example.com | 10 10@example.com <10@example.com> Viewer, identity 10
			sign-in | 11 | 243×x@example.com | 11 243×x@example.com <243×x@example.com> Viewer, identity 11
			person | second | ADA@example.com | : NameExistsError: There is already a person with this e-mail address.
		`,
		// A verified address does not find a person who has an identity, whoever linked it, until an operator removes it.
		// A recycled mailbox or another issuer would take over the account.
		"linked person": ada + eve + `
			sign-in | ada | ada@example.com | 1 ada <ada@example.com> Editor, identity ada
			link 2 | eve | | 2 eve <eve@example.com> Editor
			sign-in | new | ada@example.com | : OTHER
			sign-in | new | eve@example.com | : OTHER
			sign-in | ada at https://other.example.com | ada@example.com | : OTHER
			sign-in | ada | | 1 ada <ada@example.com> Editor, identity ada
			sign-in | eve | | 2 eve <eve@example.com> Editor, identity eve
			unlink 1 | | | 1 ada <ada@example.com> Editor, identity ada
			sign-in | ada at https://other.example.com | ada@example.com | 1 ada <ada@example.com> Editor, identity ada at https://other.example.com
		`,
		// Nobody gets a new account in place of a disabled one whose address the issuer sends, verified or not.
		"disabled person": ada + `
			disable 1 | | |
			sign-in unverified | ada | Ada@Example.com | : DISABLED
			sign-in | other | ada@example.com | 1 ada <ada@example.com> Editor, identity other, disabled
			enable 1 | | |
			sign-in unverified | ada | Ada@Example.com | 2 ada <> Viewer, identity ada
		`,
		// Addresses of different mailboxes find different people, although they are equal in upper case.
		"letters": `
			person | ada | ada@κόσμος.example | 1 ada <ada@κόσμος.example> Editor
			sign-in | eve | ada@κόσμοσ.example | 2 ada@κόσμοσ.example <ada@κόσμοσ.example> Viewer, identity eve
			sign-in | ada | Ada@ΚόΣΜΟς.example | 1 ada <ada@κόσμος.example> Editor, identity ada
		`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, _ := newStore(t)
			calls(t, store, strings.NewReplacer(
				"UNKNOWN", rejected("no person has the identity or the e-mail address, and no default role is set"),
				"OTHER", rejected("the person with the e-mail address is linked to another identity"),
				"DISABLED", rejected("the person with the e-mail address, which is not verified, is disabled"),
			).Replace(rows))
		})
	}
}

// rejected returns the error of a sign-in that is rejected.
func rejected(reason string) string { return "AuthenticationRequired: " + reason }

// TestSignInWithReservedAddress checks that an address whose account is missing, because one table was restored, is
// refused.
func TestSignInWithReservedAddress(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	calls(t, store, ada)
	db.Delete(t, db.Tables["Users"], user.Key(1))
	calls(t, store, "sign-in | ada | ada@example.com | : "+
		rejected("the e-mail address is reserved for a person who does not exist"))
}

// TestSignInOfLinkedPerson checks that a linked person is found by two reads, and then by one, whatever the e-mail
// address is.
func TestSignInOfLinkedPerson(t *testing.T) {
	t.Parallel()
	first, db := newStore(t)
	calls(t, first, ada+eve+"link 1 | ada | | 1 ada <ada@example.com> Editor")
	client, tap := db.Through(t, nil)
	calls(t, through(db, client), `
		sign-in | ada | | 1 ada <ada@example.com> Editor, identity ada
		sign-in | ada | eve@example.com | 1 ada <ada@example.com> Editor, identity ada
		sign-in | ada | new@example.com | 1 ada <ada@example.com> Editor, identity ada
	`)
	assert.Equal(t, "GetItem"+strings.Repeat(" GetItem", 3), tap.Calls())
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
		calls(t, store, "sign-in | ada | | 1 ada <> Viewer, identity ada")
		db.Delete(t, db.Tables["Users"], user.Key(1))
		if i > 0 {
			account["id"] = dynamo.N(1)
			db.Put(t, db.Tables["Users"], account)
		}
		for _, s := range []*user.Store{store, through(db, db.Client)} {
			calls(t, s, "sign-in | ada | | 2 ada <> Viewer, identity ada")
		}
	}
}

// TestSignInTwice checks that a browser that sends two first requests at the same time gets one person, and that both
// succeed. Of two identities with the same address, the first is linked.
func TestSignInTwice(t *testing.T) {
	t.Parallel()
	const found = "sign-in | s | ada@example.com | 1 ada <ada@example.com> Editor, identity s"
	const unnamed = "sign-in | s | | 3 s <> Viewer, identity s"
	const added = "sign-in | s | new@example.com | 3 new@example.com <new@example.com> Viewer, identity s"
	for _, tt := range []struct {
		first, second string
		items         int // counter, people, link, and reservations of the addresses
	}{
		{found, found, 4},
		{found, "sign-in | other | ada@example.com | : " +
			rejected("the person with the e-mail address is linked to another identity"), 4},
		{added, added, 6},
		{unnamed, unnamed, 5},
	} {
		store, db := newStore(t)
		calls(t, store, ada)
		calls(t, through(db, db.Before(t, transact, 1, func() { calls(t, store, tt.first) })), tt.second)
		requireItems(t, db, tt.items)
	}
}

// TestInterruptedSignIn stops a sign-in before or after its transaction is carried out. The next one finds one person.
func TestInterruptedSignIn(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		store, db := newStore(t)
		want := "sign-in | ada | ada@example.com | 1 ada <ada@example.com> Editor, identity ada"
		if i < 2 {
			calls(t, store, ada)
		} else {
			want = fmt.Sprintf("sign-in | ada | ada@example.com | %d ada@example.com <ada@example.com> Viewer, identity ada", 4-i)
		}
		ctx, client := db.Interrupted(t.Context(), t, 1, i%2 == 1)
		if u, err := through(db, client).SignIn(ctx, signIn("ada", "ada@example.com")); err == nil {
			t.Error("the sign-in did not fail", u)
		}
		calls(t, store, want)
		requireItems(t, db, 4) // counter, person, reservation and link
	}
}
