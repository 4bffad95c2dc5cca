package oidc_test

import (
	"bytes"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/issuer"
)

// begin is the time at which each test begins. The tables of tokens contain it as a number.
var begin = time.Unix(1_800_000_000, 0)

// fixture is an issuer and a verifier of its tokens, with a clock that stands still.
type fixture struct {
	*issuer.Issuer
	verifier *oidc.Issuer
	log      *buffer

	mu  sync.Mutex
	now time.Time
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Issuer: issuer.New(tb), log: &buffer{}, now: begin}
	f.verifier = f.newVerifier(tb)
	return f
}

func (f *fixture) newVerifier(tb testing.TB) *oidc.Issuer {
	tb.Helper()
	verifier, err := oidc.New(oidc.Config{
		Issuer: f.URL, ClientID: issuer.ClientID, Now: f.Now, Logger: slog.New(slog.NewJSONHandler(f.log, nil)),
		Transport: f.Transport(),
	})
	if err != nil {
		tb.Fatal(err)
	}
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

// reason returns why the verifier refuses a token, or "" if it accepts the token.
func (f *fixture) reason(tb testing.TB, token string) oidc.Reason {
	tb.Helper()
	_, err := f.verifier.Verify(tb.Context(), token)
	return reason(tb, err)
}

func reason(tb testing.TB, err error) oidc.Reason {
	tb.Helper()
	if err == nil {
		return ""
	}
	refused, ok := errors.AsType[*oidc.RefusedError](err)
	if !ok {
		tb.Fatalf("the error is %v, want a RefusedError", err)
	}
	return refused.Reason
}

func (f *fixture) expect(tb testing.TB, token string, want oidc.Reason) {
	tb.Helper()
	if got := f.reason(tb, token); got != want {
		tb.Errorf("refused for %q, want %q: %s", got, want, token)
	}
}

// expectFetches compares the number of requests for the metadata and for the keys.
func (f *fixture) expectFetches(tb testing.TB, metadata, keys int) {
	tb.Helper()
	if gotMetadata, gotKeys := f.Fetches(issuer.MetadataPath), f.Fetches(issuer.KeysPath); gotMetadata != metadata ||
		gotKeys != keys {
		tb.Errorf("%d fetches of the metadata and %d of the keys, want %d and %d", gotMetadata, gotKeys, metadata, keys)
	}
}

// buffer is safe for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
