package clienttokentable_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

const (
	selector = "AQEBAQEBAQEBAQEBAQEBAQ"
	random   = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"
	body     = "v2_" + selector + "_" + random
)

// newToken returns a token for projects in the environment production, and its text.
func newToken(t *testing.T, projects ...string) (clienttokentable.Token, clienttokentable.Secret) {
	t.Helper()
	bytesOf := append(bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 32)...)
	token, secret, err := clienttokentable.New(
		clienttokentable.Token{Name: "shop", Environment: "production", Projects: projects}, bytes.NewReader(bytesOf))
	assert.OK(t, err)
	return token, secret
}

func parse(t *testing.T, text string) clienttokentable.Secret {
	t.Helper()
	secret, ok := clienttokentable.ParseSecret(text)
	if !ok {
		t.Fatalf("%q is not a client token", text)
	}
	return secret
}

// The text of a token shows its scope and its environment.
func TestText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		projects []string
		want     string
	}{
		{nil, "*:production.v2_"},
		{[]string{"shop"}, "shop:production.v2_"},
		{[]string{"shop", "blog"}, "[]:production.v2_"},
	} {
		token, secret := newToken(t, test.projects...)
		assert.Equal(t, test.want+selector, token.Listed())
		assert.Equal(t, test.want+selector+"_"+random, secret.Reveal())
		parsed := parse(t, secret.Reveal())
		assert.Equal(t, true, parsed == secret)
		listed, ok := clienttokentable.ParseID(token.Listed())
		assert.Equal(t, []any{token.Selector, true}, []any{listed, ok})
	}
}

func TestOtherTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"",
		body,
		"user:" + body,
		"*:*." + body,
		"production." + body,
		":production." + body,
		"shop:." + body,
		"shop:production" + body,
		"shop,blog:production." + body,
		"shop:production:" + body,
		"[shop]:production." + body,
		"..:production." + body,
		"shop:production." + body + " ",
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBAQ",
		"shop:production.v1_AQEBAQEBAQEBAQEBAQEBAQ_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI",
		// another spelling of the last characters
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBAR_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI",
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBAQ_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgJ",
		// the older form, of 56 hexadecimal digits
		"default:development.aabbccddeeff00112233445566778899aabbccddeeff001122334455",
	} {
		if secret, ok := clienttokentable.ParseSecret(text); ok || secret != (clienttokentable.Secret{}) {
			t.Errorf("%q is a client token", text)
		}
	}
	for _, text := range []string{
		"",
		"v2_AQEBAQEBAQEBAQEBAQEBAQ",
		"AQEBAQEBAQEBAQEBAQEBAR",
		"*:*.v2_AQEBAQEBAQEBAQEBAQEBAQ",
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBA",
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBAR",
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBAQ_",
	} {
		if selector, ok := clienttokentable.ParseID(text); ok {
			t.Errorf("%q has the selector %s", text, selector)
		}
	}
}

// A token verifies its whole text, not only the random part.
func TestVerifies(t *testing.T) {
	t.Parallel()
	one, secret := newToken(t, "shop")
	several, secretOfSeveral := newToken(t, "shop", "blog")
	all, secretOfAll := newToken(t)
	assert.Equal(t, []bool{true, true, true},
		[]bool{one.Verifies(secret), several.Verifies(secretOfSeveral), all.Verifies(secretOfAll)})
	for _, text := range []string{
		"blog:production." + body,
		"*:production." + body,
		"[]:production." + body,
		"shop:development." + body,
		"shop:Production." + body,
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBAg_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI",
		"shop:production.v2_AQEBAQEBAQEBAQEBAQEBAQ_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgM",
	} {
		assert.Equal(t, false, one.Verifies(parse(t, text)))
	}
	assert.Equal(t, false, clienttokentable.Token{}.Verifies(secret))
	assert.Equal(t, false, clienttokentable.Token{}.Verifies(clienttokentable.Secret{}))
}

// A secret of another installation stands for itself alone, whatever its text seems to name.
func TestImported(t *testing.T) {
	t.Parallel()
	const text = "shop:production.aabbccddeeff00112233445566778899"
	secret, ok := clienttokentable.ParseCredential(text)
	assert.Equal(t, []any{true, true, "production", ""}, []any{ok, secret.Imported, secret.Environment, secret.Reveal()})
	token := clienttokentable.Import(clienttokentable.Token{Name: "shop", Environment: "staging"}, secret)
	assert.Equal(t, "*:staging.****", token.Listed())
	selector, ok := clienttokentable.ParseID(token.ID())
	assert.Equal(t, []any{secret.Selector, true}, []any{selector, ok})
	for other, want := range map[string]bool{
		text: true, text + "0": false, "shop:staging.aabbccddeeff00112233445566778899": false,
	} {
		s, ok := clienttokentable.ParseCredential(other)
		assert.Equal(t, []bool{true, want}, []bool{ok, token.Verifies(s)})
	}
	own, ownSecret := newToken(t, "shop")
	own.Selector, own.Verifier = token.Selector, token.Verifier
	assert.Equal(t, []bool{false, false}, []bool{own.Verifies(secret), token.Verifies(ownSecret)})
}

func TestParseImported(t *testing.T) {
	t.Parallel()
	for text, environment := range map[string]string{
		strings.Repeat("a", 24):                          "",
		strings.Repeat("~", 512):                         "",
		"*:development." + strings.Repeat("0", 56):       "development",
		"[]:production.eu." + strings.Repeat("0", 56):    "production.eu",
		"production." + strings.Repeat("0", 56):          "",
		"shop:pro/duction." + strings.Repeat("0", 56):    "",
		"eyJhbGciOiJIUzI1NiJ9." + strings.Repeat("0", 9): "",
	} {
		secret, ok := clienttokentable.ParseImported(text)
		assert.Equal(t, []any{true, environment}, []any{ok, secret.Environment})
		if strings.HasPrefix(secret.Selector.String(), "-") {
			t.Errorf("the id of %q starts with a hyphen", text)
		}
	}
	for _, text := range []string{
		strings.Repeat("a", 23), strings.Repeat("a", 513), strings.Repeat("a", 23) + " ", strings.Repeat("a", 23) + "é",
		strings.Repeat("a", 23) + "\x7f", "user:" + strings.Repeat("a", 30), "*:*." + strings.Repeat("a", 30), "shop:production." + body,
		body, "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
	} {
		if _, ok := clienttokentable.ParseImported(text); ok {
			t.Errorf("%q can be imported", text)
		}
	}
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	for want, projects := range map[string][]string{
		"shop true, blog true": nil, "shop true, blog false": {"shop", "news"}, "shop false, blog true": {"blog"},
	} {
		token := clienttokentable.Token{Projects: projects}
		assert.Equal(t, want, fmt.Sprintf("shop %t, blog %t", token.Includes("shop"), token.Includes("blog")))
	}
}

func TestExpired(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for expires, want := range map[*time.Time]bool{nil: false, new(now.Add(1)): false, &now: true, new(now.Add(-1)): true} {
		assert.Equal(t, want, clienttokentable.Token{ExpiresAt: expires}.Expired(now))
		assert.Equal(t, want, clienttokentable.Token{ValidUntil: expires}.Expired(now))
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	_, secret := newToken(t)
	holder := struct{ Secret clienttokentable.Secret }{secret}
	encoded, err := json.Marshal(holder)
	assert.OK(t, err)
	shown := bytes.NewBuffer(encoded)
	slog.New(slog.NewJSONHandler(shown, nil)).Info("m", slog.Any("secret", secret), slog.Any("holder", holder))
	for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %d") {
		fmt.Fprintf(shown, verb+verb+verb, secret, &secret, holder)
	}
	for _, leak := range []string{random[:10], "2 2 2", "020202", "2,2,2", "0x2, 0x2"} {
		if strings.Contains(shown.String(), leak) {
			t.Errorf("%q is shown: %s", leak, shown)
		}
	}
}

// A token that is read is the one that was written. Items with a # in their key are no tokens.
func TestItems(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	name := db.Tables[clienttokentable.Table]
	token, _ := newToken(t, "shop", "blog")
	token.Type = clienttokentable.Frontend
	token.CreatedAt = time.Date(2026, 11, 27, 1, 2, 3, 4_000_000, time.UTC)
	token.ExpiresAt, token.SeenAt = new(token.CreatedAt.AddDate(1, 0, 0)), new(token.CreatedAt.Add(time.Hour))
	token.Imported = true
	token.ValidUntil, token.Other, token.LastEvent = new(token.CreatedAt.Add(2*time.Hour)), access.Selector{8}, 7
	db.Put(t, name, clienttokentable.Marshal(token))
	db.Put(t, name, dynamo.Item{clienttokentable.Hash: dynamo.S(dynamo.VersionKey)})
	all, err := clienttokentable.Scan(t.Context(), db.Client, name)
	assert.OK(t, err)
	assert.Equal(t, []clienttokentable.Token{token}, all)
	got, ok, err := clienttokentable.Get(t.Context(), db.Client, name, token.Selector)
	assert.OK(t, err)
	assert.Equal(t, []any{token, true}, []any{got, ok})
	_, ok, err = clienttokentable.Get(t.Context(), db.Client, name, access.Selector{})
	assert.OK(t, err)
	assert.Equal(t, false, ok)
}

func FuzzParseSecret(f *testing.F) {
	for _, seed := range []string{"", "*:production." + body, "[]:production." + body, "*:*." + body, "user:" + body,
		"shop:production.v2_" + selector} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		secret, ok := clienttokentable.ParseSecret(text)
		if !ok {
			return
		}
		if secret.Reveal() != text {
			t.Fatalf("%q is revealed as %q", text, secret.Reveal())
		}
		if _, err := access.ParseToken(text); err == nil {
			t.Fatalf("%q is a token of another kind", text)
		}
	})
}
