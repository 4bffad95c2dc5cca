package access_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
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
	assert.OK(t, err)
	return token
}

func TestParseToken(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ token, ids string }{
		{"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A", "1 1 true"},
		{"user:v2_AAAAAH____8AAAAAf____w_0123456789-_0123456789-_0123456789-_012345A", "2147483647 2147483647 true"},
		{"user:v2_AAAAAAAAAAEAAAAAAAAAAQ___________________________________________8", "1 1 true"},
		{"*:*.v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A", "1 1 true"},
		{"*:*.v2______________________w_0123456789-_0123456789-_0123456789-_012345A", "0 0 false"},
		{"*:*.v2_AAAAAAAAAAAAAAAAAAAAAA_0123456789-_0123456789-_0123456789-_012345A", "0 0 false"},
	} {
		token := parse(t, test.token)
		assert.Equal(t, test.token[0] == 'u', token.Kind == access.PAT)
		assert.Equal(t, test.token, token.Reveal())
		userID, id, ok := token.Selector.PATIDs()
		assert.Equal(t, test.ids, fmt.Sprint(userID, id, ok))
		if ok {
			assert.Equal(t, token.Selector, access.PATSelector(userID, id))
		}
		selector, ok := access.ParseSelector(token.Selector.String())
		assert.Equal(t, []any{token.Selector, true}, []any{selector, ok})
	}
}

// malformed returns texts that are not tokens.
func malformed() []string {
	return []string{
		"",
		"v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		"USER:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		"user:v1_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		"default:development.v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		" user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A\n",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789\n-_0123456789-_012345A",
		// newlines instead of whole bytes of the secret and of the selector
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012\n\n\r\n",
		"*:*.v2_AAAAAAAAAAEAAAAAAAAA\n\n_0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345AA",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ-0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345=",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_+123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_é23456789-_0123456789-_0123456789-_012345A",
		"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
		// IDs that are 0, 2147483648 and 2^63
		"user:v2_AAAAAAAAAAAAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAAAAAAEAAAAAAAAAAA_0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAIAAAAAAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_AAAAAAAAAAEAAAAAgAAAAA_0123456789-_0123456789-_0123456789-_012345A",
		"user:v2_gAAAAAAAAAAAAAAAAAAAAQ_0123456789-_0123456789-_0123456789-_012345A",
	}
}

func TestMalformedTokens(t *testing.T) {
	t.Parallel()
	for _, text := range malformed() {
		if token, err := access.ParseToken(text); !errors.Is(err, access.ErrMalformed) || token != (access.Token{}) {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestTokensAreRedacted(t *testing.T) {
	t.Parallel()
	token := parse(t, pat)
	raw, rawErr := base64.RawURLEncoding.DecodeString(secret)
	holder := struct {
		Token access.Token
		Many  []access.Token
		Ref   *access.Token
	}{token, []access.Token{token}, &token}
	encoded, err := json.Marshal(holder)
	assert.OK(t, rawErr, err)
	var shown strings.Builder
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&shown, nil), slog.NewTextHandler(&shown, nil)} {
		slog.New(handler).Info("m", slog.Any("token", token), slog.Any("ref", &token), slog.Any("holder", holder))
	}
	fmt.Fprintf(&shown, "%s %v %v", encoded, token, holder)
	leaks := []string{secret[:10]}
	for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %o %c") {
		fmt.Fprintf(&shown, verb+verb+verb, token, &token, holder)
		leaks = append(leaks, strings.Trim(strings.TrimPrefix(fmt.Sprintf(verb, raw[:8]), "[]byte"), "[]{}"))
	}
	for _, leak := range leaks {
		if strings.Contains(shown.String(), leak) {
			t.Errorf("%q is shown: %s", leak, &shown)
		}
	}
	for _, redacted := range []string{`"token":"[token]","ref":"[token]"`, " token=[token] ref=[token] "} {
		if !strings.Contains(shown.String(), redacted) {
			t.Errorf("%q is not shown: %s", redacted, &shown)
		}
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	random := bytes.Repeat([]byte{0xfb}, 40)
	token, err := access.NewToken(access.PAT, access.PATSelector(7, 9), bytes.NewReader(random))
	assert.OK(t, err)
	want := "user:v2_AAAAAAAAAAcAAAAAAAAACQ_" + base64.RawURLEncoding.EncodeToString(random[:32])
	moved := token.At(access.PATSelector(7, 10))
	assert.Equal(t, []string{want, strings.Replace(want, "CQ_", "Cg_", 1)}, []string{token.Reveal(), moved.Reveal()})
	assert.Equal(t, token.Verifier(), moved.Verifier())
	token, err = access.NewToken(access.PAT, access.PATSelector(7, 9), bytes.NewReader(random[:31]))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, true, token == access.Token{})
}

func TestVerifier(t *testing.T) {
	t.Parallel()
	verifier := parse(t, pat).Verifier()
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	assert.OK(t, err)
	for _, text := range []string{pat, apiToken, "user:v2_AAAAAAAAAAEAAAAAAAAAAg_" + secret} {
		assert.Equal(t, sha256.Sum256(raw), [32]byte(parse(t, text).Verifier()))
	}
	other := verifier
	other[31] ^= 1
	for i, stored := range [][]byte{verifier[:], other[:], nil, make([]byte, 32), verifier[:31], append(verifier[:], 0)} {
		assert.Equal(t, i == 0, verifier.Equal(stored))
	}
}

func FuzzParseToken(f *testing.F) {
	for _, text := range malformed() {
		f.Add(text)
	}
	// Base64 accepts 16 spellings of the last character of 16 bytes, 4 of 32, and a token has one.
	for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		f.Add(pat[:len(pat)-1] + string(last))
		f.Add("*:*.v2_" + selector[:21] + string(last) + "_" + secret)
	}
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
