package oidc_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/issuer"
)

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, issuer, clientID string
		loopback               bool
		want                   string
	}{
		{"none", "", "", false, ""},
		{"https", "https://login.example.com/realms/a", "c", false, ""},
		{"trailing slash and port", "https://login.example.com:8443/", "c", false, ""},
		{"https of a loopback address", "https://[::1]:8443", "c", false, ""},
		{"loopback", "http://127.0.0.1:3000", "c", true, ""},
		{"IPv6 loopback", "http://[::1]:3000", "c", true, ""},
		{"localhost", "http://localhost", "c", true, ""},
		{"issuer alone", "https://a.example", "", false, "OIDC_ISSUER and OIDC_CLIENT_ID must both be set"},
		{"client ID alone", "", "c", false, "OIDC_ISSUER and OIDC_CLIENT_ID must both be set"},
		{"http", "http://a.example", "c", false, `OIDC_ISSUER is "http://a.example": it must begin with https://`},
		{"http of a loopback address", "http://127.0.0.1", "c", false, "must begin with https://"},
		{"http of another address", "http://127.0.0.1.example.com", "c", true, "only a loopback address"},
		{"http with a user name", "http://localhost@a.example", "c", true, "only a loopback address"},
		{"http of a private address", "http://10.0.0.1", "c", true, "only a loopback address"},
		{"another scheme", "file:///etc/passwd", "c", true, "must begin with https://"},
		{"no scheme", "accounts.google.com", "c", false, "must begin with https://"},
		{"no host", "https:///a", "c", false, "host name"},
		{"opaque", "https:a.example", "c", false, "host name"},
		{"unsafe host", "https://a.example;x", "c", false, "host name"},
		{"password", "https://u:p@a.example", "c", false, "user name"},
		{"query", "https://a.example?x", "c", false, "query"},
		{"fragment", "https://a.example#", "c", false, "fragment"},
		{"too long", "https://a.example/" + strings.Repeat("x", 238), "c", false, "at most 255 characters"},
		{"space in the path", "https://a.example/a b", "c", false, "space"},
		{"space", "https://a.example ", "c", false, "OIDC_ISSUER"},
		{"line break", "https://a.example/\n", "c", false, "not a URL"},
		{"client ID with a space", "https://a.example", "c ", false, "OIDC_CLIENT_ID"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := oidc.New(oidc.Config{Issuer: tt.issuer, ClientID: tt.clientID, Loopback: tt.loopback})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestWithoutIssuerEveryTokenIsRefused(t *testing.T) {
	t.Parallel()
	verifier, err := oidc.New(oidc.Config{Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Transport: roundTripper(nil)})
	if err != nil {
		t.Fatal(err)
	}
	key := issuer.KeyFor("ES256")
	_, err = verifier.Verify(t.Context(), key.Sign(nil, map[string]any{"iss": "", "aud": "", "sub": "a", "exp": at(1e9)}))
	if got := reason(t, err); got != oidc.NotConfigured {
		t.Errorf("reason %q", got)
	}
	if m, err := verifier.Metadata(t.Context()); err == nil {
		t.Errorf("metadata %+v", m)
	}
}
