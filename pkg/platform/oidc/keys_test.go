package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/issuer"
)

// TestPublishedKeys publishes one key in different forms. The token is always signed with its private key.
func TestPublishedKeys(t *testing.T) {
	t.Parallel()
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other := func(algorithm string) map[string]any { return issuer.NewKey(algorithm, algorithm).JWK() }
	rs256, ps256, es256, eddsa := issuer.KeyFor("RS256"), issuer.KeyFor("PS256"), issuer.KeyFor("ES256"),
		issuer.KeyFor("EdDSA")
	changed := func(k issuer.Key, name string, value any) []map[string]any {
		return []map[string]any{k.With(map[string]any{name: value})}
	}
	withoutID := map[string]any{"kid": nil}
	for _, tt := range []struct {
		name      string
		key       issuer.Key
		published []map[string]any
		header    map[string]any
		want      oidc.Reason
	}{
		{"alone", rs256, []map[string]any{rs256.JWK()}, nil, ""},
		{"without alg and use", ps256, []map[string]any{ps256.With(map[string]any{"alg": nil, "use": nil})}, nil, ""},
		{"for another algorithm of its type", ps256, changed(ps256, "alg", "RS256"), nil, oidc.UnknownKey},
		{"for an algorithm that is not accepted", rs256, changed(rs256, "alg", "RS512"), nil, oidc.UnknownKey},
		{"for HMAC", rs256, changed(rs256, "alg", "HS256"), nil, oidc.UnknownKey},
		{"for encryption", es256, changed(es256, "use", "enc"), nil, oidc.UnknownKey},
		{"operation verify", es256, changed(es256, "key_ops", []string{"sign", "verify"}), nil, ""},
		{"operation encrypt", es256, changed(es256, "key_ops", []string{"encrypt"}), nil, oidc.UnknownKey},
		{"symmetric", rs256, []map[string]any{{"kty": "oct", "kid": "RS256", "k": issuer.Encode([]byte("secret"))}}, nil,
			oidc.UnknownKey},
		{"private", eddsa, changed(eddsa, "d", issuer.Encode(make([]byte, 32))), nil, oidc.UnknownKey},
		{"RSA of 1024 bits", issuer.Key{ID: "weak", Algorithm: "RS256", Private: weak}, []map[string]any{
			issuer.Key{ID: "weak", Algorithm: "RS256", Private: weak}.JWK(),
		}, nil, oidc.UnknownKey},
		{"RSA of 8200 bits", rs256, changed(rs256, "n", issuer.Encode([]byte(strings.Repeat("\xff", 1025)))), nil,
			oidc.UnknownKey},
		{"exponent 1", rs256, changed(rs256, "e", "AQ"), nil, oidc.UnknownKey},
		{"even exponent", rs256, changed(rs256, "e", "AQAA"), nil, oidc.UnknownKey},
		{"huge exponent", rs256, changed(rs256, "e", issuer.Encode([]byte(strings.Repeat("\xff", 256)))), nil,
			oidc.UnknownKey},
		{"P-384", issuer.Key{ID: "P-384", Algorithm: "ES256", Private: p384}, []map[string]any{
			issuer.Key{ID: "P-384", Algorithm: "ES256", Private: p384}.JWK(),
		}, nil, oidc.UnknownKey},
		{"point that is not on the curve", es256, changed(es256, "x", issuer.Encode(make([]byte, 32))), nil, oidc.UnknownKey},
		{"malformed", es256, changed(es256, "x", 7), nil, oidc.UnknownKey},
		{"unknown type", es256, changed(es256, "kty", "AKP"), nil, oidc.UnknownKey},
		{"no type", es256, changed(es256, "kty", nil), nil, oidc.UnknownKey},
		{"malformed certificate", es256, changed(es256, "x5c", []string{"x"}), nil, ""},
		{"beside unusable keys", es256, []map[string]any{nil, {"kty": "x"}, {"kty": "RSA"}, es256.JWK()}, nil, ""},
		{"another one with the same ID", es256, []map[string]any{other("ES256"), rs256.With(map[string]any{"kid": "ES256"}),
			es256.JWK()}, nil, ""},
		{"only another one with the same ID", es256, []map[string]any{other("ES256")}, nil, oidc.Signature},
		{"key and token without ID", es256, []map[string]any{es256.With(withoutID)}, withoutID, ""},
		{"only the token without ID", es256, []map[string]any{rs256.JWK(), other("ES256"), es256.JWK()}, withoutID, ""},
		{"only the key without ID", es256, []map[string]any{es256.With(withoutID)}, nil, oidc.UnknownKey},
		{"ID in another letter case", es256, changed(es256, "kid", "es256"), nil, oidc.UnknownKey},
		{"ID that is not a string", es256, []map[string]any{es256.JWK()}, map[string]any{"kid": 7}, oidc.Malformed},
		{"none", es256, nil, nil, oidc.UnknownKey},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(tt.published...)
			f.expect(t, tt.key.Sign(tt.header, f.Claims(begin, nil)), tt.want)
		})
	}
}

// TestKeyIsReplacedUnderItsID checks that a signature that a known key does not verify causes a fetch under the same
// limit.
func TestKeyIsReplacedUnderItsID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	replaced := issuer.NewKey("ES256", "ES256")
	f.expect(t, f.Token(begin, nil), "")
	f.Publish(replaced.JWK())
	f.advance(30*time.Second - 1)
	for range 10 {
		f.expect(t, f.token(replaced), oidc.Signature)
	}
	f.expectFetches(t, 1, 1)
	f.advance(1)
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() { f.expect(t, f.token(replaced), "") })
	}
	group.Wait()
	f.expect(t, f.Token(begin, nil), oidc.Signature)
	f.expectFetches(t, 1, 2)
}
