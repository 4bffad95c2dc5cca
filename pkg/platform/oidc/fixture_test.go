package oidc_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
)

// begin is the time at which each test begins. The tables of tokens contain it as a number.
var begin = time.Unix(1_800_000_000, 0)

// fixture is an issuer and a verifier of its tokens, with a clock that stands still.
type fixture struct {
	*issuer.Issuer
	verifier *oidc.Issuer
	log      bytes.Buffer // written before Verify returns, except by a refresh in the background

	mu  sync.Mutex
	now time.Time
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Issuer: issuer.New(tb), now: begin}
	f.verifier = newVerifier(tb, oidc.Config{Issuer: f.URL, GroupsClaim: "groups", Now: f.Now, FetchTimeout: time.Minute,
		Logger:    slog.New(slog.NewJSONHandler(&f.log, nil)),
		Transport: f.Transport()})
	return f
}

// newVerifier adds the client ID and, if there is none, a logger.
func newVerifier(tb testing.TB, config oidc.Config) *oidc.Issuer {
	tb.Helper()
	config.ClientID, config.Logger = issuer.ClientID, cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	verifier, err := oidc.New(config)
	assert.OK(tb, err)
	return verifier
}

func (f *fixture) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// token returns a token that is valid now, signed by a key.
func (f *fixture) token(k issuer.Key) string { return k.Sign(nil, f.Claims(f.Now(), nil)) }

// reason returns why the verifier rejects a token, or "" if it accepts the token.
func (f *fixture) reason(tb testing.TB, token string) oidc.Reason {
	tb.Helper()
	_, err := verify(tb.Context(), f.verifier, token)
	return reason(tb, err)
}

func verify(ctx context.Context, verifier *oidc.Issuer, token string) (oidc.Claims, error) {
	parsed, err := oidc.Parse(token)
	if err != nil {
		return oidc.Claims{}, err
	}
	return verifier.Verify(ctx, parsed)
}

func reason(tb testing.TB, err error) oidc.Reason {
	tb.Helper()
	if err == nil {
		return ""
	}
	rejected, ok := errors.AsType[*oidc.RejectedError](err)
	if !ok {
		tb.Fatalf("the error is %v, want a RejectedError", err)
	}
	assert.Equal(tb, "the token is rejected: "+string(rejected.Reason), err.Error()) // no text of the token
	return rejected.Reason
}

func (f *fixture) expect(tb testing.TB, token string, want oidc.Reason) {
	tb.Helper()
	if got := f.reason(tb, token); got != want {
		tb.Errorf("rejected for %q, want %q: %s", got, want, token)
	}
}

// fetches returns the numbers of requests for the metadata and for the keys.
func (f *fixture) fetches() string {
	return fmt.Sprint(f.Fetches(issuer.MetadataPath), " ", f.Fetches(issuer.KeysPath))
}

// step is a verification of tokens. The key with the name "replaced" has the ID of ES256.
type step struct {
	after     time.Duration // since begin
	published string        // keys of the issuer, or "down"
	key       string        // of the tokens
	reason    oidc.Reason
	fetches   string // numbers of requests for the metadata and for the keys
}

// run verifies ten tokens concurrently in each step.
func (f *fixture) run(tb testing.TB, steps []step) {
	tb.Helper()
	keys := map[string]issuer.Key{
		"ES256": issuer.KeyFor("ES256"), "replaced": issuer.NewKey("ES256", "ES256"), "new": issuer.NewKey("ES256", "new"),
	}
	for _, step := range steps {
		f.advance(begin.Add(step.after).Sub(f.Now()))
		var respond http.HandlerFunc
		var published []map[string]any
		if step.published == "down" {
			respond = http.NotFound
		} else {
			for name := range strings.FieldsSeq(step.published) {
				published = append(published, keys[name].JWK())
			}
		}
		f.Respond(issuer.MetadataPath, respond)
		f.Respond(issuer.KeysPath, respond)
		f.Publish(published...)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { f.expect(tb, f.token(keys[step.key]), step.reason) })
		}
		group.Wait()
		if got := f.fetches(); got != step.fetches {
			tb.Errorf("%+v: %s requests", step, got)
		}
	}
}
