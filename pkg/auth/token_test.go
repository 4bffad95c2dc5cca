package auth_test

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

	"toggleadmin/pkg/auth"
)

const (
	selector = "AAAAAAAAAAEAAAAAAAAAAQ" // user 1, PAT 1
	secret   = "0123456789-_0123456789-_0123456789-_012345A"
	pat      = "user:v2_" + selector + "_" + secret
	apiToken = "*:*.v2_" + selector + "_" + secret
)

func parse(t *testing.T, text string) auth.Token {
	t.Helper()
	token, err := auth.ParseToken(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return token
}

func TestTokensAreReadAndWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		kind       auth.TokenKind
		userID, id int64
	}{
		{"a PAT", pat, auth.PAT, 1, 1},
		{"a PAT with the largest ids", "user:v2_AAAAAH____8AAAAAf____w_" + secret, auth.PAT, auth.MaxID, auth.MaxID},
		{"a secret full of underscores", "user:v2_" + selector + "_" + strings.Repeat("_", 42) + "8", auth.PAT, 1, 1},
		{"an API token", apiToken, auth.APIToken, 1, 1},
		{"an API token with any selector", "*:*.v2_" + strings.Repeat("_", 21) + "w_" + secret, auth.APIToken, 0, 0},
		{"an API token whose selector is zero", "*:*.v2_" + strings.Repeat("A", 22) + "_" + secret, auth.APIToken, 0, 0},
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
			if tt.id > 0 && auth.PATSelector(tt.userID, tt.id) != token.Selector {
				t.Error("PATSelector gives another selector")
			}
		})
	}
}

// refused are no tokens; the fuzz target starts from them, too.
func refused() [][2]string {
	ids := func(userID, id uint64) string {
		var s auth.Selector
		binary.BigEndian.PutUint64(s[:8], userID)
		binary.BigEndian.PutUint64(s[8:], id)
		return "user:v2_" + s.String() + "_" + secret
	}
	all := [][2]string{
		{"empty", ""},
		{"a prefix", "user:v2_"},
		{"no prefix", "v2_" + selector + "_" + secret},
		{"another prefix", "admin:v2_" + selector + "_" + secret},
		{"a prefix in upper case", "USER:v2_" + selector + "_" + secret},
		{"another version", "user:v1_" + selector + "_" + secret},
		{"an API token of a project", "default:development.v2_" + selector + "_" + secret},
		{"white space before", " " + pat},
		{"white space behind", pat + " "},
		{"a newline behind", pat + "\n"},
		{"a newline in place of a character of the secret", pat[:len(pat)-1] + "\n"},
		{"a newline more in the secret", pat[:50] + "\n" + pat[50:]},
		{"a carriage return in the selector", "user:v2_" + selector[:10] + "\r" + selector[11:] + "_" + secret},
		{"newlines that fill up whole bytes", "user:v2_" + selector + "_" + secret[:40] + "\n\r\n"},
		{"newlines that fill up a short selector", "*:*.v2_" + selector[:20] + "\n\n_" + secret},
		{"newlines that fill up a short secret", "user:v2_" + selector + "_" + secret[:39] + "\n\n\r\n"},
		{"a short selector", "user:v2_" + selector[1:] + "_" + secret},
		{"a long selector", "user:v2_A" + selector + "_" + secret},
		{"a short secret", pat[:len(pat)-1]},
		{"a long secret", pat + "A"},
		{"another separator", "user:v2_" + selector + "-" + secret},
		{"no separator", "user:v2_" + selector + secret},
		{"padding", "user:v2_" + selector + "_" + secret[:42] + "="},
		{"padding behind", pat + "="},
		{"the other alphabet, plus", "user:v2_" + selector + "_+" + secret[1:]},
		{"the other alphabet, slash", "user:v2_" + selector + "_/" + secret[1:]},
		{"NUL", "user:v2_" + selector + "_\x00" + secret[1:]},
		{"UTF-8", "user:v2_" + selector + "_é" + secret[2:]},
		{"a token behind a token", pat + pat},
		{"a JWT", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"},
		{"the counter's item (0, 0)", ids(0, 0)},
		{"user 0", ids(0, 1)},
		{"PAT 0", ids(1, 0)},
		{"user 2147483648", ids(auth.MaxID+1, 1)},
		{"PAT 2147483648", ids(1, auth.MaxID+1)},
		{"user 2^63", ids(1<<63, 1)},
		{"PAT 2^64-1", ids(1, 1<<64-1)},
	}
	return all
}

func TestAnythingElseIsMalformed(t *testing.T) {
	t.Parallel()
	for _, tt := range refused() {
		t.Run(tt[0], func(t *testing.T) {
			t.Parallel()
			if token, err := auth.ParseToken(tt[1]); !errors.Is(err, auth.ErrMalformed) || token != (auth.Token{}) {
				t.Errorf("%q is taken", tt[1])
			}
		})
	}
}

// base64 accepts 16 spellings of the last character of 16 bytes, 4 of 32.
func TestEveryTokenHasExactlyOneSpelling(t *testing.T) {
	t.Parallel()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, prefix := range []string{"user:", "*:*."} {
		taken := map[string]int{}
		for _, c := range alphabet {
			for _, text := range []string{
				prefix + "v2_" + selector[:21] + string(c) + "_" + secret,
				prefix + "v2_" + selector + "_" + secret[:42] + string(c),
			} {
				token, err := auth.ParseToken(text)
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
			want = 16 + 3 // PAT 0 is none
		}
		if got := len(taken) + 1; got != want {
			t.Errorf("%s: %d spellings are taken, want %d", prefix, got, want)
		}
	}
}

func TestATokenShowsItselfOnlyThroughReveal(t *testing.T) {
	t.Parallel()
	token := parse(t, pat)
	holder := struct {
		Name  string
		Token auth.Token
		Many  []auth.Token
		Ref   *auth.Token
	}{"holder", token, []auth.Token{token}, &token}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		logger := slog.New(handler)
		logger.Info("token", slog.Any("token", token), slog.Any("ref", &token), slog.Any("holder", holder), slog.Any("error", fmt.Errorf("%v", token)))
	}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), `"token":"[token]","ref":"[token]"`) || !strings.Contains(log.String(), " token=[token] ref=[token] ") {
		t.Errorf("a token in a log is not shown as [token]: %s", log.String())
	}
	shown := map[string]string{"slog": log.String(), "json": string(encoded), "String": token.String(), "Sprint": fmt.Sprint(token, &token, holder)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%c", "%t", "%100v"} {
		shown[verb] = fmt.Sprintf(verb, token)
		shown[verb+" of a pointer"] = fmt.Sprintf(verb, &token)
		shown[verb+" in a struct"] = fmt.Sprintf(verb, holder)
	}
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	for how, text := range shown {
		for _, leak := range []string{
			secret, secret[:10], string(raw[:8]), fmt.Sprintf("%x", raw[:8]), fmt.Sprintf("%X", raw[:8]), strings.Trim(fmt.Sprint(raw[:8]), "[]"),
			strings.TrimPrefix(strings.TrimSuffix(fmt.Sprintf("%#v", raw[:8]), "}"), "[]byte{"), strings.Trim(fmt.Sprintf("%o", raw[:8]), "[]"), strings.Trim(fmt.Sprintf("%c", raw[:8]), "[]"),
		} {
			if strings.Contains(text, leak) {
				t.Errorf("%s shows %q: %s", how, leak, text)
			}
		}
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	random := bytes.Repeat([]byte{0xfb}, 40)
	token, err := auth.NewToken(auth.PAT, auth.PATSelector(7, 9), bytes.NewReader(random))
	if err != nil {
		t.Fatal(err)
	}
	want := "user:v2_AAAAAAAAAAcAAAAAAAAACQ_" + base64.RawURLEncoding.EncodeToString(random[:32])
	if got := token.Reveal(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if moved := token.At(auth.PATSelector(7, 10)); moved.Verifier() != token.Verifier() || moved.Reveal() != strings.Replace(want, "CQ_", "Cg_", 1) {
		t.Errorf("moved: %s", moved.Reveal())
	}
	if token.Reveal() != want {
		t.Error("At has changed the token itself")
	}
	for _, broken := range []io.Reader{bytes.NewReader(random[:31]), bytes.NewReader(nil)} {
		if token, err := auth.NewToken(auth.PAT, auth.PATSelector(7, 9), broken); err == nil || token != (auth.Token{}) {
			t.Error("a token of too little randomness")
		}
	}
}

func TestOnlySHA256OfTheSecretIsCompared(t *testing.T) {
	t.Parallel()
	verifier := parse(t, pat).Verifier()
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	if verifier != sha256.Sum256(raw) {
		t.Errorf("the verifier is %x", verifier)
	}
	if parse(t, apiToken).Verifier() != verifier || parse(t, "user:v2_AAAAAAAAAAEAAAAAAAAAAg_"+secret).Verifier() != verifier {
		t.Error("the verifier depends on more than the secret")
	}
	other := verifier
	other[31] ^= 1
	for name, tt := range map[string]struct {
		stored []byte
		want   bool
	}{
		"itself": {verifier[:], true}, "one bit off": {other[:], false}, "nothing stored": {nil, false}, "zeros": {make([]byte, 32), false},
		"shorter": {verifier[:31], false}, "longer": {append(verifier[:], 0), false},
	} {
		if got := verifier.Equal(tt.stored); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	for _, tt := range refused() {
		f.Add(tt[1])
	}
	f.Add(pat)
	f.Add(apiToken)
	f.Fuzz(func(t *testing.T, text string) {
		token, err := auth.ParseToken(text)
		if err != nil {
			if !errors.Is(err, auth.ErrMalformed) || token != (auth.Token{}) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if token.Reveal() != text {
			t.Fatalf("%q is revealed as %q", text, token.Reveal())
		}
		if userID, id, ok := token.Selector.PATIDs(); token.Kind == auth.PAT && (!ok || auth.PATSelector(userID, id) != token.Selector) {
			t.Fatalf("%q: ids %d, %d, %t", text, userID, id, ok)
		}
	})
}
