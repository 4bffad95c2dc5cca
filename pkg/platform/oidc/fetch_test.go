package oidc_test

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/issuer"
)

// The tests in this file are the sentences about fetching keys in contract section 3.

func TestKeysAreFetchedWhenTheFirstTokenArrives(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expectFetches(t, 0, 0)
	for range 3 {
		for _, algorithm := range issuer.Algorithms() {
			f.expect(t, f.token(issuer.KeyFor(algorithm)), "")
		}
	}
	f.expectFetches(t, 1, 1)
}

// TestKeysAreFetchedOverHTTPS publishes URLs that must not be fetched or given to a browser.
func TestKeysAreFetchedOverHTTPS(t *testing.T) {
	t.Parallel()
	for _, member := range []string{"jwks_uri", "authorization_endpoint", "token_endpoint", "end_session_endpoint"} {
		for _, address := range []string{"http://127.0.0.1/keys", "javascript:alert(1)", "//a.example", "/keys",
			"https://a.example;script-src%20*", "https://u:p@a.example"} {
			f := newFixture(t)
			document := f.Metadata()
			document[member] = address
			f.Respond(issuer.MetadataPath, func(w http.ResponseWriter, _ *http.Request) { issuer.WriteJSON(w, document) })
			f.expect(t, f.Token(begin, nil), oidc.Unreachable)
			f.expectFetches(t, 1, 0)
		}
	}
}

func TestLoopbackIssuer(t *testing.T) {
	t.Parallel()
	i := issuer.Start(false)
	t.Cleanup(i.Close)
	verifier, err := oidc.New(oidc.Config{
		Issuer: i.URL, ClientID: issuer.ClientID, Loopback: true, Now: func() time.Time { return begin },
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier.Verify(t.Context(), i.Token(begin, nil)); err != nil {
		t.Error(err)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	want := oidc.Metadata{
		Issuer: f.URL, AuthorizationEndpoint: f.URL + "/authorize", TokenEndpoint: f.URL + "/token",
		EndSessionEndpoint: f.URL + "/logout",
		JWKSURI:            f.URL + issuer.KeysPath,
	}
	for range 2 {
		got, err := f.verifier.Metadata(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v, metadata (-want +got):\n%s", err, diff)
		}
	}
	f.expectFetches(t, 1, 0)
}

// text responds with a text.
func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

// TestUnusableDocuments gives a response in place of the metadata or the keys.
func TestUnusableDocuments(t *testing.T) {
	t.Parallel()
	for name, respond := range map[string]http.HandlerFunc{
		"not found":  http.NotFound,
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "empty": text(""),
		"HTML": text("<html>"),
		"error with a document": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			issuer.WriteJSON(w, map[string]any{"keys": []any{issuer.KeyFor("ES256").JWK()}})
		},
		"null": text("null"), "another type": text("[]"),
		"duplicate members": text(`{"keys":[],"keys":[],"issuer":"a","issuer":"a"}`),
		"another issuer":    text(`{"issuer":"https://attacker.example","jwks_uri":"https://attacker.example/keys","keys":7}`),
		"closed":            func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		for _, path := range []string{issuer.MetadataPath, issuer.KeysPath} {
			t.Run(name+" "+path, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.Respond(path, respond)
				want := oidc.Unreachable
				if name == "null" && path == issuer.KeysPath { // a document without keys
					want = oidc.UnknownKey
				}
				f.expect(t, f.Token(begin, nil), want)
				if want == oidc.Unreachable && !strings.Contains(f.log.String(), `"level":"WARN"`) {
					t.Errorf("log %s", f.log)
				}
			})
		}
	}
}

func TestDiscoveryDocumentIsThatOfTheIssuer(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"/", "/realms/a", "?x", ":443"} {
		f := newFixture(t)
		document := f.Metadata()
		document["issuer"] = f.URL + suffix
		f.Respond(issuer.MetadataPath, func(w http.ResponseWriter, _ *http.Request) { issuer.WriteJSON(w, document) })
		f.expect(t, f.Token(begin, nil), oidc.Unreachable)
		f.expectFetches(t, 1, 0)
	}
}

func TestDocumentsOfOneMegabyte(t *testing.T) {
	t.Parallel()
	for _, path := range []string{issuer.MetadataPath, issuer.KeysPath} {
		for surplus, want := range map[int]oidc.Reason{0: "", 1: oidc.Unreachable} {
			f := newFixture(t)
			document := map[string]any{"keys": []any{issuer.KeyFor("ES256").JWK()}}
			if path == issuer.MetadataPath {
				document = f.Metadata()
			}
			body := encode(t, document)
			f.Respond(path, text(body+strings.Repeat(" ", 1<<20-len(body)+surplus)))
			f.expect(t, f.Token(begin, nil), want)
		}
	}
}

// TestCompressedDocumentsAreNotDecompressed sends a compressed document of any size, which the request did not ask for.
func TestCompressedDocumentsAreNotDecompressed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Respond(issuer.KeysPath, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("Accept-Encoding: %s", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, encode(t, map[string]any{"keys": []any{issuer.KeyFor("ES256").JWK()}}))
		_, _ = io.CopyN(z, strings.NewReader(strings.Repeat(" ", 1<<22)), 1<<22)
		_ = z.Close()
	})
	f.expect(t, f.Token(begin, nil), oidc.Unreachable)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := issuer.New(t)
	plain := issuer.Start(false)
	t.Cleanup(plain.Close)
	for name, tt := range map[string]struct {
		to   func(*fixture) string
		want oidc.Reason
	}{
		"same host":    {func(f *fixture) string { return f.URL + "/moved" }, ""},
		"relative":     {func(*fixture) string { return "/moved" }, ""},
		"for ever":     {func(*fixture) string { return issuer.KeysPath }, oidc.Unreachable},
		"another host": {func(*fixture) string { return other.URL + issuer.KeysPath }, oidc.Unreachable},
		"http": {func(f *fixture) string { return strings.Replace(f.URL, "https:", "http:", 1) + "/moved" },
			oidc.Unreachable},
		"plain host":    {func(*fixture) string { return plain.URL + issuer.KeysPath }, oidc.Unreachable},
		"local address": {func(*fixture) string { return "https://169.254.169.254/" }, oidc.Unreachable},
		"a file":        {func(*fixture) string { return "file:///etc/passwd" }, oidc.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Respond(issuer.KeysPath,
				func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, tt.to(f), http.StatusFound) })
			f.Respond("/moved", func(w http.ResponseWriter, _ *http.Request) {
				issuer.WriteJSON(w, map[string]any{"keys": []any{issuer.KeyFor("ES256").JWK()}})
			})
			f.expect(t, f.Token(begin, nil), tt.want)
			if tt.want != "" && !strings.Contains(f.log.String(), "refused redirect") {
				t.Errorf("log %s", f.log)
			}
			if got := f.Fetches(issuer.KeysPath); got > 4 || other.Fetches(issuer.KeysPath)+plain.Fetches(issuer.KeysPath) > 0 {
				t.Errorf("%d requests, or one to another host", got)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// slowBody sends one byte per second until the request is canceled.
type slowBody struct{ ctx context.Context } //nolint:containedctx // the body of one response

func (b slowBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

func (slowBody) Close() error { return nil }

func TestFetchTakesAtMostTwoSeconds(t *testing.T) {
	t.Parallel()
	const address = "https://login.example.com"
	document := func(r *http.Request, body io.ReadCloser) *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}
	}
	for name, transport := range map[string]roundTripper{
		"no response": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil,
				r.Context().Err()
		},
		"slow metadata": func(r *http.Request) (*http.Response, error) { return document(r, slowBody{r.Context()}), nil },
		"slow JWKS": func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == issuer.MetadataPath {
				time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // simulated time
				return document(r, io.NopCloser(strings.NewReader(`{"issuer":"`+address+`","jwks_uri":"`+address+`/keys"}`))), nil
			}
			return document(r, slowBody{r.Context()}), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				verifier, err := oidc.New(oidc.Config{
					Issuer: address, ClientID: issuer.ClientID, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
					Transport: transport,
				})
				if err != nil {
					t.Fatal(err)
				}
				verify := func(ctx context.Context) time.Duration {
					started := time.Now()
					claims := map[string]any{"iss": address, "aud": issuer.ClientID, "sub": "a", "exp": started.Add(time.Hour).Unix()}
					_, err := verifier.Verify(ctx, issuer.KeyFor("ES256").Sign(nil, claims))
					if got := reason(t, err); got != oidc.Unreachable {
						t.Errorf("reason %q", got)
					}
					return time.Since(started)
				}
				// A request with less time gives up at its own deadline, and the fetch continues for others.
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if took := verify(ctx); took != time.Second {
					t.Errorf("took %s", took)
				}
				if took := verify(t.Context()); took != time.Second {
					t.Errorf("took %s", took)
				}
				for range 3 { // within 30 seconds nothing is fetched
					if took := verify(t.Context()); took != 0 {
						t.Errorf("took %s", took)
					}
				}
			})
		})
	}
}

func TestUnknownKeyIsFetchedOncePer30Seconds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expect(t, f.Token(begin, nil), "")
	forged := func() string {
		return issuer.KeyFor("ES256").Sign(map[string]any{"kid": "forged"}, f.Claims(begin, nil))
	}
	flood := func() {
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() { f.expect(t, forged(), oidc.UnknownKey) })
		}
		group.Wait()
	}
	flood()
	f.advance(29 * time.Second)
	flood()
	f.expectFetches(t, 1, 1)
	f.advance(time.Second)
	flood()
	f.expectFetches(t, 1, 2)
	f.advance(30 * time.Second)
	// A key that the issuer has begun to use is found.
	rotated := issuer.NewKey("ES256", "rotated")
	f.Publish(rotated.JWK(), issuer.KeyFor("ES256").JWK())
	f.expect(t, rotated.Sign(nil, f.Claims(begin, nil)), "")
	f.expectFetches(t, 1, 3)
}

func TestConcurrentRequestsShareOneFetch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	waiting := make(chan struct{})
	f.Respond(issuer.KeysPath, func(w http.ResponseWriter, _ *http.Request) {
		<-waiting
		issuer.WriteJSON(w, map[string]any{"keys": []any{issuer.KeyFor("ES256").JWK()}})
	})
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() { f.expect(t, f.Token(begin, nil), "") })
	}
	close(waiting)
	group.Wait()
	f.expectFetches(t, 1, 1)
}

func TestKeysAreRefreshedInTheBackgroundAfterAnHour(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := f.Claims(begin.Add(3*time.Hour), map[string]any{"iat": nil})
	token := issuer.KeyFor("ES256").Sign(nil, old)
	f.expect(t, token, "")
	f.advance(time.Hour - 1)
	f.expect(t, token, "")
	f.expectFetches(t, 1, 1)
	f.advance(1)
	refreshing, release := make(chan struct{}), make(chan struct{})
	f.Respond(issuer.KeysPath, func(w http.ResponseWriter, _ *http.Request) {
		close(refreshing)
		<-release
		issuer.WriteJSON(w, map[string]any{"keys": []any{}}) // the issuer has revoked the key
	})
	f.expect(t, token, "") // it does not wait
	<-refreshing
	f.expect(t, token, "")
	close(release)
	for f.reason(t, token) == "" || f.Fetches(issuer.MetadataPath) < 2 { // until the refreshes have ended
		runtime.Gosched()
	}
	f.expectFetches(t, 2, 2)
}

// TestKeysOfAProcessThatWasIdle checks that a key that the issuer has removed is accepted for two hours at most, even
// if no refresh in the background has ended.
func TestKeysOfAProcessThatWasIdle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.Token(begin.Add(24*time.Hour), map[string]any{"iat": nil})
	f.expect(t, token, "")
	f.Publish()
	f.advance(2 * time.Hour)
	f.expect(t, token, oidc.UnknownKey)
}

func TestKnownKeysWorkIfTheIssuerIsUnreachable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.Token(begin.Add(24*time.Hour), map[string]any{"iat": nil})
	f.expect(t, token, "")
	f.Close()
	for range 20 {
		f.advance(time.Hour)
		f.expect(t, token, "")
	}
	f.expect(t, issuer.KeyFor("ES256").Sign(map[string]any{"kid": "unknown"}, f.Claims(f.Now(), nil)), oidc.Unreachable)
}

// TestIssuerThatReturns checks that a failed fetch is repeated after 30 seconds.
func TestIssuerThatReturns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Respond(issuer.MetadataPath, http.NotFound)
	f.expect(t, f.Token(begin, nil), oidc.Unreachable)
	f.Respond(issuer.MetadataPath, nil)
	f.advance(30*time.Second - 1)
	f.expect(t, f.Token(begin, nil), oidc.Unreachable)
	f.expectFetches(t, 1, 0)
	f.advance(1)
	f.expect(t, f.Token(begin, nil), "")
	f.expectFetches(t, 2, 1)
}
