package seed_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/seed"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func ada() seed.Administrator { return seed.Administrator{Name: "Ada", Email: "ada@example.com"} }

// checkInitialized checks that everything exists once and that the token is valid.
func (f fixture) checkInitialized(tb testing.TB, token access.Token) {
	tb.Helper()
	f.checkCounts(tb, map[string]int{"FeatureTypes": 5, "ContextFields": 6, "Users": 2, "Identifiers": 1,
		"PersonalAccessTokens": 1, "ApiTokens": 1, "Events": 1})
	fields, err := contextfield.NewStore(f.Client, f.Tables, f.Log()).List(tb.Context())
	assert.OK(tb, err)
	assert.Equal(tb, contextfield.Defaults(now()), fields, cmpopts.EquateEmpty())
	administrator, err := user.NewStore(f.Client, f.Tables, f.Log()).Get(tb.Context(), 1)
	want := user.User{ID: 1, Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleAdmin}
	if diff := cmp.Diff(want, administrator, cmpopts.EquateEmpty()); diff != "" || err != nil {
		tb.Error(err, diff)
	}
	if p := f.principal(tb, token.Reveal()); p != "api-token:"+token.Selector.String() {
		tb.Errorf("the token belongs to %q", p)
	}
}

func TestInitialize(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, ok, err := seed.ReadMarker(t.Context(), f.Client, f.Tables); ok || err != nil {
		t.Errorf("empty tables have a marker: %t, %v", ok, err)
	}
	first, err := seed.Initialize(t.Context(), f.config(seed.Credentials{}), ada())
	if err != nil || !first.New || first.Administrator.Name != "Ada" {
		t.Errorf("%+v, %v", first, err)
	}
	f.checkInitialized(t, first.Token)
	recorded := `installation-initialized installation:toggleadmin by system: {"apiToken":"` +
		first.Token.Selector.String() + `"}`
	assert.Equal(t, []string{recorded}, f.Events(t))
	again, err := seed.Initialize(t.Context(), f.config(seed.Credentials{}), seed.Administrator{Name: "Eve"})
	want := seed.Initialized{Marker: seed.Marker{At: now(), APIToken: first.Token.Selector.String()}}
	if diff := cmp.Diff(want.Marker, again.Marker); diff != "" || err != nil || again.New ||
		again.Token != (access.Token{}) {
		t.Errorf("again: %+v, %v, marker (-want +got):\n%s", again, err, diff)
	}
	f.checkInitialized(t, first.Token)
}

func TestInitializeChangesNothingThatExists(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	types := featuretype.NewStore(f.Client, f.Tables, f.Log())
	assert.OK(t, types.Create(t.Context(), featuretype.FeatureType{ID: "release", LifetimeDays: new(int64(3))}))
	assert.OK(t, user.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(),
		user.User{ID: 1, Kind: user.Person, Name: "first", Role: access.RoleAdmin}))
	done, err := seed.Initialize(t.Context(), f.config(seed.Credentials{}), ada())
	if err != nil || !done.New || done.Administrator.Name != "first" {
		t.Errorf("%+v, %v", done, err)
	}
	release, err := types.Get(t.Context(), "release")
	if err != nil || *release.LifetimeDays != 3 || len(f.Scan(t, f.Tables.FeatureTypes)) != len(featuretype.Defaults()) {
		t.Errorf("%+v, %v", release, err)
	}
}

func TestConcurrentInitializeMakesOneToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var mu sync.Mutex
	var tokens []access.Token
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			done, err := seed.Initialize(t.Context(), f.config(seed.Credentials{}), ada())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if done.New {
				tokens = append(tokens, done.Token)
			}
		})
	}
	calls.Wait()
	if len(tokens) != 1 {
		t.Fatalf("%d tokens", len(tokens))
	}
	f.checkInitialized(t, tokens[0])
}

// TestInterruptedInitialize checks that its last write leaves everything or nothing. The first one raises the counter
// of accounts.
func TestInterruptedInitialize(t *testing.T) {
	t.Parallel()
	for _, carriedOut := range []bool{false, true} {
		f := newFixture(t)
		run := func(ctx context.Context, c seed.Config) error {
			_, err := seed.Initialize(ctx, c, ada())
			return err
		}
		if !newFixture(t).crash(t, 1, carriedOut, run) || !f.crash(t, 2, carriedOut, run) ||
			newFixture(t).crash(t, 3, carriedOut, run) {
			t.Error("not exactly two writes")
		}
		again, err := seed.Initialize(t.Context(), f.config(seed.Credentials{}), ada())
		if err != nil || again.New == carriedOut {
			t.Errorf("carried out %t: the next call did something: %t, %v", carriedOut, again.New, err)
		}
		if again.New {
			f.checkInitialized(t, again.Token)
		}
	}
}

// TestInitializeRecognizesItsOwnWrite loses the response of the transaction. The engine does not store its token and
// rejects the retry.
func TestInitializeRecognizesItsOwnWrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.config(seed.Credentials{})
	c.Client, _ = f.Through(t, func(call *database.Call) (*http.Response, error) {
		if call.Operation == "TransactWriteItems" && call.N == 1 {
			return call.Lose()
		}
		if call.Operation == "TransactWriteItems" {
			return call.Cancel("ConditionalCheckFailed")
		}
		return call.Pass()
	})
	done, err := seed.Initialize(t.Context(), c, ada())
	if err != nil || !done.New {
		t.Fatalf("%+v, %v", done, err)
	}
	f.checkInitialized(t, done.Token)
}

func TestInitializeWithoutRandomness(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.config(seed.Credentials{})
	c.Random = strings.NewReader("short")
	if _, err := seed.Initialize(t.Context(), c, ada()); err == nil || len(f.Scan(t, f.Tables.Users)) != 0 {
		t.Errorf("error %v", err)
	}
}
