package stores_test

import (
	"context"
	"io"
	"testing"
	"time"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
	"toggleadmin/test/memory"
)

// ground is every store on one set of empty tables, and what the stores themselves have no way to do.
type ground struct {
	FeatureTypes interface {
		featuretype.Getter
		featuretype.Lister
		featuretype.LifetimeSetter
		Create(ctx context.Context, t featuretype.FeatureType) error
	}
	ContextFields interface {
		contextfield.Lister
		Create(ctx context.Context, f contextfield.ContextField) error
	}
	Feedback feedback.Updater
	Users    interface {
		feedback.Users
		Get(ctx context.Context, id int64) (user.User, error)
		Create(ctx context.Context, u user.User) error
		SetDisabled(ctx context.Context, id int64, disabled bool) error
		List(ctx context.Context) ([]user.User, error)
		Add(ctx context.Context, u user.User) (user.User, error)
	}
	PATs interface {
		pat.Creator
		pat.Deleter
		List(ctx context.Context) ([]pat.PAT, error)
	}
	APITokens interface {
		Get(ctx context.Context, selector auth.Selector) (apitoken.APIToken, error)
		Create(ctx context.Context, t apitoken.APIToken, random io.Reader) (auth.Token, error)
		Delete(ctx context.Context, selector auth.Selector) error
		List(ctx context.Context) ([]apitoken.APIToken, error)
	}
	Tokens authorizer.Tokens

	// drop deletes a type and dropOut an account, which no store does.
	drop    func(ctx context.Context, id string) error
	dropOut func(tb testing.TB, id int64)
}

// grounds are the ways to make one.
func grounds() map[string]func(testing.TB) *ground {
	return map[string]func(testing.TB) *ground{
		"memory": newMemory,
		"engine": func(tb testing.TB) *ground {
			tb.Helper()
			return newDatabase(tb).ground(tb)
		},
	}
}

func newMemory(tb testing.TB) *ground {
	tb.Helper()
	m := memory.New(memory.Hooks{})
	return &ground{
		FeatureTypes: m.FeatureTypes, ContextFields: m.ContextFields, Feedback: m.Feedback, Users: m.Users, PATs: m.PATs,
		APITokens: m.APITokens, Tokens: m.Tokens,
		drop:    func(_ context.Context, id string) error { m.FeatureTypes.Delete(id); return nil },
		dropOut: func(_ testing.TB, id int64) { m.Users.Delete(id) },
	}
}

// property is one promise of a store.
type property struct {
	name string
	test func(t *testing.T, g *ground)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, ground := range grounds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for store, properties := range map[string][]property{
				"feature types": featureTypes(), "context fields": contextFields(), "feedback": feedbacks(), "users": users(), "added users": addedUsers(),
				"PATs": pats(), "PATs at once": patsAtOnce(), "API tokens": apiTokens(), "authorizer": tokens(),
				"lists": lists(),
			} {
				t.Run(store, func(t *testing.T) {
					t.Parallel()
					for _, p := range properties {
						t.Run(p.name, func(t *testing.T) {
							t.Parallel()
							p.test(t, ground(t))
						})
					}
				})
			}
		})
	}
}

// instant is a time finer than what is stored, and stored is what is left of it.
func instant() (fine, stored time.Time) {
	return time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200)), time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
