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

	// Version begins the body of every token.
	Version = "v2_"

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

// NewSelector returns a random selector, read from random. It never starts with a hyphen, so that command lines do not
// parse it as a flag.
func NewSelector(random io.Reader) (s Selector, err error) {
	for {
		if _, err := io.ReadFull(random, s[:]); err != nil {
			return Selector{}, fmt.Errorf("make a selector: %w", err)
		}
		if s.String()[0] != '-' {
			return s, nil
		}
	}
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

// Body is a token without its prefix, in plain text: a selector and a secret. Only Reveal returns the text; printed or
// logged it is redacted.
type Body struct {
	Selector Selector
	secret   [secretBytes]byte
}

// bodyChars is the number of characters of a Body.
const bodyChars = len(Version) + selectorChars + 1 + secretChars

// NewBody returns a Body whose secret is read from random.
func NewBody(selector Selector, random io.Reader) (Body, error) {
	b := Body{Selector: selector}
	if _, err := io.ReadFull(random, b.secret[:]); err != nil {
		return Body{}, fmt.Errorf("make a secret: %w", err)
	}
	return b, nil
}

// CutBody splits the text of a token before its Body. ok is false if the text does not end with one. Every Body has
// exactly one spelling.
func CutBody(text string) (prefix string, b Body, ok bool) {
	// Split by position, because base64url contains _.
	at := len(text) - bodyChars
	if at < 0 {
		return "", Body{}, false
	}
	rest, ok := strings.CutPrefix(text[at:], Version)
	if !ok || rest[selectorChars] != '_' ||
		!decode(b.Selector[:], rest[:selectorChars]) || !decode(b.secret[:], rest[selectorChars+1:]) {
		return "", Body{}, false
	}
	return text[:at], b, true
}

// DigestBody returns the Body that stands for a secret in another form, such as one of another installation. Its selector
// and its secret are parts of a SHA-256 of the text. The selector never starts with a hyphen, as that of NewSelector.
func DigestBody(text string) (b Body) {
	for digest := sha256.Sum256([]byte(text)); ; digest = sha256.Sum256(digest[:]) {
		copy(b.Selector[:], digest[:])
		if b.secret = sha256.Sum256(digest[:]); b.Selector.String()[0] != '-' {
			return b
		}
	}
}

// Verifier returns the verifier of the secret.
func (b Body) Verifier() Verifier { return sha256.Sum256(b.secret[:]) }

// Reveal returns the text.
func (b Body) Reveal() string {
	return Version + b.Selector.String() + "_" + base64.RawURLEncoding.EncodeToString(b.secret[:])
}

// String redacts.
func (b Body) String() string { return "[token]" }

// Format redacts for every verb. Without it %d would print the bytes of the secret.
func (b Body) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, b.String()) }

// LogValue redacts.
func (b Body) LogValue() slog.Value { return slog.StringValue(b.String()) }

// Token is an API token or a PAT in plain text. Like a Body, it is redacted if it is printed or logged.
type Token struct {
	Kind TokenKind
	Body
}

// NewToken returns a token whose secret is read from random.
func NewToken(kind TokenKind, selector Selector, random io.Reader) (Token, error) {
	body, err := NewBody(selector, random)
	if err != nil {
		return Token{}, err
	}
	return Token{kind, body}, nil
}

// At returns the token with the same secret and another selector.
func (t Token) At(selector Selector) Token {
	t.Selector = selector
	return t
}

// Reveal returns the token in plain text.
func (t Token) Reveal() string {
	if t.Kind == APIToken {
		return apiTokenPrefix + t.Body.Reveal()
	}
	return patPrefix + t.Body.Reveal()
}

// ParseToken reads an API token or a PAT. Every token has exactly one spelling. The only error is ErrMalformed.
func ParseToken(text string) (Token, error) {
	prefix, body, ok := CutBody(text)
	if !ok {
		return Token{}, ErrMalformed
	}
	switch prefix {
	case apiTokenPrefix:
		return Token{APIToken, body}, nil
	case patPrefix:
		if _, _, ok := body.Selector.PATIDs(); ok {
			return Token{PAT, body}, nil
		}
	}
	return Token{}, ErrMalformed
}

// decode is strict. Even the strict decoder of base64 skips newlines, so the length is checked.
func decode(to []byte, text string) bool {
	n, err := base64.RawURLEncoding.Strict().Decode(to, []byte(text))
	return err == nil && n == len(to)
}
