package seed_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// checkSeeded checks that everything exists once and that the credentials are the only ones.
func (f fixture) checkSeeded(tb testing.TB, c seed.Credentials) {
	tb.Helper()
	f.checkCounts(tb, map[string]int{
		// with counters and the marker
		"FeatureTypes": 5, "ContextFields": 11, "Environments": 4, "Features": 8, "Users": 6, "Identifiers": 4, "Access": 1, "ApiTokens": 1,
		"PersonalAccessTokens": 5, "ClientTokens": 5, "Events": 1,
	})
	fields, err := f.fields.List(tb.Context())
	ci, ciErr := f.users.Get(tb.Context(), 4)
	assert.OK(tb, err, ciErr)
	used := map[string]string{}
	for _, f := range fields {
		used[f.Name] = fmt.Sprintf("%d/%d", f.References.Toggles(), f.References.Projects())
	}
	assert.Equal(tb, "map[appName:2/2 currentTime:0/0 environment:2/1 sessionId:1/1 userId:3/2]", fmt.Sprint(used))
	got := strings.Replace(fmt.Sprintf("%+v", c), c.APIToken, f.principal(tb, c.APIToken)[:len("api-token:")], 1)
	for _, u := range c.Users {
		got = strings.Replace(got, u.PAT, f.principal(tb, u.PAT), 1)
	}
	tokens := clienttoken.NewStore(f.Client, f.Tables, nil)
	for i, known := range c.ClientTokens {
		stored, err := tokens.Find(tb.Context(), known.Secret)
		assert.OK(tb, err)
		assert.Equal(tb, seed.ClientToken{Type: stored.Type, Environment: stored.Environment, Secret: known.Secret}, known)
		got = strings.Replace(got, c.ClientTokens[i].Secret, stored.Listed()[:len("*:production")], 1)
	}
	assert.Equal(tb, "{APIToken:api-token: Users:[{ID:1 Name:admin Role:Admin PAT:user:1 Disabled:false} "+
		"{ID:2 Name:editor Role:Editor PAT:user:2 Disabled:false} {ID:3 Name:viewer Role:Viewer PAT:user:3 Disabled:false}] ServiceAccounts:[{ID:4 Name:ci Role:Editor}] "+
		"ClientTokens:[{Type:backend Environment:development Secret:*:developmen} "+
		"{Type:frontend Environment:development Secret:*:developmen} "+
		"{Type:backend Environment:production Secret:*:production} "+
		"{Type:frontend Environment:production Secret:*:production}]}", got)
	assert.Equal(tb, []any{user.ServiceAccount, 0, true}, []any{ci.Kind, len(ci.PATs), ci.CreatedAt != nil})
}

func TestSeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.seed(t, seed.Credentials{})
	assert.Equal(t, seed.Result{New: true, Renewed: 8, Credentials: first.Credentials}, first)
	f.checkSeeded(t, first.Credentials)
	assert.Equal(t, []string{`installation-initialized installation:toggleadmin by system: {"apiToken":null}`},
		f.Events(t))
	assert.Equal(t, seed.Result{Credentials: first.Credentials}, f.seed(t, first.Credentials))
	lost, old := f.seed(t, seed.Credentials{}), first.Credentials
	assert.Equal(t, seed.Result{Renewed: 8, Credentials: lost.Credentials}, lost)
	for _, token := range []string{old.APIToken, old.Users[0].PAT, old.Users[2].PAT} {
		assert.Equal(t, "", f.principal(t, token))
	}
	f.checkSeeded(t, lost.Credentials)
}

func TestSeedRenewsOnlyInvalidCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	current := f.seed(t, seed.Credentials{}).Credentials
	for i, change := range []func(*seed.Credentials){
		func(c *seed.Credentials) { c.Users = c.Users[1:] },
		func(c *seed.Credentials) { c.Users[1].PAT += "x" },
		func(c *seed.Credentials) { c.Users[1].PAT = c.Users[2].PAT },
		func(c *seed.Credentials) { c.Users[1].PAT = wrongSecret(c.Users[1].PAT) },
		func(c *seed.Credentials) { c.APIToken = wrongSecret(c.APIToken) },
		func(c *seed.Credentials) { c.APIToken = c.Users[0].PAT },
	} {
		known := current
		known.Users = slices.Clone(current.Users)
		change(&known)
		r := f.seed(t, known)
		if r.New || r.Renewed != 1 {
			t.Errorf("change %d: new %t, %d credentials made", i, r.New, r.Renewed)
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
	toggles := feature.NewStore(f.Client, f.Tables, f.Log())
	_, err := f.types.SetLifetime(t.Context(), "release", new(int64(3)))
	assert.OK(t, err)
	_, err = toggles.Update(t.Context(), "dark-mode",
		func(f toggle.Feature) (toggle.Feature, error) { f.Stale = true; return f, nil })
	assert.OK(t, err)
	f.Delete(t, f.Tables["Users"], user.Key(2))
	again := f.seed(t, first)
	release, releaseErr := f.types.Get(t.Context(), "release")
	toggle, toggleErr := toggles.Get(t.Context(), "dark-mode")
	assert.OK(t, releaseErr, toggleErr)
	assert.Equal(t, []any{false, 0, 2, int64(3), true},
		[]any{again.New, again.Renewed, len(again.Credentials.Users), *release.LifetimeDays, toggle.Stale})
}

// TestInterruptedSeed stops the first call, and one that renews all credentials, after each of its writes. The next call
// repairs it. A call that stops before a write leaves what one leaves that stops after the write before.
func TestInterruptedSeed(t *testing.T) {
	t.Parallel()
	for _, renew := range []bool{false, true} {
		t.Run(fmt.Sprintf("renew %t", renew), func(t *testing.T) {
			t.Parallel()
			f, n := newFixture(t), 1
			if renew {
				f.seed(t, seed.Credentials{})
			}
			for ; crash(t, f, n, true, seed.Seed) && !t.Failed(); n++ {
				f.checkSeeded(t, f.seed(t, seed.Credentials{}).Credentials)
				if !renew {
					f = newFixture(t)
				}
			}
			if n <= 7 {
				t.Errorf("only %d writes", n-1)
			}
		})
	}
}
