package oidc_test

import (
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
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
	"toggleadmin/test/helper/roundtrip"
)

// The tests in this file are the sentences about fetching keys in contract section 3.

func TestLoopbackIssuer(t *testing.T) {
	t.Parallel()
	i := issuer.Start(false)
	t.Cleanup(i.Close)
	verifier := newVerifier(t, oidc.Config{Issuer: i.URL, Loopback: true, Now: func() time.Time { return begin },
		FetchTimeout: time.Minute})
	_, err := verify(t.Context(), verifier, i.Token(begin, nil))
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

// TestDocuments gives a response in place of the metadata or the keys. All but those that are accepted are logged.
func TestDocuments(t *testing.T) {
	t.Parallel()
	other := issuer.New(t)
	keys := encode(t, map[string]any{"keys": []any{issuer.KeyFor("ES256").JWK()}})
	for _, test := range []struct {
		paths    string // METADATA: that of the metadata
		status   string // with the location, or CUT: the connection is closed
		document string // or changes of the metadata
		log      string
	}{
		{"METADATA /keys", "404", "=", "status 404"},
		{"METADATA /keys", "204", "=", "status 204"},
		{"METADATA /keys", "500", "=KEYS", "status 500"},
		{"METADATA /keys", "200", "=", `"level":"WARN","msg":"fetch from the issuer"`},
		{"METADATA /keys", "200", "=<html>", "invalid character"},
		{"METADATA /keys", "200", "=[]", "unmarshal JSON"},
		{"METADATA /keys", "200", `={"keys":[],"keys":[],"issuer":"a","issuer":"a"}`, "duplicate"},
		{"METADATA /keys", "200", `={"issuer":7,"keys":7}`, "unmarshal JSON"},
		{"METADATA /keys", "200 CUT", "=", "EOF"},
		{"/keys", "200 CUT", "=KEYSLONG", "unexpected EOF"},
		{"/keys", "200", "=KEYSLONG", "accepted"},
		{"/keys", "200", "=KEYSLONG.", "larger than 1048576 bytes"},

		// URLs that must not be fetched or given to a browser
		{"METADATA", "200", `"jwks_uri":"http://127.0.0.1/keys"`, "contains the URL"},
		{"METADATA", "200", `"jwks_uri":"javascript:alert(1)"`, "contains the URL"},
		{"METADATA", "200", `"jwks_uri":"//a.example"`, "contains the URL"},
		{"METADATA", "200", `"jwks_uri":"/keys"`, "contains the URL"},
		{"METADATA", "200", `"jwks_uri":"https://a.example;script-src%20*"`, "contains the URL"},
		{"METADATA", "200", `"jwks_uri":"https://u:p@a.example"`, "contains the URL"},
		{"METADATA", "200", `"authorization_endpoint":"/keys"`, "contains the URL"},
		{"METADATA", "200", `"token_endpoint":"/keys"`, "contains the URL"},
		{"METADATA", "200", `"end_session_endpoint":"/keys"`, "contains the URL"},
		{"METADATA", "200", `"issuer":"ISSUER/"`, "is that of the issuer"},
		{"METADATA", "200", `"issuer":"ISSUER/realms/a"`, "is that of the issuer"},
		{"METADATA", "200", `"issuer":"ISSUER?x"`, "is that of the issuer"},
		{"METADATA", "200", `"issuer":"ISSUER:443"`, "is that of the issuer"},
		{"METADATA", "200", `"issuer":"https://attacker.example"`, "is that of the issuer"},

		{"/keys", "302 ISSUER/moved", "=", "accepted"},
		{"/keys", "302 /moved", "=", "accepted"},
		{"/keys", "302 /keys", "=", "rejected redirect"},
		{"/keys", "302 OTHER/keys", "=", "rejected redirect"},
		{"/keys", "302 HTTP/moved", "=", "rejected redirect"},
		{"/keys", "302 https://169.254.169.254/", "=", "rejected redirect"},
		{"/keys", "302 file:///etc/passwd", "=", "rejected redirect"},
	} {
		for path := range strings.FieldsSeq(strings.ReplaceAll(test.paths, "METADATA", issuer.MetadataPath)) {
			f := newFixture(t)
			values := strings.NewReplacer("KEYS", keys, "LONG", strings.Repeat(" ", 1<<20-len(keys)), "ISSUER", f.URL,
				"HTTP/", "http"+f.URL[5:]+"/", "OTHER", other.URL)
			status, location, _ := strings.Cut(values.Replace(test.status), " ")
			f.Respond(path, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "identity", r.Header.Get("Accept-Encoding")) // so nothing is decompressed
				code, _ := strconv.Atoi(status)
				w.Header().Set("Location", location)
				w.WriteHeader(code)
				_, _ = io.WriteString(w, override(t, f.Metadata(), values.Replace(test.document)))
				if location == "CUT" {
					panic(http.ErrAbortHandler)
				}
			})
			f.Respond("/moved", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, keys) })
			got := f.reason(t, f.Token(begin, nil))
			accepted := got == "" && test.log == "accepted"
			if !accepted && (got != oidc.Unreachable || !strings.Contains(f.log.String(), test.log)) {
				t.Errorf("%+v: %q, log %s", test, got, f.log.String())
			}
			fetched := f.Fetches(issuer.KeysPath)
			if fetched > 4 || path == issuer.MetadataPath && fetched > 0 || other.Fetches(issuer.KeysPath) > 0 {
				t.Errorf("%+v: %d requests for keys, or one to another host", test, fetched)
			}
		}
	}
}

// TestFetchTakesAtMostTwoSeconds fetches metadata that take 1.5 seconds, and keys that do not end.
func TestFetchTakesAtMostTwoSeconds(t *testing.T) {
	t.Parallel()
	const address = "https://login.example.com"
	transport := func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == issuer.KeysPath {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		<-time.After(1500 * time.Millisecond)
		return roundtrip.Response(http.StatusOK, `{"issuer":"`+address+`","jwks_uri":"`+address+`/keys"}`), nil
	}
	synctest.Test(t, func(t *testing.T) {
		verifier := newVerifier(t, oidc.Config{Issuer: address, Now: time.Now, Transport: roundtrip.Func(transport)})
		verify := func(ctx context.Context) time.Duration {
			started := time.Now()
			claims := map[string]any{"iss": address, "aud": issuer.ClientID, "sub": "a", "exp": started.Add(time.Hour).Unix()}
			_, err := verify(ctx, verifier, issuer.KeyFor("ES256").Sign(nil, claims))
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

func TestFetches(t *testing.T) {
	t.Parallel()
	for _, steps := range [][]step{
		{ // a key that the issuer begins to use
			{0, "ES256", "ES256", "", "1 1"},
			{29 * time.Second, "ES256", "new", oidc.UnknownKey, "1 1"},
			{30 * time.Second, "ES256", "new", oidc.UnknownKey, "1 2"},
			{60 * time.Second, "new ES256", "new", "", "1 3"},
		},
		{ // a key that is replaced under its ID
			{0, "ES256", "ES256", "", "1 1"},
			{30*time.Second - 1, "replaced", "replaced", oidc.Signature, "1 1"},
			{30 * time.Second, "replaced", "replaced", "", "1 2"},
			{30 * time.Second, "replaced", "ES256", oidc.Signature, "1 2"},
		},
		{ // a removed key is accepted for two hours at most, even if no refresh in the background has ended
			{0, "ES256", "ES256", "", "1 1"},
			{2 * time.Hour, "", "ES256", oidc.UnknownKey, "2 2"},
		},
		{ // known keys work if the issuer is unreachable
			{0, "ES256", "ES256", "", "1 1"},
			{2 * time.Hour, "down", "ES256", "", "2 2"},
			{20 * time.Hour, "down", "ES256", "", "3 3"},
			{20 * time.Hour, "down", "new", oidc.Unreachable, "3 3"},
		},
		{ // a failed fetch is repeated after 30 seconds
			{0, "down", "ES256", oidc.Unreachable, "1 0"},
			{30*time.Second - 1, "ES256", "ES256", oidc.Unreachable, "1 0"},
			{30 * time.Second, "ES256", "ES256", "", "2 1"},
		},
	} {
		newFixture(t).run(t, steps)
	}
}
