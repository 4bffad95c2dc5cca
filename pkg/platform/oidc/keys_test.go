package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
)

// TestPublishedKeys publishes keys in different forms. The token is always signed with the private key.
func TestPublishedKeys(t *testing.T) {
	t.Parallel()
	weak, weakErr := rsa.GenerateKey(rand.Reader, 1024)
	p384, p384Err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	assert.OK(t, weakErr, p384Err)
	keys := map[string]issuer.Key{
		"weak": {ID: "weak", Algorithm: "RS256", Private: weak}, "P-384": {ID: "P-384", Algorithm: "ES256", Private: p384},
		"other": issuer.NewKey("ES256", "ES256"),
	}
	for _, algorithm := range issuer.Algorithms() {
		keys[algorithm] = issuer.KeyFor(algorithm)
	}
	tooLong := issuer.Encode([]byte(strings.Repeat("\xff", 1025)))
	huge := issuer.Encode([]byte(strings.Repeat("\xff", 256)))
	for _, test := range []struct {
		signedWith string
		header     string
		published  string // keys, each with changes
		want       string // reason
	}{
		{"RS256", "{}", "RS256 {}", ""},
		{"PS256", "{}", `PS256 {"alg":null,"use":null}`, ""},
		{"PS256", "{}", `PS256 {"alg":"RS256"}`, "unknown key"},
		{"RS256", "{}", `RS256 {"alg":"RS512"}`, "unknown key"},
		{"RS256", "{}", `RS256 {"alg":"HS256"}`, "unknown key"},
		{"ES256", "{}", `ES256 {"use":"enc"}`, "unknown key"},
		{"ES256", "{}", `ES256 {"key_ops":["sign","verify"]}`, ""},
		{"ES256", "{}", `ES256 {"key_ops":["encrypt"]}`, "unknown key"},
		{"RS256", "{}", `RS256 {"kty":"oct","k":"c2VjcmV0"}`, "unknown key"},
		{"EdDSA", "{}", `EdDSA {"d":"` + strings.Repeat("A", 43) + `"}`, "unknown key"},
		{"weak", "{}", "weak {}", "unknown key"},
		{"RS256", "{}", `RS256 {"n":"` + tooLong + `"}`, "unknown key"},
		// exponents: 1, even, huge
		{"RS256", "{}", `RS256 {"e":"AQ"}`, "unknown key"},
		{"RS256", "{}", `RS256 {"e":"AQAA"}`, "unknown key"},
		{"RS256", "{}", `RS256 {"e":"` + huge + `"}`, "unknown key"},
		{"P-384", "{}", "P-384 {}", "unknown key"},
		// a point that is not on the curve
		{"ES256", "{}", `ES256 {"x":"` + strings.Repeat("A", 43) + `"}`, "unknown key"},
		{"ES256", "{}", `ES256 {"x":7}`, "unknown key"},
		{"ES256", "{}", `ES256 {"kty":"AKP"}`, "unknown key"},
		{"ES256", "{}", `ES256 {"kty":null}`, "unknown key"},
		{"ES256", "{}", `ES256 {"x5c":["x"]}`, ""},
		// beside unusable keys
		{"ES256", "{}", `ES256 {"kty":"x"} RS256 {"n":null} ES256 {}`, ""},
		// equal and missing IDs
		{"ES256", "{}", `other {} RS256 {"kid":"ES256"} ES256 {}`, ""},
		{"ES256", "{}", "other {}", "signature"},
		{"ES256", `{"kid":null}`, `ES256 {"kid":null}`, ""},
		{"ES256", `{"kid":null}`, "RS256 {} other {} ES256 {}", ""},
		{"ES256", "{}", `ES256 {"kid":null}`, "unknown key"},
		{"ES256", "{}", `ES256 {"kid":"es256"}`, "unknown key"},
		{"ES256", "{}", "", "unknown key"},
	} {
		var published []map[string]any
		words := strings.Fields(test.published)
		for i := 0; i < len(words); i += 2 {
			published = append(published, keys[words[i]].With(decode(t, words[i+1])))
		}
		f := newFixture(t)
		f.Publish(published...)
		if got := f.reason(t, keys[test.signedWith].Sign(decode(t, test.header), f.Claims(begin, nil))); string(got) != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func decode(tb testing.TB, text string) (members map[string]any) {
	tb.Helper()
	assert.OK(tb, json.Unmarshal([]byte(text), &members))
	return members
}
