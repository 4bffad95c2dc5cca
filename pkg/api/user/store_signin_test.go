package user_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func signInTime() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 1_000_000, time.UTC) }

func identity(subject string) user.Identity {
	return user.Identity{Issuer: "https://issuer.example.com", Subject: subject}
}

// signIn returns the sign-in of a subject with an e-mail address that the issuer has verified. Unknown people become
// viewers.
func signIn(subject, email string) user.SignIn {
	return user.SignIn{
		Identity: identity(subject), Email: email, EmailVerified: true, DefaultRole: access.RoleViewer, Now: signInTime(),
		Logger: slog.New(slog.DiscardHandler),
	}
}

// signedIn signs in and fails the test unless the person has the id.
func signedIn(tb testing.TB, store *user.Store, in user.SignIn, id int64) user.User {
	tb.Helper()
	u, err := store.SignIn(tb.Context(), in)
	if err != nil || u.ID != id || u.Identity == nil || *u.Identity != in.Identity {
		tb.Fatalf("found %+v, %v, want %d", u, err, id)
	}
	return u
}

// TestSignInOfLinkedPerson checks that a linked person is found by two reads, and then by one, whatever the e-mail
// address is.
func TestSignInOfLinkedPerson(t *testing.T) {
	t.Parallel()
	first, db := newStore(t)
	add(t, first, person("ada", "ada@example.com"), 1)
	add(t, first, person("eve", "eve@example.com"), 2)
	signedIn(t, first, signIn("ada", "ada@example.com"), 1)
	client, tap := db.Through(t, nil)
	store := user.NewStore(client, db.Tables, db.LogThrough(client))
	for _, email := range []string{"", "eve@example.com", "new@example.com"} {
		in := signIn("ada", email)
		in.DefaultRole = ""
		signedIn(t, store, in, 1)
	}
	if tap.Calls() != "GetItem"+strings.Repeat(" GetItem", 3) {
		t.Errorf("calls %s", tap.Calls())
	}
	if u, err := store.Get(t.Context(), 1); err != nil || u.Email != "ada@example.com" {
		t.Error(u, err)
	}
}

// TestSignInLinksByEmail checks that a person without an identity is found by the address, in any letter case, and is
// linked from then on.
func TestSignInLinksByEmail(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	// No service account is found.
	create(t, store, user.User{ID: 1, Kind: user.ServiceAccount, Username: "ada@example.com", Email: "ada@example.com"})
	create(t, store, user.User{ID: 2, Kind: user.Person, Name: "Ada", Email: "Ada@Example.com", Role: access.RoleEditor})
	in := signIn("ada", "aDA@exAmple.com")
	in.Name, in.DefaultRole = "Lovelace", ""
	got := signedIn(t, store, in, 2)
	want := user.User{
		ID: 2, Kind: user.Person, Name: "Ada", Email: "Ada@Example.com", Role: access.RoleEditor, PATs: map[string]int64{},
		Identity: &user.Identity{Issuer: "https://issuer.example.com", Subject: "ada"},
	}
	if diff := cmp.Diff(want, got, ignoreEvent()); diff != "" {
		t.Error(diff)
	}
	signedIn(t, user.NewStore(db.Client, db.Tables, db.Log()), signIn("ada", ""), 2)
}

// TestSignInAddsPerson checks that an unknown person gets the default role, and no address that the issuer has not
// verified.
func TestSignInAddsPerson(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, service("ci"), 1)
	in := signIn("ada", "Ada@Example.com")
	in.Name = "Ada"
	got := signedIn(t, store, in, 2)
	want := user.User{
		ID: 2, Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleViewer, PATs: map[string]int64{},
		Identity: &in.Identity, CreatedAt: new(signInTime()),
	}
	stored, err := store.Get(t.Context(), 2)
	if diff := cmp.Diff([]user.User{want, want}, []user.User{got, stored}, ignoreEvent()); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for i, email := range []string{"", "ada", " ada@example.com", "Ada <ada@example.com>", "\u212aim@example.com",
		strings.Repeat("x", 250) + "@example.com"} {
		if u := signedIn(t, store, signIn(fmt.Sprint(i), email), int64(3+i)); u.Email != "" || u.Name != fmt.Sprint(i) {
			t.Errorf("stored are the address %q and the name %q", u.Email, u.Name)
		}
	}
	if u := signedIn(t, store, signIn("kim", "kim@example.com"), 9); u.Name != "kim@example.com" {
		t.Errorf("the name is %q", u.Name)
	}
	if _, err := store.Add(t.Context(), person("second", "ADA@example.com")); !errors.Is(err, user.ErrEmailExists) {
		t.Error(err)
	}
	in = signIn("unknown", "unknown@example.com")
	in.DefaultRole = ""
	before := len(items(t, db))
	if _, err := store.SignIn(t.Context(), in); !errors.Is(err, user.ErrUnknownIdentity) {
		t.Errorf("without a default role: %v", err)
	}
	if after := len(items(t, db)); after != before {
		t.Errorf("%d items, before %d", after, before)
	}
}

// TestSignInIgnoresForeignLinks checks that a link does not count if its account is missing, another kind, or linked to
// another identity.
func TestSignInIgnoresForeignLinks(t *testing.T) {
	t.Parallel()
	for name, account := range map[string]dynamo.Item{
		"deleted":         nil,
		"service account": {"kind": dynamo.S("service-account"), "identity": identityItem("ada")},
		"not linked":      {"kind": dynamo.S("user")},
		"another person":  {"kind": dynamo.S("user"), "identity": identityItem("eve")},
		"in deletion":     {"identity": identityItem("ada")},
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
			signedIn(t, user.NewStore(db.Client, db.Tables, db.Log()), signIn("ada", ""), 2)
		})
	}
}

func identityItem(subject string) types.AttributeValue {
	return dynamo.M(dynamo.Item{"issuer": dynamo.S("https://issuer.example.com"), "subject": dynamo.S(subject)})
}

// TestSignInTwice checks that a browser that sends two first requests at the same time gets one person, and that both
// succeed.
func TestSignInTwice(t *testing.T) {
	t.Parallel()
	// counter, person, link, and reservation of the address
	for name, count := range map[string]int{"new": 4, "known": 4, "no address": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, db := newStore(t)
			if name == "known" {
				add(t, store, person("known", "known@example.com"), 1)
			}
			in := signIn("s", map[bool]string{false: name + "@example.com"}[name == "no address"])
			var first user.User
			client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "TransactWriteItems" && c.N == 1 {
					var err error
					if first, err = store.SignIn(t.Context(), in); err != nil {
						t.Error(err)
					}
				}
				return c.Pass()
			})
			second, err := user.NewStore(client, db.Tables, db.LogThrough(client)).SignIn(t.Context(), in)
			if got := items(t, db); err != nil || first.ID == 0 || second.ID != first.ID || len(got) != count {
				t.Errorf("%+v and %+v, %v, items: %v", first, second, err, got)
			}
		})
	}
}

// TestInterruptedSignIn stops a sign-in at each of its calls, before or after the call is carried out. The next one
// finds one person.
func TestInterruptedSignIn(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		for call := 1; call <= 4; call++ {
			for _, carriedOut := range []bool{false, true} {
				t.Run(fmt.Sprintf("known: %t, call %d, carried out: %t", known, call, carriedOut), func(t *testing.T) {
					t.Parallel()
					store, db := newStore(t)
					add(t, store, person("eve", ""), 1)
					if known {
						add(t, store, person("ada", "ada@example.com"), 2)
					}
					calls := 0
					client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
						if calls++; calls < call {
							return c.Pass()
						}
						if calls == call && carriedOut {
							if _, err := c.Pass(); err != nil {
								t.Error(err)
							}
						}
						return c.Refuse("ValidationException")
					})
					if _, err := user.NewStore(client, db.Tables, db.LogThrough(client)).SignIn(t.Context(),
						signIn("ada", "ada@example.com")); err == nil && calls >= call {
						t.Error("the sign-in did not fail")
					}
					if u, err := store.SignIn(t.Context(), signIn("ada", "ada@example.com")); err != nil ||
						u.Email != "ada@example.com" {
						t.Error(u, err)
					}
					if items := items(t, db); len(items) != 5 { // counter, two people, reservation and link
						t.Errorf("items: %v", items)
					}
				})
			}
		}
	}
}
