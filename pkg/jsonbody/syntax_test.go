package jsonbody_test

import (
	"strings"
	"testing"
)

func TestAnEmptyBodyNullAnArrayAndAScalarAre400NamingBody(t *testing.T) {
	t.Parallel()
	const empty = "The `/body` must be a JSON object; it was empty."
	for _, tt := range []struct{ name, body, want string }{
		{"empty", "", empty},
		{"white space", " \t\r\n", empty},
		{"null", "null", "The `/body` must be an object; you sent null."},
		{"an array", "[]", "The `/body` must be an object; you sent []."},
		{"an array of an object", `[{"a":1.0}]`, "The `/body` must be an object; you sent [{\"a\":1.0}]."},
		{"a string", `"abc"`, "The `/body` must be an object; you sent \"abc\"."},
		{"a number", "1e2", "The `/body` must be an object; you sent 1e2."},
		{"true", "true", "The `/body` must be an object; you sent true."},
		{"false in white space", " false\n", "The `/body` must be an object; you sent false."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, file := range []string{lifetime, feedback, token} {
				_, err := compileFile(t, file).Decode([]byte(tt.body))
				if got := refusal(t, err); got != tt.want {
					t.Errorf("%s: got %q, want %q", file, got, tt.want)
				}
			}
		})
	}
}

func TestJSONThatCannotBeParsedNamesBody(t *testing.T) {
	t.Parallel()
	const trailing = "The `/body` must be one JSON value; there is more behind it."
	for _, tt := range []struct{ name, body, want string }{
		{"a byte-order mark", "\ufeff{}", "The `/body` must be JSON without a byte-order mark."},
		{"a byte-order mark alone", "\ufeff", "The `/body` must be JSON without a byte-order mark."},
		{"a second value", "{}{}", trailing},
		{"a comma behind", "{},", trailing},
		{"a bracket behind", "{}}", trailing},
		{"text behind", "{} x", trailing},
		{"a NUL behind", "{}\x00", trailing},
		{"a byte-order mark behind", "{}\ufeff", trailing},
		{"cut off in an object", `{"a":1`, ""},
		{"cut off in an array", `{"a":[1`, ""},
		{"cut off in a string", `{"a":"b`, ""},
		{"cut off in a name", `{"a`, ""},
		{"cut off in a word", `{"a":tru`, ""},
		{"cut off behind a colon", `{"a":`, ""},
		{"an opening brace", `{`, ""},
		{"a closing brace", `}`, ""},
		{"the wrong bracket", `{"a":1]`, ""},
		{"a comma too much", `{"a":1,}`, ""},
		{"a comma missing", `{"a":1 "b":2}`, ""},
		{"a name without quotes", `{a:1}`, ""},
		{"a name that is a number", `{1:1}`, ""},
		{"single quotes", `{'a':1}`, ""},
		{"a comment", `{} // no`, trailing},
		{"a comment inside", `{/* no */}`, ""},
		{"a leading zero", `{"a":01}`, ""},
		{"a leading plus", `{"a":+1}`, ""},
		{"a point without digits", `{"a":1.}`, ""},
		{"a point at the start", `{"a":.5}`, ""},
		{"an exponent without digits", `{"a":1e}`, ""},
		{"NaN", `{"a":NaN}`, ""},
		{"Infinity", `{"a":-Infinity}`, ""},
		{"a hexadecimal number", `{"a":0x1}`, ""},
		{"an upper-case word", `{"a":True}`, ""},
		{"a control character in a string", "{\"a\":\"\n\"}", ""},
		{"an unknown escape", `{"a":"\x41"}`, ""},
		{"half an escape", `{"a":"\u00"}`, ""},
		{"a form", `neverShow=true`, ""},
		{"a vertical tab", "\v{}", ""},
		{"a NUL", "\x00", ""},
		{"a lone high surrogate", `{"a":"\ud800"}`, ""},
		{"a lone low surrogate", `{"a":"\udc00"}`, ""},
		{"surrogates in the wrong order", `{"a":"\udc00\ud800"}`, ""},
		{"a high surrogate before a letter", `{"a":"\ud800x"}`, ""},
		{"a lone surrogate in a name", `{"\ud800":1}`, ""},
		{"invalid UTF-8 in a string", "{\"a\":\"\xff\"}", ""},
		{"invalid UTF-8 in a name", "{\"\xff\":1}", ""},
		{"an overlong encoding", "{\"a\":\"\xc0\x80\"}", ""},
		{"a surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", ""},
		{"invalid UTF-8 outside", "\xff{}", ""},
		{"UTF-16", "{\x00}\x00", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := compile(t, []byte(anything)).Decode([]byte(tt.body))
			got := refusal(t, err)
			if tt.want != "" && got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if !strings.HasPrefix(got, "The `/body` must be ") || !strings.Contains(got, "JSON") {
				t.Errorf("the message names another place: %q", got)
			}
		})
	}
}

func TestADuplicateKeyNamesItsPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, place string }{
		{"at the top", `{"lifetimeDays":1,"lifetimeDays":2}`, "/body/lifetimeDays"},
		{"the same value", `{"a":1,"a":1}`, "/body/a"},
		{"a member that nobody reads", `{"lifetimeDays":1,"x":{"a":1,"b":[{"c":1,"c":2}]}}`, "/body/x/b/0/c"},
		{"spelt with an escape", `{"lifetimeDays":1,"lifetime\u0044ays":2}`, "/body/lifetimeDays"},
		{"the empty name", `{"":1,"":2}`, "/body/"},
		{"a name with a slash and a tilde", `{"a/b~c":1,"a/b~c":2}`, "/body/a~1b~0c"},
		{"three times", `{"a":1,"a":1,"a":1}`, "/body/a"},
		{"a long name is cut", `{"` + strings.Repeat("n", 300) + `":1,"` + strings.Repeat("n", 300) + `":1}`, "/body/" + strings.Repeat("n", 100) + "…"},
		{"a name with the shape of a credential", `{"v2_AAAAAAAAAAEAAAAAAAAAAQ_s":1,"v2_AAAAAAAAAAEAAAAAAAAAAQ_s":1}`, "/body/[redacted]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := compileFile(t, lifetime).Decode([]byte(tt.body))
			if got, want := refusal(t, err), "The `"+tt.place+"` property must be there once; you sent it twice."; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestNamesThatDifferInCaseAreNoDuplicates(t *testing.T) {
	t.Parallel()
	object, err := compileFile(t, lifetime).Decode([]byte(`{"LIFETIMEDAYS":"x","lifetimeDays":7,"lifetimedays":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if days, ok := object.Int("lifetimeDays"); !ok || days != 7 {
		t.Errorf("lifetimeDays is %d, %t", days, ok)
	}
}

func TestNestingDeeperThan100Is400(t *testing.T) {
	t.Parallel()
	const tooDeep = "The `/body` must not nest deeper than 100 levels."
	nested := func(levels int, open, closing string) string { // the object around it is one level
		return `{"a":` + strings.Repeat(open, levels-1) + "1" + strings.Repeat(closing, levels-1) + "}"
	}
	for _, tt := range []struct{ name, body, want string }{
		{"arrays, 100", nested(100, "[", "]"), ""},
		{"arrays, 101", nested(101, "[", "]"), tooDeep},
		{"objects, 100", nested(100, `{"a":`, "}"), ""},
		{"objects, 101", nested(101, `{"a":`, "}"), tooDeep},
		{"100 levels twice", `{"a":` + nested(99, "[", "]") + `,"b":` + nested(99, "[", "]") + "}", ""},
		{"never closed", strings.Repeat("[", 50_000), tooDeep},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := compile(t, []byte(anything)).Decode([]byte(tt.body))
			if tt.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if got := refusal(t, err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUnicodeIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, want string }{
		{"UTF-8", `{"a":"é😀"}`, "é😀"},
		{"a pair of surrogates", `{"a":"\ud83d\ude00"}`, "😀"},
		{"U+FFFD, which invalid UTF-8 in an event has become", "{\"a\":\"\ufffd\"}", "\ufffd"},
		{"U+0000 by escape", `{"a":"\u0000"}`, "\x00"},
		{"a byte-order mark in a string", "{\"a\":\"\ufeff\"}", "\ufeff"},
		{"nothing is normalised", "{\"a\":\"e\u0301\"}", "e\u0301"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			object, err := compile(t, []byte(anything)).Decode([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if got := object.Text("a"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
