package seed_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/seed"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/assert"
)

// checkSeeded checks that everything exists once and that the credentials are the only ones.
func (f fixture) checkSeeded(tb testing.TB, c seed.Credentials) {
	tb.Helper()
	f.checkCounts(tb, map[string]int{
		// with counters and the marker
		"FeatureTypes": 5, "ContextFields": 6, "Features": 8, "Users": 6, "Identifiers": 4, "ApiTokens": 1,
		"PersonalAccessTokens": 5, "Events": 1,
	})
	fields, err := contextfield.NewStore(f.Client, f.Tables, f.Log()).List(tb.Context())
	assert.OK(tb, err)
	used := map[string]string{}
	for _, f := range fields {
		used[f.Name] = fmt.Sprintf("%d/%d", f.UsedInFeatures(), f.UsedInProjects())
	}
	want := map[string]string{"environment": "2/1", "userId": "3/2", "appName": "2/2", "currentTime": "0/0",
		"sessionId": "1/1"}
	assert.Equal(tb, want, used)
	owners := []string{f.principal(tb, c.APIToken)[:len("api-token:")]}
	users := slices.Clone(c.Users)
	for i, u := range users {
		owners, users[i].PAT = append(owners, f.principal(tb, u.PAT)), ""
	}
	c.APIToken, c.Users = "", users
	assert.Equal(tb, []string{"api-token:", "user:1", "user:2", "user:3"}, owners)
	assert.Equal(tb, seed.Credentials{
		Users: []seed.User{
			{ID: 1, Name: "admin", Role: access.RoleAdmin}, {ID: 2, Name: "editor", Role: access.RoleEditor},
			{ID: 3, Name: "viewer", Role: access.RoleViewer},
		},
		ServiceAccounts: []seed.ServiceAccount{{ID: 4, Name: "ci", Role: access.RoleEditor}},
	}, c)
	ci, err := user.NewStore(f.Client, f.Tables, f.Log()).Get(tb.Context(), 4)
	if err != nil || ci.Kind != user.ServiceAccount || len(ci.PATs) != 0 || ci.CreatedAt == nil {
		tb.Errorf("the service account is %+v, %v", ci, err)
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.seed(t, seed.Credentials{})
	if !first.New || first.Renewed != 4 {
		t.Errorf("%+v", first)
	}
	f.checkSeeded(t, first.Credentials)
	assert.Equal(t, []string{`installation-initialized installation:toggleadmin by system: {"apiToken":null}`},
		f.Events(t))
	assert.Equal(t, seed.Result{Credentials: first.Credentials}, f.seed(t, first.Credentials))
	lost := f.seed(t, seed.Credentials{})
	if lost.New || lost.Renewed != 4 {
		t.Errorf("%+v", lost)
	}
	for _, old := range []string{first.Credentials.APIToken, first.Credentials.Users[0].PAT,
		first.Credentials.Users[2].PAT} {
		if p := f.principal(t, old); p != "" {
			t.Errorf("a lost credential of %s is still valid", p)
		}
	}
	f.checkSeeded(t, lost.Credentials)
}

func TestSeedRenewsOnlyInvalidCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	current := f.seed(t, seed.Credentials{}).Credentials
	for _, tt := range []struct {
		name   string
		change func(*seed.Credentials)
	}{
		{"missing", func(c *seed.Credentials) { c.Users = c.Users[1:] }},
		{"malformed", func(c *seed.Credentials) { c.Users[1].PAT += "x" }},
		{"another user's", func(c *seed.Credentials) { c.Users[1].PAT = c.Users[2].PAT }},
		{"wrong secret", func(c *seed.Credentials) { c.Users[1].PAT = wrongSecret(c.Users[1].PAT) }},
		{"API token with a wrong secret", func(c *seed.Credentials) { c.APIToken = wrongSecret(c.APIToken) }},
		{"PAT for an API token", func(c *seed.Credentials) { c.APIToken = c.Users[0].PAT }},
	} {
		known := current
		known.Users = slices.Clone(current.Users)
		tt.change(&known)
		r := f.seed(t, known)
		if r.New || r.Renewed != 1 {
			t.Errorf("%s: new %t, %d credentials made", tt.name, r.New, r.Renewed)
		}
		current = r.Credentials
		f.checkSeeded(t, current)
	}
}

func wrongSecret(token string) string { return token[:len(token)-43] + strings.Repeat("A", 43) }

func TestSeedKeepsChangesOfUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.seed(t, seed.Credentials{}).Credentials
	types, toggles := featuretype.NewStore(f.Client, f.Tables, f.Log()), feature.NewStore(f.Client, f.Tables, f.Log())
	_, err := types.SetLifetime(t.Context(), "release", new(int64(3)))
	assert.OK(t, err)
	_, err = toggles.Update(t.Context(), "dark-mode",
		func(f feature.Feature) (feature.Feature, error) { f.Stale = true; return f, nil })
	assert.OK(t, err)
	f.Delete(t, f.Tables.Users, user.Key(2))
	if r := f.seed(t, first); r.New || r.Renewed != 0 || len(r.Credentials.Users) != 2 {
		t.Errorf("%+v", r)
	}
	if release, err := types.Get(t.Context(), "release"); err != nil || *release.LifetimeDays != 3 {
		t.Errorf("%+v, %v", release, err)
	}
	if f, err := toggles.Get(t.Context(), "dark-mode"); err != nil || !f.Stale {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestInterruptedSeed stops the first call, and one that renews all credentials, at each of its writes. The next call
// repairs it.
func TestInterruptedSeed(t *testing.T) {
	t.Parallel()
	for _, renew := range []bool{false, true} {
		for _, carriedOut := range []bool{false, true} {
			t.Run(fmt.Sprintf("renew %t, carried out %t", renew, carriedOut), func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					f := newFixture(t)
					if renew {
						f.seed(t, seed.Credentials{})
					}
					crashed := f.crash(t, n, carriedOut, func(ctx context.Context, c seed.Config) error {
						_, err := seed.Seed(ctx, c)
						return err
					})
					if !crashed && n > 7 {
						return
					}
					f.checkSeeded(t, f.seed(t, seed.Credentials{}).Credentials)
					if !crashed || t.Failed() {
						t.Fatalf("after write %d, crashed %t", n, crashed)
					}
				}
			})
		}
	}
}
