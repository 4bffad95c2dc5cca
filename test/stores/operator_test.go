package stores_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// What the operator's program needs of the stores, beside the API: lists, new accounts, deleted toggles.

func person(name, email string) user.User {
	return user.User{Kind: user.Person, Name: name, Email: email, Role: auth.RoleViewer}
}

func service(name string) user.User {
	return user.User{Kind: user.ServiceAccount, Name: name, Role: auth.RoleEditor}
}

// add adds an account that must be added.
func add(tb testing.TB, g *ground, u user.User) user.User {
	tb.Helper()
	added, err := g.Users.Add(tb.Context(), u)
	check(tb, err)
	return added
}

func addedUsers() []property {
	return []property{
		{"ids start at 1 and rise, above those that were agreed on", func(t *testing.T, g *ground) {
			for want := range int64(3) {
				if u := add(t, g, service(fmt.Sprint(want))); u.ID != want+1 {
					t.Errorf("id %d, want %d", u.ID, want+1)
				}
			}
			check(t, g.Users.Create(t.Context(), user.User{ID: 10, Kind: user.Person}))
			if u := add(t, g, service("later")); u.ID != 11 {
				t.Errorf("id %d, want 11", u.ID)
			}
		}},
		{"the id of a deleted account is never given again", func(t *testing.T, g *ground) {
			add(t, g, service("1"))
			gone := add(t, g, service("2"))
			g.dropOut(t, gone.ID)
			if u := add(t, g, service("3")); u.ID != 3 {
				t.Errorf("id %d, want 3", u.ID)
			}
		}},
		{"every member is kept, and it starts without tokens", func(t *testing.T, g *ground) {
			want := user.User{ID: 99, Kind: user.Person, Name: "n", Email: "e@example.com", Role: auth.RoleAdmin, Disabled: true, PATs: map[string]int64{"k": 1}}
			added := add(t, g, want)
			want.ID, want.PATs = 1, nil
			got, err := g.Users.Get(t.Context(), 1)
			check(t, err)
			for _, u := range []user.User{added, got} {
				if diff := cmp.Diff(want, u, cmpopts.EquateEmpty()); diff != "" {
					t.Error(diff)
				}
			}
		}},
		{"it can have tokens", func(t *testing.T, g *ground) {
			u := add(t, g, service("s"))
			create(t, g, u.ID, "ci")
		}},
		{"addresses of people and names of service accounts are taken once, letter case aside; a refusal takes no id", func(t *testing.T, g *ground) {
			add(t, g, person("one", "a@example.com"))
			add(t, g, service("one"))
			for _, tt := range []struct {
				u    user.User
				want error
			}{
				{person("two", "a@example.com"), user.ErrEmailExists}, {person("two", "A@Example.com"), user.ErrEmailExists},
				{service("one"), user.ErrNameExists}, {service("ONE"), user.ErrNameExists},
			} {
				if _, err := g.Users.Add(t.Context(), tt.u); !errors.Is(err, tt.want) {
					t.Errorf("%s %s: %v", tt.u.Name, tt.u.Email, err)
				}
			}
			add(t, g, person("one", ""))
			add(t, g, person("one", ""))
			if u := add(t, g, service("a@example.com")); u.ID != 5 {
				t.Errorf("id %d, want 5", u.ID)
			}
		}},
		{"at once, every id is another", func(t *testing.T, g *ground) {
			seen := [clients]int64{}
			atOnce(clients, func(i int) {
				u, err := g.Users.Add(t.Context(), service(fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
				}
				seen[i] = u.ID
			})
			ids := map[int64]bool{}
			for _, id := range seen {
				ids[id] = true
			}
			all, err := g.Users.List(t.Context())
			check(t, err)
			if len(ids) != clients || len(all) != clients {
				t.Errorf("%d ids and %d accounts for %d", len(ids), len(all), clients)
			}
		}},
		{"at once, one address is taken once", func(t *testing.T, g *ground) {
			var added atomic.Int64
			atOnce(clients, func(i int) {
				_, err := g.Users.Add(t.Context(), person(fmt.Sprint(i), "same@example.com"))
				switch {
				case err == nil:
					added.Add(1)
				case !errors.Is(err, user.ErrEmailExists):
					t.Error(err)
				}
			})
			all, err := g.Users.List(t.Context())
			check(t, err)
			if added.Load() != 1 || len(all) != 1 {
				t.Errorf("added %d times, %d accounts", added.Load(), len(all))
			}
		}},
		{"no id is above the highest", func(t *testing.T, g *ground) {
			check(t, g.Users.Create(t.Context(), user.User{ID: math.MaxInt32, Kind: user.Person}))
			if _, err := g.Users.Add(t.Context(), service("s")); err == nil {
				t.Error("an id above the highest was given")
			}
		}},
		{"the counter is no account", func(t *testing.T, g *ground) {
			add(t, g, service("s"))
			if _, err := g.Users.Get(t.Context(), 0); !errors.Is(err, user.ErrNotFound) {
				t.Error(err)
			}
			if err := g.Users.SetDisabled(t.Context(), 0, true); !errors.Is(err, user.ErrNotFound) {
				t.Error(err)
			}
		}},
	}
}

func lists() []property {
	fine, stored := instant()
	return []property{
		{"empty tables list nothing", func(t *testing.T, g *ground) {
			people, err := g.Users.List(t.Context())
			check(t, err)
			tokens, err := g.APITokens.List(t.Context())
			check(t, err)
			pats, err := g.PATs.List(t.Context())
			check(t, err)
			if n := len(people) + len(tokens) + len(pats); n != 0 {
				t.Errorf("%d of something", n)
			}
		}},
		{"accounts by id, without the counter", func(t *testing.T, g *ground) {
			add(t, g, service("s"))
			for _, id := range []int64{700, 12, 3} {
				check(t, g.Users.Create(t.Context(), user.User{ID: id, Kind: user.Person, Name: fmt.Sprint(id)}))
			}
			all, err := g.Users.List(t.Context())
			check(t, err)
			var got []string
			for _, u := range all {
				got = append(got, u.Name)
			}
			if diff := cmp.Diff([]string{"s", "3", "12", "700"}, got); diff != "" {
				t.Error(diff)
			}
		}},
		{"PATs of all accounts by id, whole, without the counter", func(t *testing.T, g *ground) {
			account(t, g, 9, user.ServiceAccount)
			account(t, g, 2, user.ServiceAccount)
			var want []pat.PAT
			for _, owner := range []int64{9, 2, 9, 2} {
				p, _ := create(t, g, owner, fmt.Sprint(len(want)))
				want = append(want, p)
			}
			got, err := g.PATs.List(t.Context())
			check(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}},
		{"API tokens by name, whole", func(t *testing.T, g *ground) {
			var want []apitoken.APIToken
			for _, name := range []string{"b", "a"} {
				token, err := g.APITokens.Create(t.Context(), apitoken.APIToken{Name: name, ExpiresAt: &fine}, rand.Reader)
				check(t, err)
				want = append([]apitoken.APIToken{{Selector: token.Selector, Name: name, Verifier: token.Verifier(), ExpiresAt: &stored}}, want...)
			}
			got, err := g.APITokens.List(t.Context())
			check(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}},
	}
}
