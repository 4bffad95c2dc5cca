package seed_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// initialize initializes with the administrator Ada.
func initialize(ctx context.Context, c seed.Config) (seed.Initialized, error) {
	return seed.Initialize(ctx, c, seed.Administrator{Name: "Ada", Email: "ada@example.com"})
}

func (f fixture) initialize(tb testing.TB) seed.Initialized {
	tb.Helper()
	done, err := initialize(tb.Context(), f.config())
	assert.OK(tb, err)
	return done
}

// checkInitialized checks that the call did it, that everything exists once and that the token is valid.
func (f fixture) checkInitialized(tb testing.TB, done seed.Initialized) {
	tb.Helper()
	f.checkCounts(tb, map[string]int{"FeatureTypes": 5, "ContextFields": 11, "Environments": 4, "Users": 3, "Identifiers": 1,
		"PersonalAccessTokens": 1, "ApiTokens": 1, "Events": 1})
	fields, err := f.fields.List(tb.Context())
	assert.OK(tb, err)
	assert.Equal(tb, contextfield.Defaults(now()), fields, cmpopts.EquateEmpty())
	selector := done.Token.Selector.String()
	assert.Equal(tb, "api-token:"+selector, f.principal(tb, done.Token.Reveal()))
	assert.Equal(tb, seed.Initialized{
		New: true, Token: done.Token, Marker: seed.Marker{At: now(), APIToken: selector},
		Administrator: user.User{ID: 1, Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleAdmin},
	}, done, cmpopts.EquateEmpty(), cmpopts.EquateComparable(access.Token{}))
}

func TestInitialize(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, marked, err := seed.ReadMarker(t.Context(), f.Client, f.Tables)
	assert.OK(t, err)
	assert.Equal(t, false, marked)
	first := f.initialize(t)
	again, err := seed.Initialize(t.Context(), f.config(), seed.Administrator{Name: "Eve"})
	assert.OK(t, err)
	assert.Equal(t, seed.Initialized{Marker: first.Marker}, again, cmpopts.EquateComparable(access.Token{}))
	f.checkInitialized(t, first)
	assert.Equal(t, []string{`installation-initialized installation:toggleadmin by system: {"apiToken":"` +
		first.Marker.APIToken + `"}`}, f.Events(t))
}

func TestInitializeChangesNothingThatExists(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	assert.OK(t, f.types.Create(t.Context(), toggle.Type{ID: "release", LifetimeDays: new(int64(3))}),
		f.users.Create(t.Context(), user.User{ID: 1, Kind: user.Person, Name: "first", Role: access.RoleAdmin}))
	done := f.initialize(t)
	release, err := f.types.Get(t.Context(), "release")
	assert.OK(t, err)
	assert.Equal(t, []any{true, "first", int64(3), len(toggle.DefaultTypes())},
		[]any{done.New, done.Administrator.Name, *release.LifetimeDays, len(f.Scan(t, f.Tables["FeatureTypes"]))})
}

func TestConcurrentInitializeMakesOneToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := make(chan seed.Initialized, 8)
	var calls sync.WaitGroup
	for range cap(made) {
		calls.Go(func() {
			if done := f.initialize(t); done.New {
				made <- done
			}
		})
	}
	calls.Wait()
	assert.Equal(t, 1, len(made))
	f.checkInitialized(t, <-made)
}

// TestInterruptedInitialize checks that its last write leaves everything or nothing. The first one raises the counter
// of accounts.
func TestInterruptedInitialize(t *testing.T) {
	t.Parallel()
	for _, carriedOut := range []bool{false, true} {
		f := newFixture(t)
		if !crash(t, newFixture(t), 1, carriedOut, initialize) || !crash(t, f, 2, carriedOut, initialize) ||
			crash(t, newFixture(t), 3, carriedOut, initialize) {
			t.Error("not exactly two writes")
		}
		again := f.initialize(t)
		if assert.Equal(t, !carriedOut, again.New); again.New {
			f.checkInitialized(t, again)
		}
	}
}

// TestInitializeRecognizesItsOwnWrite loses the response of the transaction. The engine does not store its token and
// rejects the retry.
func TestInitializeRecognizesItsOwnWrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Client, _ = f.Through(t, func(call *database.Call) (*http.Response, error) {
		switch {
		case call.Operation != "TransactWriteItems":
			return call.Pass()
		case call.N == 1:
			return call.Lose()
		}
		return call.Cancel("ConditionalCheckFailed")
	})
	f.checkInitialized(t, f.initialize(t))
}

func TestInitializeWithoutRandomness(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.config()
	c.Random = strings.NewReader("short")
	_, err := initialize(t.Context(), c)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, 0, len(f.Scan(t, f.Tables["Users"])))
}

// TestInitializeWithoutTheAdministrator loses the tables Users and PersonalAccessTokens in part.
func TestInitializeWithoutTheAdministrator(t *testing.T) {
	t.Parallel()
	for want, prepare := range map[string]func(f fixture){
		`The e-mail address "ada@example.com" is reserved for another account`: func(f fixture) {
			f.Put(t, f.Tables["Identifiers"], dynamo.Item{"id": dynamo.S("email:ada@example.com"), "accountId": dynamo.N(1)})
		},
		"The account 1 exists, but its deletion has not ended": func(f fixture) {
			f.Put(t, f.Tables["Users"], dynamo.Item{"id": dynamo.N(1), "deleting": dynamo.S("user")})
		},
	} {
		f := newFixture(t)
		prepare(f)
		_, err := initialize(t.Context(), f.config())
		if message := apierror.From(err).Message; !strings.HasPrefix(message, want) {
			t.Errorf("%q (%v), want %q", message, err, want)
		}
	}
}
