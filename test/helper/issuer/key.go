package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// Key signs tokens.
type Key struct {
	ID        string
	Algorithm string
	Private   crypto.Signer
}

// Algorithms returns the algorithms of signatures that the service accepts.
func Algorithms() []string { return []string{"RS256", "ES256", "PS256", "EdDSA"} }

// KeyFor returns the process's key for an algorithm. Its ID is the algorithm's name.
func KeyFor(algorithm string) Key { return processKeys()[algorithm] }

// Generating an RSA key takes a tenth of a second, so two algorithms have the same one.
var processKeys = sync.OnceValue(func() map[string]Key {
	keys := map[string]Key{}
	for _, algorithm := range []string{"RS256", "ES256", "EdDSA"} {
		keys[algorithm] = NewKey(algorithm, algorithm)
	}
	keys["PS256"] = Key{ID: "PS256", Algorithm: "PS256", Private: keys["RS256"].Private}
	return keys
})

// NewKey generates a key.
func NewKey(algorithm, id string) Key {
	k := Key{ID: id, Algorithm: algorithm}
	var err error
	switch algorithm {
	case "RS256", "PS256":
		k.Private, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		k.Private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, k.Private, err = ed25519.GenerateKey(rand.Reader)
	default:
		err = fmt.Errorf("unknown algorithm %q", algorithm)
	}
	must(err)
	return k
}

// JWK returns the public key as the issuer publishes it.
func (k Key) JWK() map[string]any {
	b, err := jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Use: "sig", Algorithm: k.Algorithm}.MarshalJSON()
	must(err)
	var jwk map[string]any
	must(json.Unmarshal(b, &jwk))
	return jwk
}

// With returns the public key with changes. A nil value removes a member.
func (k Key) With(changes map[string]any) map[string]any { return change(k.JWK(), changes) }

// Sign returns a token. The header is {"alg","kid","typ"} with the changes; the signature always uses the key's
// algorithm.
func (k Key) Sign(header, claims map[string]any) string {
	complete := change(map[string]any{"alg": k.Algorithm, "kid": k.ID, "typ": "JWT"}, header)
	return k.SignText(text(complete), text(claims))
}

// SignText returns a token with a header and a payload that need not be JSON.
func (k Key) SignText(header, payload string) string {
	input := Encode([]byte(header)) + "." + Encode([]byte(payload))
	digest := sha256.Sum256([]byte(input))
	var signature []byte
	var err error
	switch k.Algorithm {
	case "PS256":
		signature, err = k.Private.Sign(rand.Reader, digest[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash,
			Hash: crypto.SHA256})
	case "EdDSA":
		signature, err = k.Private.Sign(rand.Reader, []byte(input), crypto.Hash(0))
	case "ES256":
		private, ok := k.Private.(*ecdsa.PrivateKey)
		if !ok {
			panic("ES256 needs an elliptic curve")
		}
		r, s, signErr := ecdsa.Sign(rand.Reader, private, digest[:])
		must(signErr)
		size := (private.Params().BitSize + 7) / 8
		signature = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	default:
		signature, err = k.Private.Sign(rand.Reader, digest[:], crypto.SHA256)
	}
	must(err)
	return input + "." + Encode(signature)
}

// Encode returns base64url without padding.
func Encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func text(members map[string]any) string {
	b, err := json.Marshal(members)
	must(err)
	return string(b)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
