package oidc_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/issuer"
)

// The tests in this file are the sentences about tokens in contract section 3. Every token is wrong in one way only.

func TestClaims(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := strings.Repeat("ä", 255)
	for _, tt := range []struct {
		name                  string
		changes               map[string]any
		wantEmail, wantedName string
	}{
		{"verified", nil, "ada@example.com", "Ada Lovelace"},
		{"not verified", map[string]any{"email_verified": false}, "ada@example.com", "Ada Lovelace"},
		{"verified is missing", map[string]any{"email_verified": nil}, "ada@example.com", "Ada Lovelace"},
		{"verified is a string", map[string]any{"email_verified": "true"}, "ada@example.com", "Ada Lovelace"},
		{"verified is a number", map[string]any{"email_verified": 1}, "ada@example.com", "Ada Lovelace"},
		{"without e-mail and name", map[string]any{"email": nil, "name": nil}, "", ""},
		{"another name", map[string]any{"name": nil, "preferred_username": "ada"}, "ada@example.com", "ada"},
		{"two names", map[string]any{"preferred_username": "ada"}, "ada@example.com", "Ada Lovelace"},
		{"other types", map[string]any{"email": []string{"ada@example.com"}, "name": 7}, "", ""},
		{"white space", map[string]any{"email": " a@b.c", "name": " \t"}, "", ""},
		{"no-break space", map[string]any{"email": "a@b.c\u00a0", "name": " Ada "}, "", "Ada"},
		{"longest", map[string]any{"email": long, "name": long}, long, long},
		{"too long", map[string]any{"email": long + "a", "name": long + "a"}, "", ""},
		{"control characters", map[string]any{"email": "a@b.c\x1b[2J", "name": "Ada\nroot"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := f.verifier.Verify(t.Context(), f.Token(begin, tt.changes))
			_, changed := tt.changes["email_verified"]
			want := oidc.Claims{
				Issuer: f.URL, Subject: "248289761001", Email: tt.wantEmail, EmailVerified: tt.wantEmail != "" && !changed,
				Name: tt.wantedName,
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("error %v, claims (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestIsJWT(t *testing.T) {
	t.Parallel()
	object := issuer.Encode([]byte(`{"alg":"none"}`))
	for value, want := range map[string]bool{
		object + ".e30.c2ln": true, object + "..": true, issuer.Encode([]byte(`{"a":1,"a":2}`)) + ".e30.": true,
		issuer.Encode([]byte(" {}\n")) + ".e30.": true,
		"":                                       false, "..": false, object + ".e30": false,
		object + ".e30.c2ln.c2ln": false, object + ".e30.===": false,
		object + ".e30.c2ln\n":                    false,
		issuer.Encode([]byte("[]")) + ".e30.c2ln": false, issuer.Encode([]byte("{")) + ".e30.c2ln": false,
		"user:v2_AAAAAAAAAAAAAAAAAAAAAA_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": false,
	} {
		if got := oidc.IsJWT(value); got != want {
			t.Errorf("%q is a JWT: %t", value, got)
		}
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.Token(begin, map[string]any{"padding": ""})
	padding := strings.Repeat("x", (8192-len(token))*3/4)
	token = f.Token(begin, map[string]any{"padding": padding})
	if len(token) != 8192 && len(token) != 8191 {
		t.Fatalf("%d bytes", len(token))
	}
	f.expect(t, token, "")
	f.expect(t, f.Token(begin, map[string]any{"padding": padding + "xx"}), oidc.TooLong)
}

func TestSignatureMustVerify(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, algorithm := range issuer.Algorithms() {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			token := f.token(issuer.KeyFor(algorithm))
			f.expect(t, token, "")
			f.expect(t, f.token(issuer.NewKey(algorithm, algorithm)), oidc.Signature) // another key with the same ID
			signed, signature := cutLast(token)
			f.expect(t, signed+".", oidc.Signature)
			f.expect(t, signed+"."+flip(signature), oidc.Signature)
			header, _, _ := strings.Cut(signed, ".")
			claims := issuer.Encode([]byte(`{"iss":"` + f.URL + `","aud":"` + issuer.ClientID + `","exp":4e9,"sub":"admin"}`))
			f.expect(t, header+"."+claims+"."+signature, oidc.Signature)
		})
	}
}

func cutLast(token string) (before, after string) {
	i := strings.LastIndex(token, ".")
	return token[:i], token[i+1:]
}

// flip changes the first byte of a signature.
func flip(signature string) string {
	if signature[0] == 'A' {
		return "B" + signature[1:]
	}
	return "A" + signature[1:]
}

func TestAlgorithmsAreAFixedList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	key := issuer.KeyFor("RS256")
	der, err := x509.MarshalPKIXPublicKey(key.Private.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	claims := f.Claims(begin, nil)
	hs256 := map[string]any{"alg": "HS256", "kid": "RS256"}
	f.expect(t, issuer.HMAC(hs256, claims, public), oidc.Algorithm)
	f.expect(t, issuer.HMAC(hs256, claims, der), oidc.Algorithm)
	for _, algorithm := range []any{"none", "None", "", "rs256", "RS384", "RS512", "PS384", "ES384", "ES256K", "Ed25519",
		"HS256", "RSA-OAEP", nil} {
		f.expect(t, key.Sign(map[string]any{"alg": algorithm}, claims), oidc.Algorithm)
	}
	f.expect(t, key.Sign(map[string]any{"alg": []string{"RS256"}}, claims), oidc.Malformed)
	// The signature is right, but the key is published for another algorithm or has another type.
	for _, algorithm := range []string{"PS256", "ES256", "EdDSA"} {
		f.expect(t, key.Sign(map[string]any{"alg": algorithm}, claims), oidc.UnknownKey)
	}
}

func TestKeyMaterialInTheTokenIsIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	attacker := issuer.New(t)
	forger := issuer.NewKey("RS256", "RS256")
	attacker.Publish(forger.JWK())
	certificate, err := x509.CreateCertificate(nil, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{},
		forger.Private.Public(), forger.Private)
	if err != nil {
		t.Fatal(err)
	}
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
	f.expectFetches(t, 1, 1)
}

func TestUnknownCriticalHeaderIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, header := range []string{`"crit":["exp"]`, `"crit":["b64"],"b64":false`, `"crit":[]`, `"crit":null`,
		`"crit":"x"`, `"b64":false`, `"b64":true`} {
		f.expect(t, issuer.KeyFor("ES256").SignText(`{"alg":"ES256","kid":"ES256",`+header+`}`,
			encode(t, f.Claims(begin, nil))), oidc.Critical)
	}
}

func TestType(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for value, want := range map[any]oidc.Reason{
		nil: "", "JWT": "", "jwt": "", "application/jwt": "", "at+jwt": oidc.Type, "application/at+JWT": oidc.Type,
		"logout+jwt": oidc.Type, "dpop+jwt": oidc.Type,
		7: oidc.Malformed,
	} {
		f.expect(t, issuer.KeyFor("ES256").Sign(map[string]any{"typ": value}, f.Claims(begin, nil)), want)
	}
}

// TestOtherTokensOfTheIssuer checks tokens that are signed for the client but are no ID tokens. The claim is present in
// every case but the first.
func TestOtherTokensOfTheIssuer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	claims := strings.TrimSuffix(encode(t, f.Claims(begin, nil)), "}")
	for claim, want := range map[string]oidc.Reason{
		``: "", `,"typ":"ID"`: "", `,"typ":"Bearer"`: oidc.Type, `,"typ":"Refresh"`: oidc.Type, `,"typ":"id"`: oidc.Type,
		`,"typ":""`:   oidc.Type,
		`,"typ":null`: oidc.Type, `,"typ":["ID"]`: oidc.Type, `,"events":null`: oidc.Type,
		`,"events":{"http://schemas.openid.net/event/backchannel-logout":{}}`: oidc.Type,
	} {
		f.expect(t, issuer.KeyFor("ES256").SignText(`{"alg":"ES256","kid":"ES256"}`, claims+claim+"}"), want)
	}
}

func TestIssuerMustBeEqual(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, value := range []any{nil, "", f.URL + "/", strings.ToUpper(f.URL), "https://attacker.example", []string{f.URL},
		strings.TrimPrefix(f.URL, "https://")} {
		f.expect(t, f.Token(begin, map[string]any{"iss": value}), oidc.WrongIssuer)
	}
	f.expect(t, f.Token(begin, map[string]any{"iss": nil, "ISS": f.URL}), oidc.WrongIssuer)
}

func TestAudienceMustContainTheClientID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, value := range []any{
		nil, "", "other", "Toggle-Console", issuer.ClientID + " ", 7, true, []string{}, []string{"other"},
		[]any{7, issuer.ClientID}, [][]string{{issuer.ClientID}},
		map[string]any{issuer.ClientID: true},
	} {
		f.expect(t, f.Token(begin, map[string]any{"aud": value}), oidc.Audience)
	}
}

// TestAuthorizedParty checks that a token that another client has obtained is refused, and that of several audiences
// one is named.
func TestAuthorizedParty(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, audience := range []any{issuer.ClientID, []string{issuer.ClientID}, []string{"other", issuer.ClientID}} {
		f.expect(t, f.Token(begin, map[string]any{"aud": audience, "azp": issuer.ClientID}), "")
		for _, party := range []any{"", "other", 7, []string{issuer.ClientID}, json.RawMessage("null")} {
			f.expect(t, f.Token(begin, map[string]any{"aud": audience, "azp": party}), oidc.Audience)
		}
	}
	f.expect(t, f.Token(begin, map[string]any{"aud": []string{"other", issuer.ClientID}}), oidc.Audience)
	f.expect(t, f.Token(begin, map[string]any{"aud": []string{issuer.ClientID, issuer.ClientID}}), oidc.Audience)
}

// at is a number of seconds from the beginning of the test.
func at(seconds int64) int64 { return begin.Unix() + seconds }

func TestExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for value, want := range map[any]oidc.Reason{
		at(-59): "", at(-60): oidc.Expired, at(-61): oidc.Expired, at(1e9): "", 0: oidc.Expired, float64(at(0)) - 59.5: "",
		float64(at(0)) - 60.5: oidc.Expired,
	} {
		f.expect(t, f.Token(begin, map[string]any{"exp": value}), want)
	}
}

func TestNotBeforeAndIssuedAt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"nbf", "iat"} {
		for value, want := range map[any]oidc.Reason{nil: "", 0: "", at(0): "", at(60): "", at(61): oidc.NotYetValid,
			float64(at(60)) + 0.5: oidc.NotYetValid, at(1e9): oidc.NotYetValid} {
			f.expect(t, f.Token(begin, map[string]any{name: value}), want)
		}
	}
}

func TestTimesAreNumbers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	claims := encode(t, f.Claims(begin, map[string]any{"exp": nil, "iat": nil}))
	sign := func(times string) string {
		return issuer.KeyFor("ES256").SignText(`{"alg":"ES256","kid":"ES256"}`, strings.TrimSuffix(claims, "}")+times+"}")
	}
	f.expect(t, sign(`,"exp":4e9`), "")
	f.expect(t, sign(``), oidc.Malformed) // exp is missing
	for _, value := range []string{`"4000000000"`, `null`, `true`, `[4000000000]`, `1e400`, `1e300`, `253402300800`, `-1`,
		`NaN`, `Infinity`, `0x7fffffff`, `+4e9`} {
		f.expect(t, sign(`,"exp":`+value), oidc.Malformed)
		f.expect(t, sign(`,"exp":4e9,"nbf":`+value), oidc.Malformed)
		f.expect(t, sign(`,"exp":4e9,"iat":`+value), oidc.Malformed)
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, value := range []any{"a", " ", strings.Repeat("a", 255), strings.Repeat("😀", 255)} {
		f.expect(t, f.Token(begin, map[string]any{"sub": value}), "")
	}
	for _, value := range []any{nil, "", 7, []string{"a"}, strings.Repeat("a", 256), "a\x00", "a\nb", "a\x1b[2J",
		"a\u0085"} {
		f.expect(t, f.Token(begin, map[string]any{"sub": value}), oidc.Subject)
	}
}

func TestDuplicateMembersAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const header = `{"alg":"ES256","kid":"ES256"}`
	claims := encode(t, f.Claims(begin, nil))
	for name, token := range map[string][2]string{
		"alg":                {`{"alg":"none","alg":"ES256","kid":"ES256"}`, claims},
		"unused in header":   {`{"alg":"ES256","kid":"ES256","x":1,"x":1}`, claims},
		"sub":                {header, `{"sub":"admin",` + claims[1:]},
		"escaped":            {header, `{"\u0073ub":"admin",` + claims[1:]},
		"unused in claims":   {header, `{"x":1,"x":1,` + claims[1:]},
		"nested":             {header, `{"x":{"y":[{"z":1,"z":1}]},` + claims[1:]},
		"invalid UTF-8":      {header, "{\"x\":\"\xff\"," + claims[1:]},
		"lone surrogate":     {header, `{"x":"\ud800",` + claims[1:]},
		"claims are null":    {header, `null`},
		"claims are a list":  {header, `[` + claims + `]`},
		"two documents":      {header, claims + claims},
		"no claims":          {header, ``},
		"header and another": {header + header, claims},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.expect(t, issuer.KeyFor("ES256").SignText(token[0], token[1]), oidc.Malformed)
		})
	}
	// A name in another letter case is another member, also for go-oidc's last check.
	f.expect(t, issuer.KeyFor("ES256").SignText(header, `{"SUB":"admin","Email":"admin@example.com",`+claims[1:]), "")
}

func TestForm(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(issuer.KeyFor("EdDSA"))
	signed, signature := cutLast(token)
	header, payload, _ := strings.Cut(signed, ".")
	serialized := encode(t, map[string]any{"protected": header, "payload": payload, "signature": signature})
	several := encode(t,
		map[string]any{"payload": payload, "signatures": []any{map[string]any{"protected": header, "signature": signature}}})
	for name, value := range map[string]string{
		"empty": "", "JSON serialization": serialized, "several signatures": several, "two parts": signed,
		"four parts": token + "." + signature, "five parts": token + ".a.b",
		"white space before": " " + token, "white space after": token + " ", "line break": header + "\n." + payload + "." +
			signature,
		"line break in a part": token[:20] + "\r\n" + token[20:], "space in a part": token[:20] + " " + token[20:],
		"padding": token + "==", "standard alphabet": header + "." + payload + "./+8",
		"surplus bits": token[:len(token)-1] + string(token[len(token)-1]+1), "detached payload": header + ".." + signature,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.expect(t, value, oidc.Malformed)
		})
	}
}

// TestRefusedTokensFetchNothing checks that a token that cannot be valid causes no fetch.
func TestRefusedTokensFetchNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, changes := range []map[string]any{{"iss": "x"}, {"aud": "x"}, {"exp": 1}, {"iat": at(3600)}, {"sub": ""}} {
		if f.reason(t, f.Token(begin, changes)) == "" {
			t.Errorf("accepted: %v", changes)
		}
	}
	f.expectFetches(t, 0, 0)
}

// TestRefusalsContainNoTextOfTheToken checks what a refusal says and what is logged.
func TestRefusalsContainNoTextOfTheToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Respond(issuer.MetadataPath, http.NotFound)
	const marker = "injected\n{\"level\":\"ERROR\"}"
	key := issuer.KeyFor("ES256")
	for _, token := range []string{
		key.Sign(map[string]any{"alg": marker}, f.Claims(begin, nil)),
		key.Sign(map[string]any{"typ": marker}, f.Claims(begin, nil)),
		key.Sign(map[string]any{"kid": marker}, f.Claims(begin, nil)), f.Token(begin, map[string]any{"iss": marker}),
		f.Token(begin, map[string]any{"aud": marker}),
		f.Token(begin, map[string]any{"sub": marker}), f.Token(begin, map[string]any{marker: 1, "exp": 1}), marker,
	} {
		_, err := f.verifier.Verify(t.Context(), token)
		if err == nil || strings.Contains(err.Error(), "injected") {
			t.Errorf("error %v", err)
		}
	}
	if log := f.log.String(); strings.Contains(log, "injected") || strings.Count(log, "\n") != strings.Count(log,
		`"document"`) {
		t.Errorf("log %s", log)
	}
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
