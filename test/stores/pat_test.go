package stores_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

func account(tb testing.TB, g *ground, id int64, kind user.Kind) {
	tb.Helper()
	check(tb, g.Users.Create(tb.Context(), user.User{ID: id, Kind: kind, Name: fmt.Sprint(id), Role: auth.RoleEditor}))
}

func owner(limit int) pat.Owner { return pat.Owner{Kind: user.ServiceAccount, Limit: limit} }

// later is a time when no token of the tests has expired.
func later() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }

func newPAT(userID int64, description string) pat.PAT {
	return pat.PAT{UserID: userID, Description: description, CreatedAt: later().AddDate(-4, 0, 0), ExpiresAt: later()}
}

// create makes a PAT that must be made.
func create(tb testing.TB, g *ground, userID int64, description string) (pat.PAT, auth.Token) {
	tb.Helper()
	p, token, err := g.PATs.Create(tb.Context(), newPAT(userID, description), owner(100))
	check(tb, err)
	return p, token
}

// refused fails the test unless a creation is refused with that error.
func refused(tb testing.TB, g *ground, p pat.PAT, o pat.Owner, want error) {
	tb.Helper()
	if _, _, err := g.PATs.Create(tb.Context(), p, o); !errors.Is(err, want) {
		tb.Errorf("PAT %q of user %d: error %v, want %v", p.Description, p.UserID, err, want)
	}
}

func pats() []property {
	fine, stored := instant()
	return []property{
		{"ids start at 1 and rise over all accounts", func(t *testing.T, g *ground) {
			account(t, g, 7, user.ServiceAccount)
			account(t, g, 8, user.ServiceAccount)
			for i := range int64(6) {
				if p, _ := create(t, g, 7+i%2, fmt.Sprint(i)); p.ID != i+1 {
					t.Errorf("id %d, want %d", p.ID, i+1)
				}
			}
		}},
		{"it is read back as it was given, times to the millisecond, by its token's selector", func(t *testing.T, g *ground) {
			account(t, g, math.MaxInt32, user.ServiceAccount)
			given := pat.PAT{ID: 99, UserID: math.MaxInt32, Description: " é\u0301\U0001F600#:\n ", ExpiresAt: fine.AddDate(1, 0, 0), CreatedAt: fine, SeenAt: &fine}
			made, token, err := g.PATs.Create(t.Context(), given, owner(1))
			check(t, err)
			want := pat.PAT{
				ID: 1, UserID: math.MaxInt32, Description: given.Description, ExpiresAt: stored.AddDate(1, 0, 0), CreatedAt: stored, Verifier: token.Verifier(),
			}
			if diff := cmp.Diff(want, made); diff != "" {
				t.Error(diff)
			}
			userID, id, ok := token.Selector.PATIDs()
			got, u, err := g.Tokens.PAT(t.Context(), userID, id)
			check(t, err)
			if diff := cmp.Diff(want, got); diff != "" || !ok || token.Kind != auth.PAT {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]int64{pat.DescriptionKey(given.Description): 1}, u.PATs); diff != "" {
				t.Error(diff)
			}
		}},
		{"a description is unique for its owner, exactly as sent, and free for others", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			account(t, g, 2, user.ServiceAccount)
			for _, d := range []string{"ci", "CI", "ci ", "ci\u200b", strings.Repeat("x", 255)} {
				create(t, g, 1, d)
				refused(t, g, newPAT(1, d), owner(100), pat.ErrDescriptionExists)
				create(t, g, 2, d)
			}
		}},
		{"not more than the limit, expired ones counted; each account has its own", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			account(t, g, 2, user.ServiceAccount)
			for i := range 3 {
				p := newPAT(1, fmt.Sprint(i))
				p.ExpiresAt = p.CreatedAt.Add(time.Millisecond)
				_, _, err := g.PATs.Create(t.Context(), p, owner(3))
				check(t, err)
			}
			refused(t, g, newPAT(1, "one more"), owner(3), pat.ErrTooMany)
			refused(t, g, newPAT(1, "fewer"), owner(2), pat.ErrTooMany)
			create(t, g, 2, "other account")
			_, _, err := g.PATs.Create(t.Context(), newPAT(1, "a higher limit"), owner(4))
			check(t, err)
		}},
		{"an owner is refused before the limit, the limit before the description", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			create(t, g, 1, "ci")
			refused(t, g, newPAT(1, "ci"), owner(1), pat.ErrTooMany)
			refused(t, g, newPAT(1, "ci"), pat.Owner{Kind: user.Person, Limit: 1}, pat.ErrNoOwner)
		}},
		{"no owner: unknown, or of the other kind; a refusal takes nothing", func(t *testing.T, g *ground) {
			account(t, g, 1, user.Person)
			account(t, g, 2, user.ServiceAccount)
			refused(t, g, newPAT(1, "ci"), owner(10), pat.ErrNoOwner)
			refused(t, g, newPAT(3, "ci"), owner(10), pat.ErrNoOwner)
			refused(t, g, newPAT(math.MaxInt32, "ci"), owner(10), pat.ErrNoOwner)
			refused(t, g, newPAT(2, "ci"), pat.Owner{Kind: user.Person, Limit: 10}, pat.ErrNoOwner)
			if exists, err := g.Users.Exists(t.Context(), 3); err != nil || exists {
				t.Errorf("the refusal made the account: %t, %v", exists, err)
			}
			p, _, err := g.PATs.Create(t.Context(), newPAT(1, "ci"), pat.Owner{Kind: user.Person, Limit: 10})
			check(t, err)
			if p.ID != 1 {
				t.Errorf("refusals took ids: the first PAT has %d", p.ID)
			}
			for id, want := range map[int64]int{1: 1, 2: 0} {
				u, err := g.Users.Get(t.Context(), id)
				check(t, err)
				if len(u.PATs) != want {
					t.Errorf("user %d holds %d places", id, len(u.PATs))
				}
			}
		}},
		{"a disabled account's PATs are still made and deleted", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			check(t, g.Users.SetDisabled(t.Context(), 1, true))
			p, _ := create(t, g, 1, "ci")
			check(t, g.PATs.Delete(t.Context(), 1, p.ID))
		}},
		{"a deletion frees the description and the place, and the id is never used again", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			for i := range int64(4) {
				p, _, err := g.PATs.Create(t.Context(), newPAT(1, "ci"), owner(1))
				check(t, err)
				if p.ID != i+1 {
					t.Errorf("id %d, want %d", p.ID, i+1)
				}
				check(t, g.PATs.Delete(t.Context(), 1, p.ID))
				if _, _, err := g.Tokens.PAT(t.Context(), 1, p.ID); !errors.Is(err, pat.ErrNotFound) {
					t.Errorf("after the deletion: %v", err)
				}
				u, err := g.Users.Get(t.Context(), 1)
				check(t, err)
				if len(u.PATs) != 0 {
					t.Errorf("places still taken: %v", u.PATs)
				}
			}
		}},
		{"only the owner's own PAT is deleted, and once; the others stay", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			account(t, g, 2, user.ServiceAccount)
			mine, _ := create(t, g, 1, "ci")
			other, _ := create(t, g, 1, "other")
			for _, at := range [][2]int64{{2, mine.ID}, {3, mine.ID}, {1, 3}, {1, math.MaxInt32}, {mine.ID, 1000}} {
				if err := g.PATs.Delete(t.Context(), at[0], at[1]); !errors.Is(err, pat.ErrNotFound) {
					t.Errorf("PAT %d of user %d: %v", at[1], at[0], err)
				}
			}
			check(t, g.PATs.Delete(t.Context(), 1, mine.ID))
			if err := g.PATs.Delete(t.Context(), 1, mine.ID); !errors.Is(err, pat.ErrNotFound) {
				t.Errorf("a second time: %v", err)
			}
			_, u, err := g.Tokens.PAT(t.Context(), 1, other.ID)
			check(t, err)
			if len(u.PATs) != 1 {
				t.Errorf("places: %v", u.PATs)
			}
		}},
		{"every secret is another", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			seen := map[auth.Verifier]bool{}
			for i := range 10 {
				p, token := create(t, g, 1, fmt.Sprint(i))
				if seen[p.Verifier] || token.Verifier() != p.Verifier {
					t.Error("a verifier came twice, or is not the secret's")
				}
				seen[p.Verifier] = true
			}
		}},
	}
}
