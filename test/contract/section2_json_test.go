package contract_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/dynamo"
)

// TestSection2_StrictJSON: "Bodies are validated strictly, with no coercion." What is wrong names its place (section 1).
func TestSection2_StrictJSON(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	account := s.serviceAccount(t)
	nest := func(depth int, open, inner, closing string) string {
		return strings.Repeat(open, depth) + inner + strings.Repeat(closing, depth)
	}
	lifetime := func(body string) call { return putLifetime("release", body) }
	feedback := func(body string) call { return putFeedback("strict", body) }
	create := func(body string) call { return postToken(account, body) }
	const year = `,"expiresAt":"2199-01-01T00:00:00Z"`
	refused := []struct {
		name, place string
		call        call
	}{
		{`"7" is no integer`, "`/body/lifetimeDays`", lifetime(`{"lifetimeDays":"7"}`)},
		{"true is no integer", "`/body/lifetimeDays`", lifetime(`{"lifetimeDays":true}`)},
		{"an empty string is no integer", "`/body/lifetimeDays`", lifetime(`{"lifetimeDays":""}`)},
		{"an array is no integer", "`/body/lifetimeDays`", lifetime(`{"lifetimeDays":[7]}`)},
		{"1.5 is no integer", "`/body/lifetimeDays`", lifetime(`{"lifetimeDays":1.5}`)},
		{"1e-1 is no integer", "`/body/lifetimeDays`", lifetime(`{"lifetimeDays":1e-1}`)},
		{"a number next to an integer", "`/body/lifetimeDays`", lifetime(`{"lifetimeDays":1.00000000000000000001}`)},
		{"1 is no boolean", "`/body/neverShow`", feedback(`{"neverShow":1}`)},
		{"0 is no boolean", "`/body/neverShow`", feedback(`{"neverShow":0}`)},
		{`"true" is no boolean`, "`/body/neverShow`", feedback(`{"neverShow":"true"}`)},
		{"an empty string is no boolean", "`/body/neverShow`", feedback(`{"neverShow":""}`)},
		{"a number is no time", "`/body/given`", feedback(`{"given":1732060800000}`)},
		{`"1" is no user`, "`/body/userId`", feedback(`{"userId":"1"}`)},
		{"a number is no description", "`/body/description`", create(`{"description":7` + year + `}`)},
		{"null is no description", "`/body/description`", create(`{"description":null` + year + `}`)},
		{"null is no time of expiry", "`/body/expiresAt`", create(`{"description":"x","expiresAt":null}`)},
		{"a name in another letter case is another name", "`/body/lifetimeDays`", lifetime(`{"LifetimeDays":7}`)},

		{"an empty body", "`/body`", feedback("")},
		{"white space", "`/body`", feedback(" \t\r\n")},
		{"null", "`/body`", feedback("null")},
		{"an array", "`/body`", feedback(`[{"neverShow":true}]`)},
		{"a string", "`/body`", feedback(`"x"`)},
		{"a number", "`/body`", feedback("7")},
		{"a boolean", "`/body`", feedback("true")},

		{"no JSON", "`/body`", feedback("neverShow=true")},
		{"an end too early", "`/body`", feedback(`{"neverShow":true`)},
		{"a comma too many", "`/body`", feedback(`{"neverShow":true,}`)},
		{"a comment", "`/body`", feedback(`{/* */"neverShow":true}`)},
		{"single quotes", "`/body`", feedback(`{'neverShow':true}`)},
		{"a name without quotes", "`/body`", feedback(`{neverShow:true}`)},
		{"NaN", "`/body`", lifetime(`{"lifetimeDays":NaN}`)},
		{"Infinity", "`/body`", lifetime(`{"lifetimeDays":Infinity}`)},
		{"a leading zero", "`/body`", lifetime(`{"lifetimeDays":07}`)},
		{"a plus sign", "`/body`", lifetime(`{"lifetimeDays":+7}`)},
		{"hexadecimal", "`/body`", lifetime(`{"lifetimeDays":0x7}`)},
		{"a point without digits", "`/body`", lifetime(`{"lifetimeDays":7.}`)},
		{"a line break in a string", "`/body`", feedback("{\"x\":\"a\nb\"}")},
		{"a byte 0 behind the object", "`/body`", feedback("{}\x00")},
		{"a byte-order mark", "`/body`", feedback("\xef\xbb\xbf{}")},
		{"a bad escape", "`/body`", feedback(`{"x":"\x41"}`)},

		{"a lone high surrogate", "`/body`", create(`{"description":"a\ud800"` + year + `}`)},
		{"a lone low surrogate", "`/body`", create(`{"description":"\udc00a"` + year + `}`)},
		{"surrogates the wrong way round", "`/body`", create(`{"description":"\udc00\ud800"` + year + `}`)},
		{"a lone surrogate in a member that nobody reads", "`/body`", feedback(`{"x":"\ud800"}`)},
		{"a lone surrogate in a name", "`/body`", feedback(`{"\ud800":1}`)},
		{"a duplicate key", "`/body/neverShow`", feedback(`{"neverShow":true,"neverShow":true}`)},
		{"a duplicate key in another spelling", "`/body/neverShow`", feedback(`{"neverShow":true,"never\u0053how":false}`)},
		{"a duplicate key that nobody reads", "`/body/x`", feedback(`{"x":1,"x":2}`)},
		{"a duplicate key deep inside", "`/body/x/0/y`", feedback(`{"x":[{"y":1,"y":2}]}`)},
		{"a duplicate key with a slash and a tilde", "`/body/a~1b~0c`", feedback(`{"a/b~c":1,"a/b~c":2}`)},
		{"trailing data", "`/body`", feedback(`{} {}`)},
		{"a trailing bracket", "`/body`", feedback(`{}}`)},
		{"trailing nonsense", "`/body`", feedback(`{}x`)},
		{"nesting of 101 arrays", "`/body`", feedback(`{"x":` + nest(100, "[", "", "]") + `}`)},
		{"nesting of 101 objects", "`/body`", feedback(nest(100, `{"x":`, "{}", "}"))},
		{"nesting of 50,000", "`/body`", feedback(nest(50_000, "[", "", "]"))},
	}
	for _, tt := range refused {
		t.Run("400 for "+tt.name, func(t *testing.T) {
			t.Parallel()
			message := s.send(t, tt.call.as(admin)).wantError(t, 400).Message
			if !strings.Contains(message, tt.place) {
				t.Errorf("the message %q does not name %s", message, tt.place)
			}
		})
	}
	t.Run("nothing was written", func(t *testing.T) {
		t.Parallel()
		if _, stored := s.tokensOf(t, account); len(stored) > 0 {
			t.Errorf("%d tokens", len(stored))
		}
		if got := s.item(t, "FeatureTypes", dynamo.Item{"id": dynamo.S("release")}).Int("lifetimeDays"); got != 40 {
			t.Errorf("the lifetime is %d", got)
		}
	})
	t.Run("200 for nesting of 100", func(t *testing.T) {
		t.Parallel()
		s.send(t, feedback(`{"x":`+nest(99, "[", "", "]")+`}`).as(admin)).want(t, 200)
		s.send(t, feedback(nest(99, `{"x":`, "{}", "}")).as(admin)).want(t, 200)
	})
}

// TestSection2_LenientWhereJSONSchemaIs: "1.0 and 1e2 are integers (JSON Schema's rule). Unknown members are ignored (a feedbackId sent to
// 4.1 is one)."
func TestSection2_LenientWhereJSONSchemaIs(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for number, want := range map[string]string{
		"1.0": "1", "1e2": "100", "1E2": "100", "1e+2": "100", "2147483647.0": "2147483647", "2.147483647e9": "2147483647", "100e-2": "1", "0.7e1": "7",
		"0.0": "null", "-0": "null", "-0.0": "null", "0e99": "null",
	} {
		t.Run(number+" is an integer", func(t *testing.T) {
			t.Parallel()
			a := s.send(t, putLifetime(s.featureType(t, nil), `{"lifetimeDays":`+number+`}`).as(admin)).want(t, 200)
			if !strings.Contains(a.body, `"lifetimeDays":`+want) {
				t.Errorf("answer %s", a.body)
			}
		})
	}
	t.Run("a user's id may be spelt so, too", func(t *testing.T) {
		t.Parallel()
		caller, token := s.person(t, "Viewer")
		for _, spelling := range []string{text(caller), text(caller) + ".0", text(caller) + "e0"} {
			s.send(t, putFeedback("spelling", `{"userId":`+spelling+`}`).as(token)).want(t, 200)
		}
	})
	t.Run("unknown members are ignored", func(t *testing.T) {
		t.Parallel()
		a := s.send(t, putFeedback("mine", `{"feedbackId":"yours","FeedbackId":7,"":null,"neverShow":true}`).as(admin)).want(t, 200)
		if !strings.Contains(a.body, `"feedbackId":"mine"`) {
			t.Errorf("answer %s", a.body)
		}
		s.send(t, putLifetime(s.featureType(t, nil), `{"lifetimeDays":1,"id":"other","name":7}`).as(admin)).want(t, 200)
		account := s.serviceAccount(t)
		created := s.createToken(t, admin, account, `{"description":"x","expiresAt":"2199-01-01T00:00:00Z","id":1,"secret":"mine","userId":1,"seenAt":"x"}`)
		if created.UserID != account || created.Secret == "mine" || created.ID == 1 {
			t.Errorf("user %d, id %d", created.UserID, created.ID)
		}
	})
	t.Run("a pair of surrogates is a character", func(t *testing.T) {
		t.Parallel()
		created := s.createToken(t, admin, s.serviceAccount(t), `{"description":"\ud83d\ude00","expiresAt":"2199-01-01T00:00:00Z"}`)
		if created.Description != "😀" {
			t.Errorf("description %q", created.Description)
		}
	})
	t.Run("invalid UTF-8 in a body has become U+FFFD", func(t *testing.T) {
		t.Parallel()
		created := s.createToken(t, admin, s.serviceAccount(t), "{\"description\":\"a\xffb\",\"expiresAt\":\"2199-01-01T00:00:00Z\"}")
		if created.Description != "a\ufffdb" {
			t.Errorf("description %q", created.Description)
		}
	})
}
