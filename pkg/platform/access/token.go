package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
)

// TokenKind is the kind of a token.
type TokenKind int

// The kinds of token.
const (
	APIToken TokenKind = iota + 1
	PAT
)

const (
	apiTokenPrefix = "*:*."
	patPrefix      = "user:"
	version        = "v2_"

	selectorBytes = 16
	secretBytes   = 32
	selectorChars = 22 // base64url without padding
	secretChars   = 43

	// MaxID is the largest id of a user or PAT: generated clients decode 32 bits.
	MaxID = math.MaxInt32
)

// ErrMalformed reports that a text is not a token.
var ErrMalformed = errors.New("malformed token")

// Selector identifies the item in which a credential is stored. It is not secret.
type Selector [selectorBytes]byte

// PATSelector returns the selector of a PAT: the owner's id and the PAT's id, 8 bytes each, big-endian.
func PATSelector(userID, id int64) Selector {
	var s Selector
	binary.BigEndian.PutUint64(s[:8], uint64(userID)) //nolint:gosec // ids are 1 to MaxID
	binary.BigEndian.PutUint64(s[8:], uint64(id))     //nolint:gosec // the same
	return s
}

// PATIDs returns the ids in a PAT's selector. ok is false unless both are 1 to MaxID.
func (s Selector) PATIDs() (userID, id int64, ok bool) {
	u, i := binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[8:])
	if u < 1 || u > MaxID || i < 1 || i > MaxID {
		return 0, 0, false
	}
	return int64(u), int64(i), true
}

// String returns the selector as it is in a token; it is also the key of an API token.
func (s Selector) String() string { return base64.RawURLEncoding.EncodeToString(s[:]) }

// ParseSelector reads the result of String.
func ParseSelector(text string) (s Selector, ok bool) {
	return s, len(text) == selectorChars && decode(s[:], text)
}

// Verifier is the SHA-256 of a token's secret, which is stored instead of the secret.
type Verifier [sha256.Size]byte

// Equal compares with the stored verifier in constant time.
func (v Verifier) Equal(stored []byte) bool {
	return subtle.ConstantTimeCompare(v[:], stored) == 1
}

// Token is a credential in plain text. Only Reveal returns the text; printed or logged it is redacted.
type Token struct {
	Kind     TokenKind
	Selector Selector
	secret   [secretBytes]byte
}

// NewToken makes a token whose secret is read from random.
func NewToken(kind TokenKind, selector Selector, random io.Reader) (Token, error) {
	t := Token{Kind: kind, Selector: selector}
	if _, err := io.ReadFull(random, t.secret[:]); err != nil {
		return Token{}, fmt.Errorf("make a secret: %w", err)
	}
	return t, nil
}

// At returns the token with the same secret and another selector.
func (t Token) At(selector Selector) Token {
	t.Selector = selector
	return t
}

// Verifier returns the verifier of the secret.
func (t Token) Verifier() Verifier { return sha256.Sum256(t.secret[:]) }

// Reveal returns the token in plain text.
func (t Token) Reveal() string {
	prefix := patPrefix
	if t.Kind == APIToken {
		prefix = apiTokenPrefix
	}
	return prefix + version + t.Selector.String() + "_" + base64.RawURLEncoding.EncodeToString(t.secret[:])
}

// String redacts.
func (t Token) String() string { return "[token]" }

// Format redacts for every verb. Without it %d would print the bytes of the secret.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// LogValue redacts.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// ParseToken reads an API token or a PAT. Every token has exactly one spelling. The only error is ErrMalformed.
func ParseToken(text string) (Token, error) {
	var t Token
	rest, isPAT := strings.CutPrefix(text, patPrefix+version)
	if isPAT {
		t.Kind = PAT
	} else {
		var isAPIToken bool
		if rest, isAPIToken = strings.CutPrefix(text, apiTokenPrefix+version); !isAPIToken {
			return Token{}, ErrMalformed
		}
		t.Kind = APIToken
	}
	// Split by position, because base64url contains _.
	if len(rest) != selectorChars+1+secretChars || rest[selectorChars] != '_' ||
		!decode(t.Selector[:], rest[:selectorChars]) || !decode(t.secret[:], rest[selectorChars+1:]) {
		return Token{}, ErrMalformed
	}
	if _, _, ok := t.Selector.PATIDs(); t.Kind == PAT && !ok {
		return Token{}, ErrMalformed
	}
	return t, nil
}

// decode is strict. Even the strict decoder of base64 skips newlines, so the length is checked.
func decode(to []byte, text string) bool {
	n, err := base64.RawURLEncoding.Strict().Decode(to, []byte(text))
	return err == nil && n == len(to)
}
