package contract_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSection1_ValidationMessages: "A 400 message names every offending property by its place and says what was expected and what was
// sent. Places are /body/…, /params/…."
func TestSection1_ValidationMessages(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	viewer := s.viewer(t)
	lifetime := func(body string) call { return putLifetime("release", body).as(admin) }
	feedback := func(body string) call { return putFeedback("x", body).as(viewer) }
	account := s.serviceAccount(t)
	create := func(body string) call { return postToken(account, body).as(admin) }
	for _, tt := range []struct {
		name  string
		call  call
		parts []string // of the message
	}{
		{"the contract's example", lifetime(`{"lifetimeDays":"abc"}`), []string{"The `/body/lifetimeDays` property must be an integer or null; you sent \"abc\"."}},
		{"below the minimum", lifetime(`{"lifetimeDays":-1}`), []string{"`/body/lifetimeDays`", "at least 0", "-1"}},
		{"above the maximum", lifetime(`{"lifetimeDays":2147483648}`), []string{"`/body/lifetimeDays`", "at most 2147483647", "2147483648"}},
		{"not there", lifetime(`{}`), []string{"`/body/lifetimeDays`", "required", "did not send"}},
		{"a number as it was sent", lifetime(`{"lifetimeDays":1e400}`), []string{"`/body/lifetimeDays`", "1e400"}},
		{"a fraction", lifetime(`{"lifetimeDays":1.5}`), []string{"`/body/lifetimeDays`", "an integer", "1.5"}},
		{"an object in place of a number", lifetime(`{"lifetimeDays":{"a":1}}`), []string{"`/body/lifetimeDays`", `{"a":1}`}},
		{"a boolean", feedback(`{"neverShow":"yes"}`), []string{"`/body/neverShow`", "a boolean", `"yes"`}},
		{"a boolean that may not be null", feedback(`{"neverShow":null}`), []string{"`/body/neverShow`", "a boolean", "null"}},
		{"a user that may not be null", feedback(`{"userId":null}`), []string{"`/body/userId`", "an integer", "null"}},
		{"a date-time", feedback(`{"given":"yesterday"}`), []string{"`/body/given`", "date-time", `"yesterday"`}},
		{"another's id", feedback(`{"userId":1}`), []string{"`/body/userId`", "your own id", "1"}},
		{"three at once", feedback(`{"neverShow":1,"given":"x","userId":"y"}`), []string{"`/body/neverShow`", "1.", "`/body/given`", `"x"`, "`/body/userId`", `"y"`}},
		{"two not there", create(`{}`), []string{"`/body/description`", "`/body/expiresAt`"}},
		{"one not there and one wrong", create(`{"expiresAt":7}`), []string{"`/body/description`", "`/body/expiresAt`", "7"}},
		{"a description too long", create(fmt.Sprintf(`{"description":%q,"expiresAt":"2199-01-01T00:00:00Z"}`, strings.Repeat("x", 256))), []string{"`/body/description`", "at most 255 characters"}},
		{"only white space", create(`{"description":" \t ","expiresAt":"2199-01-01T00:00:00Z"}`), []string{"`/body/description`", "white space", `" \t "`}},
		{"in the past", create(`{"description":"x","expiresAt":"2001-01-01T00:00:00Z"}`), []string{"`/body/expiresAt`", "in the future", `"2001-01-01T00:00:00Z"`}},
		{
			"in the past, and white space", create(`{"description":" ","expiresAt":"2001-01-01T00:00:00Z"}`),
			[]string{"`/body/description`", "white space", "`/body/expiresAt`", "in the future", `"2001-01-01T00:00:00Z"`},
		},
		{"another's id, and no boolean", feedback(`{"neverShow":7,"userId":1}`), []string{"`/body/neverShow`", "7.", "`/body/userId`", "your own id"}},
		{"a path parameter", get(trafficPath("2026-13")).as(admin), []string{"`/params/period`", "2026-11", `"2026-13"`}},
		{"a path parameter and the body", putFeedback("%ff", `{"neverShow":1}`).as(viewer), []string{"`/params/id`", "%ff", "`/body/neverShow`"}},
		{"a path parameter and broken JSON", putFeedback("%ff", `{`).as(viewer), []string{"`/params/id`", "`/body`"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			message := s.send(t, tt.call).wantError(t, 400).Message
			for _, part := range tt.parts {
				if !strings.Contains(message, part) {
					t.Errorf("the message %q lacks %q", message, part)
				}
			}
		})
	}
}

// TestSection1_LongValuesAreCut: "Values (and ids in 404 texts) longer than 100 characters are cut." A value of 100 characters is not.
func TestSection1_LongValuesAreCut(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	account := s.serviceAccount(t)
	for _, tt := range []struct {
		name   string
		json   bool // the value is shown as JSON
		status int
		call   func(value string) call
	}{
		{"a string", true, 400, func(v string) call { return putLifetime("release", `{"lifetimeDays":"`+v+`"}`).as(admin) }},
		{"a date-time", true, 400, func(v string) call { return putFeedback("x", `{"given":"`+v+`"}`).as(admin) }},
		{"in an array", true, 400, func(v string) call {
			return putLifetime("release", `{"lifetimeDays":["`+v[:len(v)-len("éé")]+`"]}`).as(admin)
		}},
		{"a time of expiry", true, 400, func(v string) call {
			return postToken(account, `{"description":7,"expiresAt":"`+v+`"}`).as(admin)
		}},
		{"a month", false, 400, func(v string) call { return get(trafficPath(escape(v))).as(admin) }},
		{"a type's id", false, 404, func(v string) call { return putLifetime(escape(v), `{"lifetimeDays":1}`).as(admin) }},
		{"a service account's id", false, 404, func(v string) call {
			return call{method: "POST", target: tokenPath(escape(v)), body: newToken(), token: admin}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{100, 101, 200} {
				value := strings.Repeat("é", n) // characters, not bytes
				if tt.json && n == 100 {
					value = value[len("éé"):] // its quotes count
				}
				message := s.send(t, tt.call(value)).wantError(t, tt.status).Message
				got := strings.Count(message, "é")
				if n == 100 && (got < 96 || strings.Contains(message, "…")) {
					t.Errorf("%d characters are cut: %s", n, message)
				}
				if n > 100 && got > 100 {
					t.Errorf("%d of %d characters are shown", got, n)
				}
				if n == 200 && (got < 90 || !strings.Contains(message, "…")) {
					t.Errorf("of %d characters %d are shown: %s", n, got, message)
				}
			}
		})
	}
	t.Run("a name", func(t *testing.T) {
		t.Parallel()
		name := strings.Repeat("n", 150)
		message := s.send(t, putFeedback("x", `{"`+name+`":1,"`+name+`":2}`).as(admin)).wantError(t, 400).Message
		if !strings.Contains(message, "`/body/nnn") || strings.Count(message, "n") > 120 {
			t.Errorf("message %q", message)
		}
	})
	t.Run("a number", func(t *testing.T) {
		t.Parallel()
		message := s.send(t, putLifetime("release", `{"lifetimeDays":`+strings.Repeat("9", 150)+`}`).as(admin)).wantError(t, 400).Message
		if n := strings.Count(message, "9"); n > 100 || n < 90 {
			t.Errorf("message %q", message)
		}
	})
}

// TestSection1_NoCredentialIsEchoed: "a value that has the shape of a credential is never echoed, in any error."
func TestSection1_NoCredentialIsEchoed(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	account := s.serviceAccount(t)
	jwt := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl"
	for name, secret := range map[string]string{"an API token": s.apiToken(t), "a PAT": s.viewer(t), "a JWT": jwt} {
		encoded := everyByte(secret)
		for place, c := range map[string]call{
			"a number":                   putLifetime("release", `{"lifetimeDays":"`+secret+`"}`),
			"a user's id":                putFeedback("x", `{"userId":"`+secret+`"}`),
			"a boolean":                  putFeedback("x", `{"neverShow":"Bearer `+secret+`"}`),
			"a time":                     putFeedback("x", `{"given":"`+secret+`"}`),
			"a time of expiry":           postToken(account, `{"description":"x","expiresAt":"`+secret+`"}`),
			"a long description":         postToken(account, `{"description":"`+strings.Repeat("x", 256-len(secret)/2)+secret+`","expiresAt":"2199-01-01T00:00:00Z"}`),
			"behind 90 characters":       putLifetime("release", `{"lifetimeDays":"`+strings.Repeat("x", 90)+secret+`"}`),
			"an array":                   putLifetime("release", `{"lifetimeDays":[1,"`+secret+`"]}`),
			"an object's value":          putLifetime("release", `{"lifetimeDays":{"a":"`+secret+`"}}`),
			"an object's name":           putLifetime("release", `{"lifetimeDays":{"`+secret+`":1}}`),
			"a name that is there twice": putFeedback("x", `{"`+secret+`":1,"`+secret+`":2}`),
			"a place":                    putFeedback("x", `{"`+secret+`":{"a":1,"a":2}}`),
			"escapes":                    putLifetime("release", `{"lifetimeDays":"`+strings.ReplaceAll(secret, "_", `\u005f`)+`"}`),
			"the whole body":             putLifetime("release", `"`+secret+`"`),
			"a body that is no JSON":     putLifetime("release", secret),
			"a type's id":                putLifetime(escape(secret), `{"lifetimeDays":1}`),
			"a type's id, encoded":       putLifetime(encoded, `{"lifetimeDays":1}`),
			"a type's id that is no id":  putLifetime(encoded+"%ff", `{"lifetimeDays":1}`),
			"an account's id":            {method: "POST", target: tokenPath(escape(secret)), body: newToken()},
			"an account's id, encoded":   {method: "POST", target: tokenPath(encoded + "%ff"), body: newToken()},
			"a month":                    get(trafficPath(escape(secret))),
			"a month, encoded":           get(trafficPath(encoded)),
			"a month that is not UTF-8":  get(trafficPath(encoded + "%ff")),
			"a feedback's id":            putFeedback(escape(secret)+"%ff", `{}`),
			"a feedback's id, encoded":   putFeedback(encoded+"%ff", `{}`),
			"a token's id":               deleteToken(escape(secret)),
			"a path":                     get("/api/admin/" + escape(secret)),
			"a query":                    get("/nowhere?token=" + secret),
			"the credential itself":      get(typesPath + "/x").as(secret),
		} {
			t.Run(name+" as "+place, func(t *testing.T) {
				t.Parallel()
				if c.token == "" {
					c.token = admin
				}
				a := s.send(t, c) // which looks for credentials
				if a.status < 400 {
					t.Fatalf("%s: %d", c.target, a.status)
				}
				middle := secret[len(secret)/3 : 2*len(secret)/3]
				for _, shown := range []string{middle, encoded[len(encoded)/3 : 2*len(encoded)/3]} {
					if strings.Contains(a.body, shown) {
						t.Errorf("a third of the secret is shown: %s", a.body)
					}
				}
			})
		}
	}
}

// everyByte percent-encodes all of a text.
func everyByte(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02X", text[i])
	}
	return b.String()
}
