package stores_test

import (
	"crypto/rand"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

func tokens() []property {
	fine, stored := instant()
	seenAt := func(t *testing.T, g *fixture, want *time.Time) {
		t.Helper()
		p, _, err := g.Tokens.PAT(t.Context(), 1, 1)
		check(t, err)
		if diff := cmp.Diff(want, p.SeenAt); diff != "" {
			t.Errorf("seenAt: %s", diff)
		}
	}
	return []property{
		{"a PAT comes with its owner as the owner is now", func(t *testing.T, g *fixture) {
			account(t, g, 1, user.ServiceAccount)
			create(t, g, 1, "ci")
			for _, disabled := range []bool{true, false} {
				check(t, g.Users.SetDisabled(t.Context(), 1, disabled))
				p, u, err := g.Tokens.PAT(t.Context(), 1, 1)
				check(t, err)
				if p.ID != 1 || u.ID != 1 || u.Disabled != disabled || u.Role != auth.RoleEditor || u.Kind != user.ServiceAccount {
					t.Errorf("%v, %v", p, u)
				}
			}
		}},
		{"an unknown PAT is not found, nor another user's", func(t *testing.T, g *fixture) {
			account(t, g, 1, user.ServiceAccount)
			account(t, g, 2, user.ServiceAccount)
			create(t, g, 1, "ci")
			for _, at := range [][2]int64{{2, 1}, {1, 2}, {math.MaxInt32, math.MaxInt32}} {
				if _, _, err := g.Tokens.PAT(t.Context(), at[0], at[1]); !errors.Is(err, pat.ErrNotFound) {
					t.Errorf("%v: %v", at, err)
				}
			}
		}},
		{"an API token is read, or not found", func(t *testing.T, g *fixture) {
			token, err := g.APITokens.Create(t.Context(), apitoken.APIToken{Name: "n"}, rand.Reader)
			check(t, err)
			got, err := g.Tokens.APIToken(t.Context(), token.Selector)
			check(t, err)
			if !token.Verifier().Equal(got.Verifier[:]) {
				t.Error("another verifier")
			}
			if _, err := g.Tokens.APIToken(t.Context(), auth.Selector{1}); !errors.Is(err, apitoken.ErrNotFound) {
				t.Error(err)
			}
		}},
		{"seenAt is written the first time, cut to milliseconds", func(t *testing.T, g *fixture) {
			account(t, g, 1, user.ServiceAccount)
			create(t, g, 1, "ci")
			seenAt(t, g, nil)
			check(t, g.Tokens.Seen(t.Context(), 1, 1, fine, fine.Add(-time.Minute)))
			seenAt(t, g, &stored)
		}},
		{"seenAt is written again only where it is earlier than before", func(t *testing.T, g *fixture) {
			account(t, g, 1, user.ServiceAccount)
			create(t, g, 1, "ci")
			check(t, g.Tokens.Seen(t.Context(), 1, 1, stored, stored.Add(-time.Minute)))
			check(t, g.Tokens.Seen(t.Context(), 1, 1, stored.Add(time.Minute), stored))
			seenAt(t, g, &stored)
			check(t, g.Tokens.Seen(t.Context(), 1, 1, stored.Add(time.Minute), stored.Add(time.Millisecond)))
			seenAt(t, g, new(stored.Add(time.Minute)))
		}},
		{"seenAt does not bring a deleted PAT back", func(t *testing.T, g *fixture) {
			account(t, g, 1, user.ServiceAccount)
			create(t, g, 1, "ci")
			check(t, g.PATs.Delete(t.Context(), 1, 1))
			check(t, g.Tokens.Seen(t.Context(), 1, 1, fine, fine.Add(-time.Minute)))
			if _, _, err := g.Tokens.PAT(t.Context(), 1, 1); !errors.Is(err, pat.ErrNotFound) {
				t.Error(err)
			}
		}},
	}
}
