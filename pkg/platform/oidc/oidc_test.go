package oidc_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/assert"
	"toggleadmin/test/issuer"
	"toggleadmin/test/roundtrip"
	"toggleadmin/test/table"
)

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 4, `
		# issuer | client ID | loopback addresses | error
		| | |
		https://login.example.com/realms/a | c | |
		https://login.example.com:8443/ | c | |
		https://[::1]:8443 | c | |
		http://127.0.0.1:3000 | c | accepted |
		http://[::1]:3000 | c | accepted |
		http://localhost | c | accepted |
		https://a.example | | | OIDC_ISSUER and OIDC_CLIENT_ID must both be set
		| c | | OIDC_ISSUER and OIDC_CLIENT_ID must both be set
		http://a.example | c | | OIDC_ISSUER is "http://a.example": it must begin with https://
		http://127.0.0.1 | c | | must begin with https://
		http://127.0.0.1.example.com | c | accepted | only a loopback address
		http://localhost@a.example | c | accepted | only a loopback address
		http://10.0.0.1 | c | accepted | only a loopback address
		file:///etc/passwd | c | accepted | must begin with https://
		accounts.google.com | c | | must begin with https://
		https:///a | c | | host name
		https:a.example | c | | host name
		https://a.example;x | c | | host name
		https://u:p@a.example | c | | user name
		https://a.example?x | c | | query
		https://a.example# | c | | fragment
		https://a.example/238×x | c | | at most 255 characters
		https://a.example/a b | c | | space
		"https://a.example " | c | | OIDC_ISSUER
		"https://a.example/\n" | c | | not a URL
		https://a.example | "c " | | OIDC_CLIENT_ID
	`) {
		_, err := oidc.New(oidc.Config{Issuer: row[0], ClientID: row[1], Loopback: row[2] != ""})
		if (err == nil) != (row[3] == "") || err != nil && !strings.Contains(err.Error(), row[3]) {
			t.Errorf("%s: error %v", row, err)
		}
	}
}

func TestWithoutIssuerEveryTokenIsRejected(t *testing.T) {
	t.Parallel()
	verifier, err := oidc.New(oidc.Config{Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Transport: roundtrip.Func(nil)})
	assert.OK(t, err)
	key := issuer.KeyFor("ES256")
	_, err = verifier.Verify(t.Context(), key.Sign(nil, map[string]any{"iss": "", "aud": "", "sub": "a", "exp": 4e9}))
	assert.Equal(t, oidc.NotConfigured, reason(t, err))
	if m, err := verifier.Metadata(t.Context()); err == nil {
		t.Errorf("metadata %+v", m)
	}
}
