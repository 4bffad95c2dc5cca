package oidc_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
)

// The tests in this file are the sentences about tokens in contract section 3.

// sign returns a token that is signed with ES256. Its header and claims are those of a valid token, with these members
// in place of those of the same names. A text that begins with "no" only leaves members out; one that begins with "="
// replaces the whole object.
func (f *fixture) sign(tb testing.TB, header, claims string) string {
	tb.Helper()
	claims = strings.ReplaceAll(claims, "$ISSUER", strings.TrimPrefix(f.URL, "https://"))
	return issuer.KeyFor("ES256").SignText(override(tb, map[string]any{"alg": "ES256", "kid": "ES256"}, header),
		override(tb, f.Claims(begin, nil), claims))
}

func override(tb testing.TB, members map[string]any, text string) string {
	tb.Helper()
	if verbatim, ok := strings.CutPrefix(text, "="); ok {
		return verbatim
	}
	maps.DeleteFunc(members, func(name string, _ any) bool { return strings.Contains(text, strconv.Quote(name)+":") })
	if text == "" || strings.HasPrefix(text, "no ") {
		return encode(tb, members)
	}
	return strings.TrimSuffix(encode(tb, members), "}") + "," + text + "}"
}

// TestTokens changes members of a valid token. It is 1800000000 seconds since 1970.
func TestTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	padding := strings.Repeat("x", (8192-len(f.sign(t, "", `"padding":""`)))*3/4)
	rows := []struct{ header, claims, want string }{
		{"", "", ""},

		{"", `"padding":"` + padding + `"`, ""},
		{"", `"padding":"` + padding + `xx"`, "length"},

		// algorithms: a fixed list, and keys for the algorithm
		{`"alg":"none"`, "", "algorithm"},
		{`"alg":"None"`, "", "algorithm"},
		{`"alg":""`, "", "algorithm"},
		{`no "alg":`, "", "algorithm"},
		{`"alg":"HS256"`, "", "algorithm"},
		{`"alg":"es256"`, "", "algorithm"},
		{`"alg":"RS384"`, "", "algorithm"},
		{`"alg":"RS512"`, "", "algorithm"},
		{`"alg":"PS384"`, "", "algorithm"},
		{`"alg":"ES384"`, "", "algorithm"},
		{`"alg":"ES256K"`, "", "algorithm"},
		{`"alg":"Ed25519"`, "", "algorithm"},
		{`"alg":"RSA-OAEP"`, "", "algorithm"},
		{`"alg":["ES256"]`, "", "malformed"},
		{`"alg":"RS256"`, "", "unknown key"},
		{`"alg":"EdDSA"`, "", "unknown key"},
		{`"kid":7`, "", "malformed"},

		// crit and b64
		{`"crit":["exp"]`, "", "critical header"},
		{`"crit":["b64"],"b64":false`, "", "critical header"},
		{`"crit":[]`, "", "critical header"},
		{`"crit":null`, "", "critical header"},
		{`"crit":"x"`, "", "critical header"},
		{`"b64":false`, "", "critical header"},
		{`"b64":true`, "", "critical header"},

		// other kinds of tokens: header
		{`"typ":"jwt"`, "", ""},
		{`"typ":"JWT"`, "", ""},
		{`"typ":"application/jwt"`, "", ""},
		{`"typ":"at+jwt"`, "", "type"},
		{`"typ":"application/at+JWT"`, "", "type"},
		{`"typ":"logout+jwt"`, "", "type"},
		{`"typ":7`, "", "malformed"},

		// other kinds of tokens: claims
		{"", `"typ":"ID"`, ""},
		{"", `"typ":"Bearer"`, "type"},
		{"", `"typ":"Refresh"`, "type"},
		{"", `"typ":"id"`, "type"},
		{"", `"typ":""`, "type"},
		{"", `"typ":null`, "type"},
		{"", `"typ":["ID"]`, "type"},
		{"", `"events":null`, "type"},
		{"", `"events":{"http://schemas.openid.net/event/backchannel-logout":{}}`, "type"},

		{"", `no "iss":`, "issuer"},
		{"", `"iss":""`, "issuer"},
		{"", `"iss":"https://$ISSUER/"`, "issuer"},
		{"", `"iss":"HTTPS://$ISSUER"`, "issuer"},
		{"", `"iss":"$ISSUER"`, "issuer"},
		{"", `"iss":["https://$ISSUER"]`, "issuer"},
		{"", `"iss":"https://attacker.example"`, "issuer"},
		{"", `"ISS":"https://$ISSUER","iss":""`, "issuer"},

		{"", `no "aud":`, "audience"},
		{"", `"aud":""`, "audience"},
		{"", `"aud":"other"`, "audience"},
		{"", `"aud":"Toggle-Console"`, "audience"},
		{"", `"aud":"toggle-console "`, "audience"},
		{"", `"aud":7`, "audience"},
		{"", `"aud":[]`, "audience"},
		{"", `"aud":["other"]`, "audience"},
		{"", `"aud":[7,"toggle-console"]`, "audience"},
		{"", `"aud":[["toggle-console"]]`, "audience"},
		{"", `"aud":{"toggle-console":true}`, "audience"},

		// the authorized party: another client, and one of several audiences
		{"", `"azp":"toggle-console"`, ""},
		{"", `"aud":["toggle-console"],"azp":"toggle-console"`, ""},
		{"", `"aud":["other","toggle-console"],"azp":"toggle-console"`, ""},
		{"", `"aud":["other","toggle-console"]`, "audience"},
		{"", `"aud":["toggle-console","toggle-console"]`, "audience"},
		{"", `"aud":["other","toggle-console"],"azp":"other"`, "audience"},
		{"", `"azp":""`, "audience"},
		{"", `"azp":"other"`, "audience"},
		{"", `"azp":7`, "audience"},
		{"", `"azp":["toggle-console"]`, "audience"},
		{"", `"azp":null`, "audience"},

		// times, with a leeway of 60 seconds
		{"", `"exp":1799999941`, ""},
		{"", `"exp":1799999940.5`, ""},
		{"", `"exp":1799999940`, "expired"},
		{"", `"exp":0`, "expired"},
		{"", `"exp":4e9`, ""},
		{"", `"nbf":0,"iat":0`, ""},
		{"", `"nbf":1800000060,"iat":1800000060`, ""},
		{"", `no "iat":`, ""},
		{"", `"nbf":1800000061`, "not yet valid"},
		{"", `"iat":1800000061`, "not yet valid"},
		{"", `"nbf":1800000060.5`, "not yet valid"},
		{"", `"iat":2800000000`, "not yet valid"},
		{"", `no "exp":`, "malformed"},
		{"", `"exp":"4000000000"`, "malformed"},
		{"", `"exp":null`, "malformed"},
		{"", `"exp":[4000000000]`, "malformed"},
		{"", `"exp":1e400`, "malformed"},
		{"", `"exp":253402300800`, "malformed"},
		{"", `"exp":-1`, "malformed"},
		{"", `"exp":NaN`, "malformed"},
		{"", `"exp":0x7fffffff`, "malformed"},
		{"", `"nbf":"0"`, "malformed"},
		{"", `"iat":true`, "malformed"},

		{"", `"sub":" "`, ""},
		{"", `"sub":"` + strings.Repeat("😀", 255) + `"`, ""},
		{"", `"sub":"` + strings.Repeat("😀", 255) + `6"`, "subject"},
		{"", `no "sub":`, "subject"},
		{"", `"sub":""`, "subject"},
		{"", `"sub":7`, "subject"},
		{"", `"sub":["a"]`, "subject"},
		{"", `"sub":"a\u0000"`, "subject"},
		{"", `"sub":"a\nb"`, "subject"},
		{"", `"sub":"a\u0085"`, "subject"},

		// strict JSON
		{`="alg"`, "", "malformed"},
		{`={"alg":"none","alg":"ES256","kid":"ES256"}`, "", "malformed"},
		{`"x":1,"x":1`, "", "malformed"},
		{`={"alg":"ES256","kid":"ES256"}{"alg":"ES256","kid":"ES256"}`, "", "malformed"},
		{"", `"sub":"admin","sub":"a"`, "malformed"},
		{"", `"\u0073ub":"admin","sub":"a"`, "malformed"},
		{"", `"x":1,"x":1`, "malformed"},
		{"", `"x":{"y":[{"z":1,"z":1}]}`, "malformed"},
		{"", "\"x\":\"\xff\"", "malformed"},
		{"", `"x":"\ud800"`, "malformed"},
		{"", "=null", "malformed"},
		{"", `=[{"sub":"a"}]`, "malformed"},
		{"", "={}{}", "malformed"},
		{"", "=", "malformed"},
		// a name in another letter case is another member
		{"", `"SUB":"admin","Email":"admin@example.com"`, ""},
	}
	for _, canBeValid := range []bool{false, true} { // only a token that can be valid fetches the keys
		for _, test := range rows {
			if (test.want == "" || test.want == string(oidc.UnknownKey)) != canBeValid {
				continue
			}
			if got := f.reason(t, f.sign(t, test.header, test.claims)); string(got) != test.want {
				t.Errorf("%+v: %q", test, got)
			}
		}
		assert.Equal(t, map[bool]string{false: "0 0", true: "1 1"}[canBeValid], f.fetches())
	}
	assert.Equal(t, "", f.log.String())
}

func TestClaims(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, test := range []struct {
		claims   string
		email    string
		verified bool
		name     string
	}{
		{"", "ada@example.com", true, "Ada Lovelace"},
		{`"email_verified":false`, "ada@example.com", false, "Ada Lovelace"},
		{`no "email_verified":`, "ada@example.com", false, "Ada Lovelace"},
		{`"email_verified":"true"`, "ada@example.com", false, "Ada Lovelace"},
		{`"email_verified":1`, "ada@example.com", false, "Ada Lovelace"},
		{`no "email": "name":`, "", false, ""},
		{`"name":null,"preferred_username":"ada"`, "ada@example.com", true, "ada"},
		{`"preferred_username":"ada"`, "ada@example.com", true, "Ada Lovelace"},
		{`"email":["ada@example.com"],"name":7`, "", false, ""},
		{`"email":" a@b.c","name":" \t"`, "", false, ""},
		{`"email":"a@b.c\u00a0","name":" Ada "`, "", false, "Ada"},
		{
			claims:   `"email":"` + strings.Repeat("ä", 255) + `","name":"` + strings.Repeat("ä", 255) + `"`,
			email:    strings.Repeat("ä", 255),
			verified: true,
			name:     strings.Repeat("ä", 255),
		},
		{`"email":"` + strings.Repeat("ä", 255) + `a","name":"` + strings.Repeat("ä", 255) + `a"`, "", false, ""},
		{`"email":"a@b.c\u001b[2J","name":"Ada\nroot"`, "", false, ""},
	} {
		got, err := verify(t.Context(), f.verifier, f.sign(t, "", test.claims))
		assert.OK(t, err)
		assert.Equal(t, []any{test.email, test.verified, test.name}, []any{got.Email, got.EmailVerified, got.Name})
		assert.Equal(t, []string{f.URL, "248289761001"}, []string{got.Issuer, got.Subject})
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for claims, want := range map[string][]string{
		``:                       nil,
		`"groups":["a","B"]`:     {"a", "B"},
		`"groups":"a b"`:         {"a b"},
		`"groups":[]`:            {},
		`"groups":["a",7]`:       nil,
		`"groups":{"a":true}`:    nil,
		`"cognito:groups":["a"]`: nil,
	} {
		got, err := verify(t.Context(), f.verifier, f.sign(t, "", claims))
		assert.OK(t, err)
		assert.Equal(t, want, got.Groups)
	}
}

func TestIssuedAt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, test := range []struct {
		issued any
		want   time.Time
	}{{begin.Unix() - 60, begin.Add(-time.Minute)}, {nil, begin}} {
		token := issuer.KeyFor("ES256").Sign(nil, f.Claims(begin, map[string]any{"iat": test.issued}))
		got, err := verify(t.Context(), f.verifier, token)
		assert.OK(t, err)
		assert.Equal(t, test.want.Unix(), got.IssuedAt.Unix())
	}
}

func TestIsJWT(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		token string
		want  bool
	}{
		{"eyJhbGciOiJub25lIn0.e30.c2ln", true},
		{"eyJhbGciOiJub25lIn0..", true},
		// {"a":1,"a":2}
		{"eyJhIjoxLCJhIjoyfQ.e30.", true},
		// {} with white space
		{"IHt9Cg.e30.", true},
		{"", false},
		{"..", false},
		{"eyJhbGciOiJub25lIn0.e30", false},
		{"eyJhbGciOiJub25lIn0.e30.c2ln.c2ln", false},
		{"eyJhbGciOiJub25lIn0.e30.===", false},
		{"eyJhbGciOiJub25lIn0.e30.c2ln\n", false},
		// []
		{"W10.e30.c2ln", false},
		// {
		{"ew.e30.c2ln", false},
		{"user:v2_AAAAAAAAAAAAAAAAAAAAAA_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false},
	} {
		if got := oidc.IsJWT(test.token); got != test.want {
			t.Errorf("%q is a JWT: %t", test.token, got)
		}
	}
}

func TestSignatureMustVerify(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, algorithm := range issuer.Algorithms() {
		token := f.token(issuer.KeyFor(algorithm))
		f.expect(t, token, "")
		f.expect(t, f.token(issuer.NewKey(algorithm, algorithm)), oidc.Signature) // another key with the same ID
		parts := strings.Split(token, ".")
		f.expect(t, parts[0]+"."+parts[1]+".", oidc.Signature)
		f.expect(t, parts[0]+"."+parts[1]+".AAAA"+parts[2][4:], oidc.Signature)
		f.expect(t, parts[0]+"."+strings.Split(f.sign(t, "", `"sub":"admin"`), ".")[1]+"."+parts[2], oidc.Signature)
	}
	assert.Equal(t, "1 1", f.fetches())
}

func TestKeyMaterialInTheTokenIsIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	attacker := issuer.New(t)
	forger := issuer.NewKey("RS256", "RS256")
	attacker.Publish(forger.JWK())
	certificate, err := x509.CreateCertificate(nil, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{},
		forger.Private.Public(), forger.Private)
	assert.OK(t, err)
	for name, value := range map[string]any{
		"jwk": forger.JWK(), "jku": attacker.URL + issuer.KeysPath, "x5u": attacker.URL + issuer.KeysPath,
		"x5c": []string{base64.StdEncoding.EncodeToString(certificate)},
	} {
		f.expect(t, forger.Sign(map[string]any{name: value}, f.Claims(begin, nil)), oidc.Signature)
		f.expect(t, issuer.KeyFor("RS256").Sign(map[string]any{name: value}, f.Claims(begin, nil)), "")
	}
	if attacker.Fetches(issuer.KeysPath) > 0 {
		t.Error("the URL in the token is fetched")
	}
	assert.Equal(t, "1 1", f.fetches())
}

func TestForm(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(issuer.KeyFor("EdDSA"))
	parts := strings.Split(token, ".")
	for _, form := range []string{
		`{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`,
		`{"payload":"` + parts[1] + `","signatures":[{"protected":"` + parts[0] + `","signature":"` + parts[2] + `"}]}`,
		"",
		parts[0] + "." + parts[1],
		parts[0] + "." + parts[1] + "." + parts[2] + "." + parts[2],
		parts[0] + "." + parts[1] + "." + parts[2] + ".a.b",
		" " + parts[0] + "." + parts[1] + "." + parts[2],
		parts[0] + "." + parts[1] + "." + parts[2] + " ",
		parts[0] + "\n." + parts[1] + "." + parts[2],
		"\r\n" + parts[0] + "." + parts[1] + "." + parts[2],
		parts[0] + "." + parts[1] + "." + parts[2] + "==",
		parts[0] + "." + parts[1] + "./+8",
		parts[0] + ".." + parts[2],
	} {
		f.expect(t, form, oidc.Malformed)
	}
	f.expect(t, token[:len(token)-1]+string(token[len(token)-1]+1), oidc.Malformed) // surplus bits
	assert.Equal(t, "0 0", f.fetches())
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	assert.OK(tb, err)
	return string(b)
}
