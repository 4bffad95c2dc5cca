package seed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/user"
)

func ada() seed.Administrator { return seed.Administrator{Name: "Ada", Email: "ada@example.com"} }

func (g ground) initialise(tb testing.TB) seed.Initialised {
	tb.Helper()
	done, err := seed.Initialise(tb.Context(), g.config(tb, seed.Credentials{}), ada())
	if err != nil {
		tb.Fatal(err)
	}
	return done
}

// checkInitialised checks that all is there once and that the token is the only credential.
func (g ground) checkInitialised(tb testing.TB, token auth.Token) {
	tb.Helper()
	g.checkTypes(tb)
	fields, err := contextfield.NewStore(g.client(tb), g.tables).List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(contextfield.Defaults(now()), fields, cmpopts.EquateEmpty()); diff != "" {
		tb.Error(diff)
	}
	people, err := user.NewStore(g.client(tb), g.tables).List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	want := []user.User{{ID: 1, Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: auth.RoleAdmin}}
	if diff := cmp.Diff(want, people, cmpopts.EquateEmpty()); diff != "" {
		tb.Error(diff)
	}
	counts := map[string]int{
		"toggles": g.count(tb, g.tables.Features), "API tokens": g.count(tb, g.tables.APITokens), "marker": g.count(tb, g.tables.PersonalAccessTokens),
	}
	if diff := cmp.Diff(map[string]int{"toggles": 0, "API tokens": 1, "marker": 1}, counts); diff != "" {
		tb.Error(diff)
	}
	if p := g.principal(tb, token.Reveal()); !strings.HasPrefix(p, "api-token:") {
		tb.Errorf("the token is %q's", p)
	}
}

func TestInitialise(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	if _, ok, err := seed.ReadMarker(t.Context(), g.client(t), g.tables); ok || err != nil {
		t.Errorf("empty tables are marked: %t, %v", ok, err)
	}
	first := g.initialise(t)
	if !first.New || first.Administrator.Name != "Ada" {
		t.Errorf("%+v", first)
	}
	g.checkInitialised(t, first.Token)

	again, err := seed.Initialise(t.Context(), g.config(t, seed.Credentials{}), seed.Administrator{Name: "Eve"})
	if err != nil || again.New || again.Token != (auth.Token{}) || !again.Marker.At.Equal(now()) {
		t.Errorf("again: %+v, %v", again, err)
	}
	g.checkInitialised(t, first.Token)
}

func TestInitialiseKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	days := int64(3)
	if err := featuretype.NewStore(g.client(t), g.tables).Create(t.Context(), featuretype.FeatureType{ID: "release", LifetimeDays: &days}); err != nil {
		t.Fatal(err)
	}
	if err := user.NewStore(g.client(t), g.tables).Create(t.Context(), user.User{ID: 1, Kind: user.Person, Name: "first", Role: auth.RoleAdmin}); err != nil {
		t.Fatal(err)
	}
	done := g.initialise(t)
	if !done.New || done.Administrator.Name != "first" {
		t.Errorf("%+v", done)
	}
	types, err := featuretype.NewStore(g.client(t), g.tables).List(t.Context())
	if err != nil || len(types) != len(featuretype.Defaults()) || *types[0].LifetimeDays != 3 {
		t.Errorf("%+v, %v", types, err)
	}
}

func TestInitialiseAtOnceMakesOneToken(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	var tokens []auth.Token
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			done, err := seed.Initialise(t.Context(), g.config(t, seed.Credentials{}), ada())
			if err != nil {
				t.Error(err)
			}
			if done.New {
				mu.Lock()
				tokens = append(tokens, done.Token)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(tokens) != 1 {
		t.Fatalf("%d tokens", len(tokens))
	}
	g.checkInitialised(t, tokens[0])
}

// TestInitialiseIsWholeOrNothing stops it at each write, carried out or not: nothing is there, or all of it.
func TestInitialiseIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	endpoint := enginetest.Endpoint(t)
	for _, carriedOut := range []bool{false, true} {
		for n := int64(1); ; n++ {
			g := newGround(t, endpoint, fmt.Sprintf("n%d-%v-", n, carriedOut))
			var writes atomic.Int64
			_, err := seed.Initialise(t.Context(), g.config(t, seed.Credentials{}, crash(n, carriedOut, &writes)), ada())
			if err == nil {
				if n < 2 {
					t.Error("nothing was written")
				}
				break
			}
			if !errors.Is(err, errCrashed) {
				t.Fatal(err)
			}
			again := g.initialise(t)
			if again.New == carriedOut {
				t.Errorf("write %d, carried out %t: the next call did something: %t", n, carriedOut, again.New)
			}
			if again.New {
				g.checkInitialised(t, again.Token)
			}
		}
	}
}

// lose carries the transaction out and gives an answer in its place that a repetition of it would get.
func lose(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Lose", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		if _, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput); ok && err == nil {
			code := "ConditionalCheckFailed"
			err = &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: &code}}}
		}
		return out, metadata, err
	}), middleware.After)
}

// TestInitialiseFindsItsOwnWrite: the answer was lost, and the repetition heard that all is there.
func TestInitialiseFindsItsOwnWrite(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	done, err := seed.Initialise(t.Context(), g.config(t, seed.Credentials{}, lose), ada())
	if err != nil || !done.New {
		t.Fatalf("%+v, %v", done, err)
	}
	g.checkInitialised(t, done.Token)
}

// TestInitialiseWithoutRandomness writes nothing.
func TestInitialiseWithoutRandomness(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	c := g.config(t, seed.Credentials{})
	c.Random = strings.NewReader("short")
	if _, err := seed.Initialise(t.Context(), c, ada()); err == nil {
		t.Error("a token without randomness")
	}
	if n := g.count(t, g.tables.FeatureTypes) + g.count(t, g.tables.Users); n != 0 {
		t.Errorf("%d items", n)
	}
}
