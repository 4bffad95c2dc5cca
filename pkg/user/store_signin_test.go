package user_test

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
	"toggleadmin/test/database"
)

// TestMain limits the checks of properties to a few that are always the same, unless the command line sets another number (-rapid.checks).
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" || f.Name == "rapid.seed" })
	for name, value := range map[string]string{"rapid.checks": "10", "rapid.seed": "1"} {
		if given {
			break
		}
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}

func signInTime() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 1_000_000, time.UTC) }

func identity(subject string) user.Identity {
	return user.Identity{Issuer: "https://issuer.example.com", Subject: subject}
}

// signIn returns the sign-in of a subject with an e-mail address that the issuer has verified. Unknown people become viewers.
func signIn(subject, email string) user.SignIn {
	return user.SignIn{
		Identity: identity(subject), Email: email, EmailVerified: true, DefaultRole: auth.RoleViewer, Now: signInTime(),
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

// TestSignInOfLinkedPerson checks that a linked person is found by two reads, and then by one, whatever the e-mail address is.
func TestSignInOfLinkedPerson(t *testing.T) {
	t.Parallel()
	first, db := newStore(t)
	add(t, first, person("ada", "ada@example.com"), 1)
	add(t, first, person("eve", "eve@example.com"), 2)
	signedIn(t, first, signIn("ada", "ada@example.com"), 1)
	client, tap := db.Through(t, nil)
	store := user.NewStore(client, db.Tables)
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

// TestSignInLinksByEmail checks that a person without an identity is found by the address, in any letter case, and is linked from then on.
func TestSignInLinksByEmail(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	// No service account is found.
	create(t, store, user.User{ID: 1, Kind: user.ServiceAccount, Username: "ada@example.com", Email: "ada@example.com"})
	create(t, store, user.User{ID: 2, Kind: user.Person, Name: "Ada", Email: "Ada@Example.com", Role: auth.RoleEditor})
	in := signIn("ada", "aDA@exAmple.com")
	in.Name, in.DefaultRole = "Lovelace", ""
	got := signedIn(t, store, in, 2)
	want := user.User{
		ID: 2, Kind: user.Person, Name: "Ada", Email: "Ada@Example.com", Role: auth.RoleEditor, PATs: map[string]int64{},
		Identity: &user.Identity{Issuer: "https://issuer.example.com", Subject: "ada"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	signedIn(t, user.NewStore(db.Client, db.Tables), signIn("ada", ""), 2)
}

// TestSignInAddsPerson checks that an unknown person gets the default role, and no address that the issuer has not verified.
func TestSignInAddsPerson(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, service("ci"), 1)
	in := signIn("ada", "Ada@Example.com")
	in.Name = "Ada"
	got := signedIn(t, store, in, 2)
	want := user.User{
		ID: 2, Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: auth.RoleViewer, PATs: map[string]int64{},
		Identity: &in.Identity, CreatedAt: new(signInTime()),
	}
	stored, err := store.Get(t.Context(), 2)
	if diff := cmp.Diff([]user.User{want, want}, []user.User{got, stored}); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for i, email := range []string{"", "ada", " ada@example.com", "Ada <ada@example.com>", "\u212aim@example.com", strings.Repeat("x", 250) + "@example.com"} {
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

// TestSignInIgnoresForeignLinks checks that a link does not count if its account is missing, another kind, or linked to another identity.
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
			signedIn(t, user.NewStore(db.Client, db.Tables), signIn("ada", ""), 2)
		})
	}
}

func identityItem(subject string) types.AttributeValue {
	return dynamo.M(dynamo.Item{"issuer": dynamo.S("https://issuer.example.com"), "subject": dynamo.S(subject)})
}

// TestSignInConcurrently checks that a browser that sends several first requests gets one person, and that all of them succeed.
func TestSignInConcurrently(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"new": 4, "known": 4, "no address": 3} { // counter, person, link, and reservation of the address
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, db := newStore(t)
			if name == "known" {
				add(t, store, person("known", "known@example.com"), 1)
			}
			email := map[bool]string{false: name + "@example.com"}[name == "no address"]
			const requests = 32
			var running sync.WaitGroup
			var id atomic.Int64 // of the person
			for range requests {
				running.Go(func() { // each in a process of its own
					if u, err := user.NewStore(db.Client, db.Tables).SignIn(t.Context(), signIn("s", email)); err != nil || !id.CompareAndSwap(0, u.ID) && id.Load() != u.ID {
						t.Error(u, err)
					}
				})
			}
			running.Wait()
			if got := items(t, db); len(got) != count {
				t.Errorf("items: %v", got)
			}
		})
	}
}

// TestInterruptedSignIn stops a sign-in at each of its calls, before or after the call is carried out. The next one finds one person.
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
					if _, err := user.NewStore(client, db.Tables).SignIn(t.Context(), signIn("ada", "ada@example.com")); err == nil && calls >= call {
						t.Error("the sign-in did not fail")
					}
					if u, err := store.SignIn(t.Context(), signIn("ada", "ada@example.com")); err != nil || u.Email != "ada@example.com" {
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

// TestSignInModel compares sign-ins, additions, links and removals of identities with a model: who has which address and identity.
func TestSignInModel(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	rapid.Check(t, func(r *rapid.T) {
		for _, item := range db.Scan(t, db.Tables.Users) {
			db.Delete(t, db.Tables.Users, user.Key(item.Int("id")))
		}
		for _, item := range db.Scan(t, db.Tables.Identifiers) {
			db.Delete(t, db.Tables.Identifiers, user.IdentifierKey(item.String("id")))
		}
		store := user.NewStore(db.Client, db.Tables)
		var people []user.User // by id-1; one whose address was taken has no id
		find := func(has func(user.User) bool) int64 {
			for _, u := range people {
				if has(u) {
					return u.ID
				}
			}
			return 0
		}
		exists := func(id int64) bool { return id <= int64(len(people)) && people[id-1].ID != 0 }
		subjects, emails := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"", "x@example.com", "Y@example.com", "y@example.com"})
		r.Repeat(map[string]func(*rapid.T){
			"sign in": func(r *rapid.T) {
				in := signIn(subjects.Draw(r, "subject"), emails.Draw(r, "email"))
				in.EmailVerified = rapid.Bool().Draw(r, "verified")
				if rapid.Bool().Draw(r, "no default role") {
					in.DefaultRole = ""
				}
				want := find(func(u user.User) bool { return u.Identity != nil && *u.Identity == in.Identity })
				var wantErr error
				if want == 0 && in.Email != "" && in.EmailVerified {
					want = find(func(u user.User) bool { return strings.EqualFold(u.Email, in.Email) })
					if want != 0 && people[want-1].Identity != nil {
						want, wantErr = 0, user.ErrOtherIdentity
					}
				}
				switch {
				case want != 0 || wantErr != nil:
				case in.DefaultRole == "":
					wantErr = user.ErrUnknownIdentity
				default:
					want = int64(len(people) + 1)
					people = append(people, user.User{ID: want, Email: map[bool]string{true: in.Email}[in.EmailVerified]})
				}
				got, err := store.SignIn(t.Context(), in)
				if got.ID != want || !errors.Is(err, wantErr) {
					r.Fatalf("found %d, %v, want %d, %v", got.ID, err, want, wantErr)
				}
				if want != 0 {
					people[want-1].Identity = &in.Identity
				}
			},
			"add": func(r *rapid.T) {
				email := emails.Draw(r, "email")
				taken := email != "" && find(func(u user.User) bool { return strings.EqualFold(u.Email, email) }) != 0
				u, err := store.Add(t.Context(), person("n", email))
				if taken != errors.Is(err, user.ErrEmailExists) {
					r.Fatalf("added %q: %v", email, err)
				}
				people = append(people, u)
			},
			"link": func(r *rapid.T) {
				id, next := rapid.Int64Range(1, 4).Draw(r, "id"), identity(subjects.Draw(r, "subject"))
				other := find(func(u user.User) bool { return u.Identity != nil && *u.Identity == next })
				got, err := store.Link(t.Context(), id, next)
				switch {
				case !exists(id):
					if !errors.Is(err, user.ErrNotFound) {
						r.Fatalf("link %d: %v", id, err)
					}
				case other != 0 && other != id:
					if !errors.Is(err, user.ErrIdentityExists) || got.ID != other {
						r.Fatalf("link %d: %d, %v, want %d", id, got.ID, err, other)
					}
				default:
					if diff := cmp.Diff(people[id-1].Identity, got.Identity); err != nil || diff != "" {
						r.Fatal(err, diff)
					}
					people[id-1].Identity = &next
				}
			},
			"unlink": func(r *rapid.T) {
				id := rapid.Int64Range(1, 4).Draw(r, "id")
				if _, err := store.Unlink(t.Context(), id); (err == nil) != exists(id) {
					r.Fatal(err)
				} else if err == nil {
					people[id-1].Identity = nil
				}
			},
		})
	})
}
