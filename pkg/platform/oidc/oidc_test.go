package oidc_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
	"toggleadmin/test/helper/roundtrip"
)

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		issuer   string
		clientID string
		loopback bool   // addresses are accepted
		want     string // error
	}{
		{"", "", false, ""},
		{"https://login.example.com/realms/a", "c", false, ""},
		{"https://login.example.com:8443/", "c", false, ""},
		{"https://[::1]:8443", "c", false, ""},
		{"http://127.0.0.1:3000", "c", true, ""},
		{"http://[::1]:3000", "c", true, ""},
		{"http://localhost", "c", true, ""},
		{"https://a.example", "", false, "OIDC_ISSUER and OIDC_CLIENT_ID must both be set"},
		{"", "c", false, "OIDC_ISSUER and OIDC_CLIENT_ID must both be set"},
		{"http://a.example", "c", false, `OIDC_ISSUER is "http://a.example": it must begin with https://`},
		{"http://127.0.0.1", "c", false, "must begin with https://"},
		{"http://127.0.0.1.example.com", "c", true, "only a loopback address"},
		{"http://localhost@a.example", "c", true, "only a loopback address"},
		{"http://10.0.0.1", "c", true, "only a loopback address"},
		{"file:///etc/passwd", "c", true, "must begin with https://"},
		{"accounts.google.com", "c", false, "must begin with https://"},
		{"https:///a", "c", false, "host name"},
		{"https:a.example", "c", false, "host name"},
		{"https://a.example;x", "c", false, "host name"},
		{"https://u:p@a.example", "c", false, "user name"},
		{"https://a.example?x", "c", false, "query"},
		{"https://a.example#", "c", false, "fragment"},
		{"https://a.example/" + strings.Repeat("x", 238), "c", false, "at most 255 characters"},
		{"https://a.example/a b", "c", false, "space"},
		{"https://a.example ", "c", false, "OIDC_ISSUER"},
		{"https://a.example/\n", "c", false, "not a URL"},
		{"https://a.example", "c ", false, "OIDC_CLIENT_ID"},
	} {
		_, err := oidc.New(oidc.Config{Issuer: test.issuer, ClientID: test.clientID, Loopback: test.loopback})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v", test, err)
		}
	}
}

func TestWithoutIssuerEveryTokenIsRejected(t *testing.T) {
	t.Parallel()
	verifier, err := oidc.New(oidc.Config{Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Transport: roundtrip.Func(nil)})
	assert.OK(t, err)
	key := issuer.KeyFor("ES256")
	_, err = verify(t.Context(), verifier, key.Sign(nil, map[string]any{"iss": "", "aud": "", "sub": "a", "exp": 4e9}))
	assert.Equal(t, oidc.NotConfigured, reason(t, err))
	if m, err := verifier.Metadata(t.Context()); err == nil {
		t.Errorf("metadata %+v", m)
	}
}
