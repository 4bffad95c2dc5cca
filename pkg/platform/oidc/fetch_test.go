package oidc_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/assert"
	"toggleadmin/test/issuer"
	"toggleadmin/test/table"
)

// The tests in this file are the sentences about fetching keys in contract section 3.

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
			assert.Equal(t, "1 0", f.fetches())
		}
	}
}

const urls = `http://127.0.0.1/keys javascript:alert(1) //a.example /keys https://a.example;script-src%20*
	https://u:p@a.example`

func TestLoopbackIssuer(t *testing.T) {
	t.Parallel()
	i := issuer.Start(false)
	t.Cleanup(i.Close)
	verifier := newVerifier(t, oidc.Config{Issuer: i.URL, Loopback: true, Now: func() time.Time { return begin }})
	_, err := verifier.Verify(t.Context(), i.Token(begin, nil))
	assert.OK(t, err)
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
		assert.OK(t, err)
		assert.Equal(t, want, got)
	}
	assert.Equal(t, "1 0", f.fetches())
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
	for _, row := range table.Rows(t, 2, `
		# status | body
		404 |
		204 |
		200 |
		200 | <html>
		500 | KEYS
		200 | []
		200 | {"keys":[],"keys":[],"issuer":"a","issuer":"a"}
		200 | {"issuer":7,"keys":7}
		closed |
	`) {
		for _, path := range []string{issuer.MetadataPath, issuer.KeysPath} {
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
			if got != oidc.Unreachable || !strings.Contains(f.log.String(), `"level":"WARN"`) {
				t.Errorf("%s: %q, log %s", row, got, f.log.String())
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
	for _, row := range table.Rows(t, 2, `
		HTTPS/moved |
		/moved |
		/keys | issuer unreachable
		OTHER/keys | issuer unreachable
		HTTP/moved | issuer unreachable
		https://169.254.169.254/ | issuer unreachable
		file:///etc/passwd | issuer unreachable
	`) {
		f := newFixture(t)
		to := strings.NewReplacer("HTTPS", f.URL, "HTTP", "http"+f.URL[5:], "OTHER", other.URL).Replace(row[0])
		f.Respond(issuer.KeysPath, http.RedirectHandler(to, http.StatusFound).ServeHTTP)
		f.Respond("/moved", text(keys(t)))
		got := f.reason(t, f.Token(begin, nil))
		if string(got) != row[1] || got != "" && !strings.Contains(f.log.String(), "refused redirect") {
			t.Errorf("%s: %q, log %s", to, got, f.log.String())
		}
		if got := f.Fetches(issuer.KeysPath); got > 4 || other.Fetches(issuer.KeysPath) > 0 {
			t.Errorf("%s: %d requests, or one to another host", to, got)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestFetchTakesAtMostTwoSeconds fetches metadata that take 1.5 seconds, and keys that do not end.
func TestFetchTakesAtMostTwoSeconds(t *testing.T) {
	t.Parallel()
	const address = "https://login.example.com"
	transport := func(r *http.Request) (*http.Response, error) {
		body, document := io.Pipe()
		context.AfterFunc(r.Context(), func() { document.CloseWithError(r.Context().Err()) })
		if r.URL.Path == issuer.MetadataPath {
			time.AfterFunc(1500*time.Millisecond, func() {
				_, _ = io.WriteString(document, `{"issuer":"`+address+`","jwks_uri":"`+address+`/keys"}`)
				_ = document.Close()
			})
		}
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		verifier := newVerifier(t, oidc.Config{Issuer: address, Now: time.Now, Transport: roundTripper(transport)})
		verify := func(ctx context.Context) time.Duration {
			started := time.Now()
			claims := map[string]any{"iss": address, "aud": issuer.ClientID, "sub": "a", "exp": started.Add(time.Hour).Unix()}
			_, err := verifier.Verify(ctx, issuer.KeyFor("ES256").Sign(nil, claims))
			assert.Equal(t, oidc.Unreachable, reason(t, err))
			return time.Since(started)
		}
		// A request with less time gives up at its own deadline, and the fetch continues for others.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		// Then nothing is fetched for 30 seconds.
		took := []time.Duration{verify(ctx), verify(t.Context()), verify(t.Context()), verify(t.Context())}
		assert.Equal(t, []time.Duration{time.Second, time.Second, 0, 0}, took)
	})
}

func TestKeysAreRefreshedInTheBackgroundAfterAnHour(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := f.Claims(begin.Add(3*time.Hour), map[string]any{"iat": nil})
	token := issuer.KeyFor("ES256").Sign(nil, old)
	f.expect(t, token, "")
	f.advance(time.Hour - 1)
	f.expect(t, token, "")
	assert.Equal(t, "1 1", f.fetches())
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
	assert.Equal(t, "2 2", f.fetches())
}

// TestUnknownKeyIsFetchedOncePer30Seconds also checks that concurrent requests share one fetch.
func TestUnknownKeyIsFetchedOncePer30Seconds(t *testing.T) {
	t.Parallel()
	newFixture(t).run(t, `
		0s | ES256 | ES256 | | 1 1
		29s | ES256 | new | unknown key | 1 1
		30s | ES256 | new | unknown key | 1 2
		# the issuer has begun to use the key
		60s | new ES256 | new | | 1 3
	`)
}

// TestKeyIsReplacedUnderItsID checks that a signature that a known key does not verify causes a fetch under the same
// limit.
func TestKeyIsReplacedUnderItsID(t *testing.T) {
	t.Parallel()
	newFixture(t).run(t, `
		0s | ES256 | ES256 | | 1 1
		29.999999999s | replaced | replaced | signature | 1 1
		30s | replaced | replaced | | 1 2
		30s | replaced | ES256 | signature | 1 2
	`)
}

// TestKeysOfAProcessThatWasIdle checks that a key that the issuer has removed is accepted for two hours at most, even
// if no refresh in the background has ended.
func TestKeysOfAProcessThatWasIdle(t *testing.T) {
	t.Parallel()
	newFixture(t).run(t, `
		0s | ES256 | ES256 | | 1 1
		2h | | ES256 | unknown key | 2 2
	`)
}

func TestKnownKeysWorkIfTheIssuerIsUnreachable(t *testing.T) {
	t.Parallel()
	newFixture(t).run(t, `
		0s | ES256 | ES256 | | 1 1
		2h | down | ES256 | | 2 2
		20h | down | ES256 | | 3 3
		20h | down | new | issuer unreachable | 3 3
	`)
}

// TestIssuerThatReturns checks that a failed fetch is repeated after 30 seconds.
func TestIssuerThatReturns(t *testing.T) {
	t.Parallel()
	newFixture(t).run(t, `
		0s | down | ES256 | issuer unreachable | 1 0
		29.999999999s | ES256 | ES256 | issuer unreachable | 1 0
		30s | ES256 | ES256 | | 2 1
	`)
}
