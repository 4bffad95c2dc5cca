package access_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
)

const (
	selector = "AAAAAAAAAAEAAAAAAAAAAQ" // user 1, PAT 1
	secret   = "0123456789-_0123456789-_0123456789-_012345A"
	pat      = "user:v2_" + selector + "_" + secret
	apiToken = "*:*.v2_" + selector + "_" + secret
)

func parse(t *testing.T, text string) access.Token {
	t.Helper()
	token, err := access.ParseToken(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return token
}

func TestParseToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		kind       access.TokenKind
		userID, id int64
	}{
		{"a PAT", pat, access.PAT, 1, 1},
		{"a PAT with the largest ids", "user:v2_AAAAAH____8AAAAAf____w_" + secret, access.PAT, access.MaxID, access.MaxID},
		{"a secret full of underscores", "user:v2_" + selector + "_" + strings.Repeat("_", 42) + "8", access.PAT, 1, 1},
		{"an API token", apiToken, access.APIToken, 1, 1},
		{"an API token with any selector", "*:*.v2_" + strings.Repeat("_", 21) + "w_" + secret, access.APIToken, 0, 0},
		{"an API token whose selector is zero", "*:*.v2_" + strings.Repeat("A", 22) + "_" + secret, access.APIToken, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			token := parse(t, tt.text)
			if token.Kind != tt.kind || token.Reveal() != tt.text {
				t.Errorf("kind %v, revealed %s", token.Kind, token.Reveal())
			}
			userID, id, ok := token.Selector.PATIDs()
			if userID != tt.userID || id != tt.id || ok != (tt.id > 0) {
				t.Errorf("ids %d, %d, %t", userID, id, ok)
			}
			if tt.id > 0 && access.PATSelector(tt.userID, tt.id) != token.Selector {
				t.Error("PATSelector returns another selector")
			}
			if selector, ok := access.ParseSelector(token.Selector.String()); !ok || selector != token.Selector {
				t.Errorf("ParseSelector returns %s, %t", selector, ok)
			}
		})
	}
}

// malformed returns texts that are not tokens.
func malformed() [][2]string {
	ids := func(userID, id uint64) string {
		var s access.Selector
		binary.BigEndian.PutUint64(s[:8], userID)
		binary.BigEndian.PutUint64(s[8:], id)
		return "user:v2_" + s.String() + "_" + secret
	}
	return [][2]string{
		{"empty", ""},
		{"no prefix", "v2_" + selector + "_" + secret},
		{"another prefix", "USER:v2_" + selector + "_" + secret},
		{"another version", "user:v1_" + selector + "_" + secret},
		{"an API token of a project", "default:development.v2_" + selector + "_" + secret},
		{"white space before", " " + pat},
		{"a newline after", pat + "\n"},
		{"a newline in the secret", pat[:50] + "\n" + pat[50:]},
		{"newlines instead of whole bytes of the secret", "user:v2_" + selector + "_" + secret[:39] + "\n\n\r\n"},
		{"newlines instead of whole bytes of the selector", "*:*.v2_" + selector[:20] + "\n\n_" + secret},
		{"a short selector", "user:v2_" + selector[1:] + "_" + secret},
		{"a short secret", pat[:len(pat)-1]},
		{"a long secret", pat + "A"},
		{"another separator", "user:v2_" + selector + "-" + secret},
		{"padding", pat[:len(pat)-1] + "="},
		{"the other alphabet, plus", "user:v2_" + selector + "_+" + secret[1:]},
		{"the other alphabet, slash", "user:v2_" + selector + "_/" + secret[1:]},
		{"UTF-8", "user:v2_" + selector + "_é" + secret[2:]},
		{"a JWT", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"},
		{"user 0", ids(0, 1)},
		{"PAT 0", ids(1, 0)},
		{"user 2147483648", ids(access.MaxID+1, 1)},
		{"PAT 2147483648", ids(1, access.MaxID+1)},
		{"user 2^63", ids(1<<63, 1)},
	}
}

func TestMalformedTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range malformed() {
		t.Run(tt[0], func(t *testing.T) {
			t.Parallel()
			if token, err := access.ParseToken(tt[1]); !errors.Is(err, access.ErrMalformed) || token != (access.Token{}) {
				t.Errorf("%q is accepted", tt[1])
			}
		})
	}
}

// base64 accepts 16 spellings of the last character of 16 bytes, 4 of 32.
func TestTokensHaveOneSpelling(t *testing.T) {
	t.Parallel()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, prefix := range []string{"user:", "*:*."} {
		taken := map[string]int{}
		for _, c := range alphabet {
			for _, text := range []string{
				prefix + "v2_" + selector[:21] + string(c) + "_" + secret,
				prefix + "v2_" + selector + "_" + secret[:42] + string(c),
			} {
				token, err := access.ParseToken(text)
				if err != nil {
					continue
				}
				if token.Reveal() != text {
					t.Errorf("%s is revealed as %s", text, token.Reveal())
				}
				taken[text]++
			}
		}
		want := 16 + 4 // the last character of a selector has 2 bits, of a secret 4; one of either is the token itself
		if prefix == "user:" {
			want = 16 + 3 // there is no PAT 0
		}
		if got := len(taken) + 1; got != want {
			t.Errorf("%s: %d spellings are accepted, want %d", prefix, got, want)
		}
	}
}

func TestTokensAreRedacted(t *testing.T) {
	t.Parallel()
	token := parse(t, pat)
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	holder := struct {
		Token access.Token
		Many  []access.Token
		Ref   *access.Token
	}{token, []access.Token{token}, &token}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(handler).Info("m", slog.Any("token", token), slog.Any("ref", &token), slog.Any("holder", holder))
	}
	if !strings.Contains(log.String(), `"token":"[token]","ref":"[token]"`) ||
		!strings.Contains(log.String(), " token=[token] ref=[token] ") {
		t.Errorf("the log does not contain [token]: %s", &log)
	}
	shown := log.String() + string(encoded) + fmt.Sprint(token, &token, holder)
	leaks := []string{secret[:10], string(raw[:8])}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%c"} {
		shown += fmt.Sprintf(verb+verb+verb, token, &token, holder)
		leaks = append(leaks, strings.Trim(strings.TrimPrefix(fmt.Sprintf(verb, raw[:8]), "[]byte"), "[]{}"))
	}
	for _, leak := range leaks {
		if strings.Contains(shown, leak) {
			t.Errorf("%q is shown: %s", leak, shown)
		}
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	random := bytes.Repeat([]byte{0xfb}, 40)
	token, err := access.NewToken(access.PAT, access.PATSelector(7, 9), bytes.NewReader(random))
	if err != nil {
		t.Fatal(err)
	}
	want := "user:v2_AAAAAAAAAAcAAAAAAAAACQ_" + base64.RawURLEncoding.EncodeToString(random[:32])
	if got := token.Reveal(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if moved := token.At(access.PATSelector(7, 10)); moved.Verifier() != token.Verifier() ||
		moved.Reveal() != strings.Replace(want, "CQ_", "Cg_", 1) {
		t.Errorf("moved: %s", moved.Reveal())
	}
	if token.Reveal() != want {
		t.Error("At has changed the token itself")
	}
	for _, broken := range []io.Reader{bytes.NewReader(random[:31]), bytes.NewReader(nil)} {
		if token, err := access.NewToken(access.PAT, access.PATSelector(7, 9), broken); err == nil ||
			token != (access.Token{}) {
			t.Error("a token without enough randomness")
		}
	}
}

func TestVerifier(t *testing.T) {
	t.Parallel()
	verifier := parse(t, pat).Verifier()
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	if verifier != sha256.Sum256(raw) {
		t.Errorf("the verifier is %x", verifier)
	}
	if parse(t, apiToken).Verifier() != verifier ||
		parse(t, "user:v2_AAAAAAAAAAEAAAAAAAAAAg_"+secret).Verifier() != verifier {
		t.Error("the verifier depends on more than the secret")
	}
	other := verifier
	other[31] ^= 1
	for name, tt := range map[string]struct {
		stored []byte
		want   bool
	}{
		"itself": {verifier[:], true}, "one bit off": {other[:], false}, "nothing stored": {nil, false},
		"zeros":   {make([]byte, 32), false},
		"shorter": {verifier[:31], false}, "longer": {append(verifier[:], 0), false},
	} {
		if got := verifier.Equal(tt.stored); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	for _, tt := range malformed() {
		f.Add(tt[1])
	}
	f.Add(pat)
	f.Add(apiToken)
	f.Fuzz(func(t *testing.T, text string) {
		token, err := access.ParseToken(text)
		if err != nil {
			if !errors.Is(err, access.ErrMalformed) || token != (access.Token{}) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if token.Reveal() != text {
			t.Fatalf("%q is revealed as %q", text, token.Reveal())
		}
		if userID, id, ok := token.Selector.PATIDs(); token.Kind == access.PAT &&
			(!ok || access.PATSelector(userID, id) != token.Selector) {
			t.Fatalf("%q: ids %d, %d, %t", text, userID, id, ok)
		}
	})
}
