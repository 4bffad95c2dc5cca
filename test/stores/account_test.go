package stores_test

import (
	"crypto/rand"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/user"
)

func feedbacks() []property {
	fine, stored := instant()
	type step struct {
		change    feedback.Change
		neverShow bool
		given     bool
	}
	steps := func(all ...step) func(*testing.T, *ground) {
		return func(t *testing.T, g *ground) {
			t.Helper()
			for i, s := range all {
				want := feedback.Feedback{FeedbackID: "f", UserID: 1, NeverShow: s.neverShow}
				if s.given {
					want.Given = &stored
				}
				got, err := g.Feedback.Update(t.Context(), "f", 1, s.change)
				check(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("step %d: %s", i, diff)
				}
			}
		}
	}
	never, show := feedback.Change{NeverShow: new(true)}, feedback.Change{NeverShow: new(false)}
	given, null := feedback.Change{SetGiven: true, Given: &fine}, feedback.Change{SetGiven: true}
	both := feedback.Change{NeverShow: new(true), SetGiven: true, Given: &fine}
	return []property{
		{"a record that is not there is made, with false and null where omitted", steps(step{feedback.Change{}, false, false})},
		{"made with neverShow alone", steps(step{never, true, false})},
		{"made with given alone, cut to milliseconds", steps(step{given, false, true})},
		{"made with given null", steps(step{null, false, false})},
		{"only the members sent change", steps(step{both, true, true}, step{feedback.Change{}, true, true}, step{show, false, true}, step{never, true, true})},
		{"given null is taken away, given absent is not", steps(step{both, true, true}, step{null, true, false}, step{null, true, false}, step{given, true, true})},
		{"a record belongs to a user and a questionnaire, matched as they are", func(t *testing.T, g *ground) {
			long := strings.Repeat("\U0001F600", 255)
			for _, id := range []string{"f", "F", "f ", "f/%2F", long} {
				_, err := g.Feedback.Update(t.Context(), id, 1, feedback.Change{NeverShow: new(true)})
				check(t, err)
				for _, other := range []int64{2, math.MaxInt32} {
					got, err := g.Feedback.Update(t.Context(), id, other, feedback.Change{})
					check(t, err)
					if got.NeverShow || got.UserID != other || got.FeedbackID != id {
						t.Errorf("%q of user %d: %v", id, other, got)
					}
				}
			}
			got, err := g.Feedback.Update(t.Context(), "g", 1, feedback.Change{})
			check(t, err)
			if got.NeverShow {
				t.Error(got)
			}
		}},
	}
}

func users() []property {
	return []property{
		{"every member is kept, and it starts without tokens", func(t *testing.T, g *ground) {
			for _, want := range []user.User{
				{ID: 1, Kind: user.Person, Name: "n", Email: "e@example.com", Role: auth.RoleAdmin},
				{ID: math.MaxInt32, Kind: user.ServiceAccount, Name: "", Role: auth.RoleViewer, Disabled: true},
			} {
				made := want
				made.PATs = map[string]int64{"k": 1}
				check(t, g.Users.Create(t.Context(), made))
				got, err := g.Users.Get(t.Context(), want.ID)
				check(t, err)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Error(diff)
				}
			}
		}},
		{"created again it stays as it is", func(t *testing.T, g *ground) {
			check(t, g.Users.Create(t.Context(), user.User{ID: 1, Name: "first"}))
			check(t, g.Users.Create(t.Context(), user.User{ID: 1, Name: "second"}))
			got, err := g.Users.Get(t.Context(), 1)
			check(t, err)
			if got.Name != "first" {
				t.Error(got)
			}
		}},
		{"an unknown id is not found and does not exist", func(t *testing.T, g *ground) {
			for _, id := range []int64{0, -1, 1, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64} {
				if exists, err := g.Users.Exists(t.Context(), id); err != nil || exists {
					t.Errorf("%d: %t, %v", id, exists, err)
				}
				if _, err := g.Users.Get(t.Context(), id); !errors.Is(err, user.ErrNotFound) {
					t.Errorf("%d: %v", id, err)
				}
				if err := g.Users.SetDisabled(t.Context(), id, true); !errors.Is(err, user.ErrNotFound) {
					t.Errorf("%d: %v", id, err)
				}
			}
			if exists, err := g.Users.Exists(t.Context(), 1); err != nil || exists {
				t.Errorf("made by SetDisabled: %t, %v", exists, err)
			}
		}},
		{"one that is there exists, disabled or not", func(t *testing.T, g *ground) {
			check(t, g.Users.Create(t.Context(), user.User{ID: 1, Kind: user.Person}))
			for _, disabled := range []bool{false, true, true, false} {
				check(t, g.Users.SetDisabled(t.Context(), 1, disabled))
				u, err := g.Users.Get(t.Context(), 1)
				check(t, err)
				if exists, err := g.Users.Exists(t.Context(), 1); err != nil || !exists || u.Disabled != disabled {
					t.Errorf("%t, %v, %v", exists, err, u)
				}
			}
		}},
	}
}

func apiTokens() []property {
	fine, stored := instant()
	return []property{
		{"created, read back, and deleted at once", func(t *testing.T, g *ground) {
			token, err := g.APITokens.Create(t.Context(), apitoken.APIToken{Name: "n", ExpiresAt: &fine}, rand.Reader)
			check(t, err)
			want := apitoken.APIToken{Selector: token.Selector, Name: "n", Verifier: token.Verifier(), ExpiresAt: &stored}
			got, err := g.APITokens.Get(t.Context(), token.Selector)
			check(t, err)
			if diff := cmp.Diff(want, got); diff != "" || token.Kind != auth.APIToken {
				t.Error(diff)
			}
			check(t, g.APITokens.Delete(t.Context(), token.Selector))
			check(t, g.APITokens.Delete(t.Context(), token.Selector))
			if _, err := g.APITokens.Get(t.Context(), token.Selector); !errors.Is(err, apitoken.ErrNotFound) {
				t.Error(err)
			}
		}},
		{"without an end it never expires; two of one name are two", func(t *testing.T, g *ground) {
			one, err := g.APITokens.Create(t.Context(), apitoken.APIToken{Name: "n"}, rand.Reader)
			check(t, err)
			two, err := g.APITokens.Create(t.Context(), apitoken.APIToken{Name: "n"}, rand.Reader)
			check(t, err)
			got, err := g.APITokens.Get(t.Context(), one.Selector)
			check(t, err)
			if got.ExpiresAt != nil || got.Expired(fine) || one.Selector == two.Selector || one.Verifier() == two.Verifier() {
				t.Error(got)
			}
		}},
		{"no randomness, no token", func(t *testing.T, g *ground) {
			for _, n := range []int{0, 15, 16, 47} {
				if _, err := g.APITokens.Create(t.Context(), apitoken.APIToken{}, strings.NewReader(strings.Repeat("r", n))); err == nil {
					t.Errorf("a token of %d bytes", n)
				}
			}
		}},
	}
}
