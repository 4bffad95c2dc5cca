package oidc_test

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/issuer"
	"toggleadmin/test/table"
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

// TestDiscoveryDocument publishes URLs that must not be fetched or given to a browser, and documents of other issuers.
func TestDiscoveryDocument(t *testing.T) {
	t.Parallel()
	for member, values := range map[string]string{
		"jwks_uri": urls, "authorization_endpoint": urls, "token_endpoint": urls, "end_session_endpoint": urls,
		"issuer": "$ISSUER/ $ISSUER/realms/a $ISSUER?x $ISSUER:443 https://attacker.example",
	} {
		for address := range strings.FieldsSeq(values) {
			f := newFixture(t)
			document := f.Metadata()
			document[member] = strings.ReplaceAll(address, "$ISSUER", f.URL)
			f.Respond(issuer.MetadataPath, text(encode(t, document)))
			f.expect(t, f.Token(begin, nil), oidc.Unreachable)
			f.expectFetches(t, 1, 0)
		}
	}
}

const urls = `http://127.0.0.1/keys javascript:alert(1) //a.example /keys https://a.example;script-src%20*
	https://u:p@a.example`

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

// keys is a document with the key for ES256.
func keys(tb testing.TB) string {
	tb.Helper()
	return encode(tb, map[string]any{"keys": []any{issuer.KeyFor("ES256").JWK()}})
}

// TestUnusableDocuments gives a response in place of the metadata or the keys.
func TestUnusableDocuments(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 4, `
		# status | body | reason if it replaces the metadata, the keys
		404 | | issuer unreachable | issuer unreachable
		204 | | issuer unreachable | issuer unreachable
		200 | | issuer unreachable | issuer unreachable
		200 | <html> | issuer unreachable | issuer unreachable
		500 | KEYS | issuer unreachable | issuer unreachable
		200 | null | issuer unreachable | unknown key
		200 | [] | issuer unreachable | issuer unreachable
		200 | {"keys":[],"keys":[],"issuer":"a","issuer":"a"} | issuer unreachable | issuer unreachable
		200 | {"issuer":7,"keys":7} | issuer unreachable | issuer unreachable
		closed | | issuer unreachable | issuer unreachable
	`) {
		for i, path := range []string{issuer.MetadataPath, issuer.KeysPath} {
			f := newFixture(t)
			f.Respond(path, func(w http.ResponseWriter, r *http.Request) {
				status, err := strconv.Atoi(row[0])
				if err != nil {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(status)
				text(strings.ReplaceAll(row[1], "KEYS", keys(t)))(w, r)
			})
			got := f.reason(t, f.Token(begin, nil))
			if string(got) != row[2+i] || got == oidc.Unreachable && !strings.Contains(f.log.String(), `"level":"WARN"`) {
				t.Errorf("%s: %q, log %s", row, got, f.log)
			}
		}
	}
}

func TestDocumentsOfOneMegabyte(t *testing.T) {
	t.Parallel()
	for surplus, want := range map[int]oidc.Reason{0: "", 1: oidc.Unreachable} {
		f := newFixture(t)
		f.Respond(issuer.KeysPath, text(keys(t)+strings.Repeat(" ", 1<<20-len(keys(t))+surplus)))
		f.expect(t, f.Token(begin, nil), want)
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
		_, _ = io.WriteString(z, keys(t)+strings.Repeat(" ", 1<<22))
		_ = z.Close()
	})
	f.expect(t, f.Token(begin, nil), oidc.Unreachable)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := issuer.New(t)
	plain := issuer.Start(false)
	t.Cleanup(plain.Close)
	for _, row := range table.Rows(t, 2, `
		HTTPS/moved |
		/moved |
		/keys | issuer unreachable
		OTHER/keys | issuer unreachable
		HTTP/moved | issuer unreachable
		PLAIN/keys | issuer unreachable
		https://169.254.169.254/ | issuer unreachable
		file:///etc/passwd | issuer unreachable
	`) {
		f := newFixture(t)
		to := strings.NewReplacer("HTTPS", f.URL, "HTTP", "http"+f.URL[5:], "OTHER", other.URL, "PLAIN", plain.URL).Replace(row[0])
		f.Respond(issuer.KeysPath, http.RedirectHandler(to, http.StatusFound).ServeHTTP)
		f.Respond("/moved", text(keys(t)))
		got := f.reason(t, f.Token(begin, nil))
		if string(got) != row[1] || got != "" && !strings.Contains(f.log.String(), "refused redirect") {
			t.Errorf("%s: %q, log %s", to, got, f.log)
		}
		if got := f.Fetches(issuer.KeysPath); got > 4 || other.Fetches(issuer.KeysPath)+plain.Fetches(issuer.KeysPath) > 0 {
			t.Errorf("%s: %d requests, or one to another host", to, got)
		}
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
			return nil, r.Context().Err()
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
				// Then nothing is fetched for 30 seconds.
				took := []time.Duration{verify(ctx), verify(t.Context()), verify(t.Context()), verify(t.Context())}
				if !slices.Equal(took, []time.Duration{time.Second, time.Second, 0, 0}) {
					t.Errorf("took %s", took)
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
		_, _ = io.WriteString(w, keys(t))
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
