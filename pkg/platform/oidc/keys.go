package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"math"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Lengths of RSA keys, in bits.
const (
	minRSA = 2048
	maxRSA = 8192
)

// keySet contains the keys of an issuer that can verify signatures. It is not changed. nil: none.
type keySet struct{ keys []key }

type key struct {
	id         string
	algorithms []jose.SignatureAlgorithm // the accepted ones that the key can be used with
	public     crypto.PublicKey
}

// matching returns the keys for a token: those with its key ID, or all if it names none, as far as they can be used
// with its algorithm.
func (s *keySet) matching(h header) (keys []crypto.PublicKey) {
	if s == nil {
		return nil
	}
	for _, k := range s.keys {
		if (h.KeyID == "" || h.KeyID == k.id) && slices.Contains(k.algorithms, h.Algorithm) {
			keys = append(keys, k.public)
		}
	}
	return keys
}

func (i *Issuer) fetchKeys(ctx context.Context) (*keySet, error) {
	metadata, err := i.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	var document struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := i.getJSON(ctx, metadata.JWKSURI, &document); err != nil {
		return nil, err
	}
	set := &keySet{}
	for _, value := range document.Keys {
		if k, ok := parseKey(value); ok {
			set.keys = append(set.keys, k)
		}
	}
	return set, nil
}

// jwk contains the parameters of a public key (RFC 7517, section 4; RFC 7518, section 6; RFC 8037, section 2). x5c and
// other parameters are ignored.
type jwk struct {
	Type       string                  `json:"kty"`
	ID         string                  `json:"kid,omitempty"`
	Use        string                  `json:"use,omitempty"`
	Operations []string                `json:"key_ops,omitempty"`
	Algorithm  jose.SignatureAlgorithm `json:"alg,omitempty"`

	Curve    string `json:"crv,omitempty"`
	X        string `json:"x,omitempty"`
	Y        string `json:"y,omitempty"`
	Modulus  string `json:"n,omitempty"`
	Exponent string `json:"e,omitempty"`

	Private jsontext.Value `json:"d,omitempty"`
}

// parseKey returns a key of a JWKS. It ignores keys that are not made for one of the accepted algorithms, are weak, or
// are private and therefore disclosed.
func parseKey(value jsontext.Value) (key, bool) {
	var j jwk
	if json.Unmarshal(value, &j) != nil || j.Private != nil || j.Use != "" && j.Use != "sig" ||
		j.Operations != nil && !slices.Contains(j.Operations, "verify") {
		return key{}, false
	}
	public, err := json.Marshal(j)
	var parsed jose.JSONWebKey
	if err != nil || parsed.UnmarshalJSON(public) != nil {
		return key{}, false
	}
	k := key{id: j.ID, public: parsed.Key, algorithms: algorithmsOf(parsed.Key)}
	if j.Algorithm != "" {
		k.algorithms = slices.DeleteFunc(k.algorithms, func(a jose.SignatureAlgorithm) bool { return a != j.Algorithm })
	}
	return k, len(k.algorithms) > 0
}

// algorithmsOf returns the accepted algorithms that a key can be used with.
func algorithmsOf(public any) []jose.SignatureAlgorithm {
	switch k := public.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= minRSA && bits <= maxRSA && k.E > 2 && k.E%2 == 1 && k.E <= math.MaxInt32 {
			return []jose.SignatureAlgorithm{jose.RS256, jose.PS256}
		}
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return []jose.SignatureAlgorithm{jose.ES256}
		}
	case ed25519.PublicKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}
	}
	return nil
}
