package jsonbody_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/jsonbody"
)

func TestCompileRefusesWhatIsNotSupported(t *testing.T) {
	t.Parallel()
	property := func(keywords string) string { return `{"type":"object","properties":{"p":{` + keywords + `}}}` }
	for _, tt := range []struct {
		name, file string
		mentions   []string
	}{
		{"not JSON", `{`, nil},
		{"body that is not an object", `{"type":"array"}`, []string{"type"}},
		{"keyword of the body", `{"type":"object","maxProperties":1}`, []string{"maxProperties"}},
		{"keyword of a property", property(`"type":"integer","multipleOf":2`), []string{"/properties/p", "multipleOf"}},
		{"type number", property(`"type":"number"`), []string{`"p"`, `type "number"`}},
		{"type in a list", property(`"type":["null","object"]`), []string{`"p"`, `type "object"`}},
		{"array without items", property(`"type":"array"`), []string{`"p"`, "items is missing"}},
		{"array of numbers", property(`"type":"array","items":{"type":"integer"}`), []string{`"p"`, "object"}},
		{"no type", property(`"minimum":1`), []string{`"p"`, "type is missing"}},
		{"type that is not a text", property(`"type":7`), []string{"/properties/p/type"}},
		{"fraction", property(`"type":"integer","minimum":0.5`), []string{"/properties/p/minimum", "0.5"}},
		{"pattern", property(`"type":"string","pattern":"^a"`), []string{`"p"`, `pattern "^a"`}},
		{"format", property(`"type":"string","format":"email"`), []string{`"p"`, `format "email"`}},
		{"undeclared required property", `{"type":"object","required":["p"]}`, []string{`"p"`, "not declared"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := jsonbody.Compile([]byte(tt.file))
			if err == nil {
				t.Fatal("compiled")
			}
			for _, text := range tt.mentions {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not mention %s: %v", text, err)
				}
			}
		})
	}
}

// keywords is a schema that uses every supported keyword.
const keywords = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t", "description": "d", "type": "object", "required": ["r"],
	"properties": {
		"r": {"description": "d", "type": ["boolean", "null"]},
		"n": {"type": ["integer", "null"], "minimum": -1, "maximum": 2147483647},
		"s": {"type": "string", "minLength": 2, "maxLength": 4},
		"w": {"type": "string", "pattern": "[^\\s\\x0b\\x85\\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"},
		"t": {"type": ["string", "null"], "format": "date-time"},
		"i": {"type": "string", "pattern": "^(\\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\\.{3,})$"},
		"a": {"type": "array", "maxItems": 2, "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
		"l": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1, "maxLength": 3}}
	}
}`

func TestKeywords(t *testing.T) {
	t.Parallel()
	const (
		boolean  = "The `/body/r` property must be a boolean or null; you sent "
		required = "The `/body/r` property is required; you did not send it."
		integer  = "The `/body/n` property must be an integer or null; you sent "
		minimum  = "The `/body/n` property must be at least -1; you sent "
		maximum  = "The `/body/n` property must be at most 2147483647; you sent "
		text     = "The `/body/s` property must be a string; you sent "
		short    = "The `/body/s` property must have 2 or more characters; you sent "
		long     = "The `/body/s` property must have at most 4 characters; you sent "
		white    = "The `/body/w` property must not be only white space; you sent "
		name     = "The `/body/i` property must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; " +
			"you sent "
		date = "The `/body/t` property must be an RFC 3339 date-time with an offset or Z; you sent "
	)
	for _, tt := range []struct{ name, body, want string }{
		{"required", `{}`, required},
		{"null", `{"r":null,"n":null,"t":null}`, ""},
		{"unknown properties", `{"r":true,"R":7,"x":[{}]}`, ""},
		{"text is not a boolean", `{"r":"true"}`, boolean + `"true".`},
		{"number is not a boolean", `{"r":1}`, boolean + "1."},
		{"object is not a boolean", `{"r":{"b":[],"a":{}}}`, boolean + `{"a":{},"b":[]}.`},
		{"text is not an integer", `{"r":true,"n":"7"}`, integer + `"7".`},
		{"boolean is not an integer", `{"r":true,"n":true}`, integer + "true."},
		{"fraction", `{"r":true,"n":1.5}`, integer + "1.5."},
		{"minimum", `{"r":true,"n":-1.0}`, ""},
		{"below the minimum", `{"r":true,"n":-2}`, minimum + "-2."},
		{"far below the minimum", `{"r":true,"n":-1e30}`, minimum + "-1e30."},
		{"maximum", `{"r":true,"n":2147483647}`, ""},
		{"above the maximum", `{"r":true,"n":2147483648}`, maximum + "2147483648."},
		{"far above the maximum", `{"r":true,"n":1e999999999}`, maximum + "1e999999999."},
		{"null is not a string", `{"r":true,"s":null}`, text + "null."},
		{"minimum length", `{"r":true,"s":"é😀"}`, ""},
		{"below the minimum length", `{"r":true,"s":"é"}`, short + `"é".`},
		{"maximum length", `{"r":true,"s":"é😀é😀"}`, ""},
		{"above the maximum length", `{"r":true,"s":"12345"}`, long + `"12345".`},
		{"white space", `{"r":true,"w":" \t\u000b\u0085\u00a0\u2003\u3000"}`,
			white + "\" \\t\\u000b\u0085\u00a0\u2003\u3000\"."},
		{"not only white space", `{"r":true,"w":" \u200b "}`, ""},
		{"date-time", `{"r":true,"t":"2026-11-20T05:39:00+01:00"}`, ""},
		{"name", `{"r":true,"i":"..a_Z~9-."}`, ""},
		{"name of dots", `{"r":true,"i":"..."}`, ""},
		{"name that is a step in a path", `{"r":true,"i":".."}`, name + `"..".`},
		{"name with another character", `{"r":true,"i":"ab\n"}`, name + `"ab\n".`},
		{"elements", `{"r":true,"a":[{"n":1,"x":2},{"n":2}]}`, ""},
		{"object is not an array", `{"r":true,"a":{}}`, "The `/body/a` property must be an array; you sent {}."},
		{"too many elements", `{"r":true,"a":[1,{},{}]}`,
			"The `/body/a` property must have at most 2 elements; you sent [1,{},{}]."},
		{
			"invalid elements", `{"r":true,"a":[{},null]}`,
			"The `/body/a/0/n` property is required; you did not send it. The `/body/a/1` property must be an object; you sent null.",
		},
		{"too few elements", `{"r":true,"l":[]}`, "The `/body/l` property must have 1 or more elements; you sent []."},
		{
			"invalid strings", `{"r":true,"l":["a",7,"","abcd"]}`,
			"The `/body/l/1` property must be a string; you sent 7. " +
				"The `/body/l/2` property must have 1 or more characters; you sent \"\". " +
				"The `/body/l/3` property must have at most 3 characters; you sent \"abcd\".",
		},
		{"date", `{"r":true,"t":"2026-11-20"}`, date + `"2026-11-20".`},
		{"long value", `{"r":true,"s":"` + strings.Repeat("😀", 101) + `"}`, long + `"` + strings.Repeat("😀", 100) + `…".`},
		{"long value that is not a string", `{"r":[` + strings.Repeat("1,", 100) + `1]}`,
			boolean + "[" + strings.Repeat("1,", 49) + "1…."},
		{"credential", `{"r":{"a":"v2_AAAAAAAAAAEAAAAAAAAAAQ"}}`, boolean + "[redacted]."},
		{"all violations", `{"n":"x","t":"y"}`, integer + `"x". ` + required + " " + date + `"y".`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			object, err := compile(t, keywords).Decode([]byte(tt.body))
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if got := message(t, err); got != tt.want || object != nil {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A schema with additionalProperties false names the closest declared property. Properties that are read-only are not
// checked.
func TestUnknownProperties(t *testing.T) {
	t.Parallel()
	const closed = `{"type": "object", "additionalProperties": false, "properties": {
		"legalValues": {"type": "array", "items": {
			"type": "object", "additionalProperties": false, "properties": {"value": {"type": "string"}, "description": {"type": "string"}}
		}},
		"stickiness": {"type": "boolean"},
		"createdAt": {"type": "string", "readOnly": true}
	}}`
	many := "{"
	for i := range 30 {
		many += fmt.Sprintf(`"x%02d":1,`, i)
	}
	for _, tt := range []struct{ body, want string }{
		{`{"createdAt":7,"stickiness":true,"legalValues":[{"value":"a"}]}`, ""},
		{`{"legalvalues":[],"STICKY":true}`, "The `/body/STICKY` property is unknown; the closest one is `stickiness`. " +
			"The `/body/legalvalues` property is unknown; the closest one is `legalValues`."},
		{`{"legalValues":[{},{"vaule":"a"}]}`,
			"The `/body/legalValues/1/vaule` property is unknown; the closest one is `value`."},
		{`{"` + strings.Repeat("é", 200) + `":1}`,
			"The `/body/" + strings.Repeat("é", 100) + "…` property is unknown; the closest one is `createdAt`."},
		{`{"":1}`, "The `/body/` property is unknown; the closest one is `createdAt`."},
		{many + `"stickiness":7}`, "10"},
	} {
		_, err := compile(t, closed).Decode([]byte(tt.body))
		switch {
		case tt.want == "":
			if err != nil {
				t.Error(err)
			}
		case tt.want == "10":
			if got := strings.Count(message(t, err), "unknown"); got != 10 {
				t.Errorf("%d unknown properties are named", got)
			}
		case message(t, err) != tt.want:
			t.Errorf("got %q, want %q", message(t, err), tt.want)
		}
	}
}
