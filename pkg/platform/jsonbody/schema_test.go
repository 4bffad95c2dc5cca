package jsonbody_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/helper/assert"
)

// Each error names what is not supported, and the place of its schema.
func TestCompileRejectsWhatIsNotSupported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file string
		want []string // texts in the error
	}{
		{`{`, nil},
		{`{"type":"array","items":{"type":"string"}}`, []string{"must be object, or array with items of the type object"}},
		{`{"type":"array"}`, []string{"must be object, or array with items of the type object"}},
		{`{"type":["object","null"]}`, []string{"must be object"}},
		{`{"type":"object","maxProperties":1}`, []string{"maxProperties"}},
		{`{"type":"object","required":["p"]}`, []string{`"p"`, "not declared"}},
		{`{"type":"object","additionalProperties":7}`, []string{"additionalProperties"}},
		{property(`"type":"integer","multipleOf":2`), []string{"/properties/p", "multipleOf"}},
		{property(`"type":"number"`), []string{"/properties/p", `"number"`}},
		{property(`"type":"array"`), []string{"/properties/p", "items"}},
		{property(`"type":"array","items":{"type":"number"}`), []string{"/properties/p/items", `"number"`}},
		{property(`"type":"object","additionalProperties":{}`), []string{"/properties/p/additionalProperties", "type"}},
		{property(`"minimum":1`), []string{"/properties/p", "type is missing"}},
		{property(`"type":7`), []string{"/properties/p/type"}},
		{property(`"type":"integer","minimum":0.5`), []string{"/properties/p/minimum", "0.5"}},
		{property(`"type":"string","pattern":"^a"`), []string{"/properties/p", "x-pattern-text"}},
		{property(`"type":"string","pattern":"(","x-pattern-text":"x"`), []string{"/properties/p", "("}},
		{property(`"type":"string","format":"email"`), []string{"/properties/p", `"email"`}},
		{property(`"type":"integer","const":1`), []string{"/properties/p/const"}},
	} {
		_, err := jsonbody.Compile([]byte(test.file))
		if err == nil {
			t.Errorf("compiled: %s", test.file)
			continue
		}
		for _, text := range test.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error does not mention %s: %v", test.file, text, err)
			}
		}
	}
}

// property returns the schema of a body with a property p that has the given keywords.
func property(keywords string) string {
	return `{"type":"object","properties":{"p":{` + keywords + `}}}`
}

// keywords is a schema that uses every supported keyword.
const keywords = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t", "description": "d", "type": "object", "required": ["r"],
	"properties": {
		"r": {"description": "d", "type": ["boolean", "null"]},
		"n": {"type": ["integer", "null"], "minimum": -1, "maximum": 2147483647},
		"s": {"type": "string", "minLength": 2, "maxLength": 4},
		"w": {"type": "string", "pattern": "[^ \t]", "x-pattern-text": "not be only white space"},
		"t": {"type": ["string", "null"], "format": "date-time"},
		"e": {"type": "string", "enum": ["fix", "variable"]},
		"o": {"type": ["object", "null"], "required": ["k"], "properties": {"k": {"type": "string"}}},
		"m": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 3}},
		"a": {"type": "array", "maxItems": 2, "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
		"l": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1, "maxLength": 3}},
		"z": {"type": "array", "maxItems": 0, "items": {"type": "string"}},
		"c": {"type": "boolean", "const": false}
	}
}`

// Strings have no control characters, whatever their schema is.
func TestTexts(t *testing.T) {
	t.Parallel()
	wantMessages(t, `{"type":"object","properties":{"s":{"type":["string","null"]},"l":{"type":"array","items":{"type":"string"}}}}`,
		[]bodyTest{
			{`{"s":"a\tb\r\nc é \u200b"}`, ""},
			{`{"s":"a\u0000"}`, "The `/body/s` property must have no control characters except tabs and line breaks; you sent \"a\\u0000\"."},
			{
				`{"l":["a","\u001b[31m","\u0085"]}`,
				"The `/body/l/1` property must have no control characters except tabs and line breaks; you sent \"\\u001b[31m\". " +
					"The `/body/l/2` property must have no control characters except tabs and line breaks; you sent \"\u0085\".",
			},
		})
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	wantMessages(t, keywords, []bodyTest{
		{`{}`, "The `/body/r` property is required; you did not send it."},
		{`{"r":null,"n":null,"t":null}`, ""},
		// unknown properties
		{`{"r":true,"R":7,"x":[{}]}`, ""},
		{`{"r":"true"}`, "The `/body/r` property must be a boolean or null; you sent \"true\"."},
		{`{"r":1}`, "The `/body/r` property must be a boolean or null; you sent 1."},
		{
			`{"r":{"b":[],"a":{}}}`,
			"The `/body/r` property must be a boolean or null; you sent {\"a\":{},\"b\":[]}.",
		},
		{`{"r":true,"n":"7"}`, "The `/body/n` property must be an integer or null; you sent \"7\"."},
		{`{"r":true,"n":true}`, "The `/body/n` property must be an integer or null; you sent true."},
		{`{"r":true,"n":1.5}`, "The `/body/n` property must be an integer or null; you sent 1.5."},
		{`{"r":true,"n":-1.0}`, ""},
		{`{"r":true,"n":-2}`, "The `/body/n` property must be at least -1; you sent -2."},
		{`{"r":true,"n":-1e30}`, "The `/body/n` property must be at least -1; you sent -1e30."},
		{`{"r":true,"n":2147483647}`, ""},
		{
			`{"r":true,"n":2147483648}`,
			"The `/body/n` property must be at most 2147483647; you sent 2147483648.",
		},
		{
			`{"r":true,"n":1e999999999}`,
			"The `/body/n` property must be at most 2147483647; you sent 1e999999999.",
		},
		// lengths of 2 to 4 characters
		{`{"r":true,"s":null}`, "The `/body/s` property must be a string; you sent null."},
		{`{"r":true,"s":"é😀"}`, ""},
		{`{"r":true,"s":"é"}`, "The `/body/s` property must have 2 or more characters; you sent \"é\"."},
		{`{"r":true,"s":"é😀é😀"}`, ""},
		{
			`{"r":true,"s":"12345"}`,
			"The `/body/s` property must have at most 4 characters; you sent \"12345\".",
		},
		// patterns
		{`{"r":true,"w":" x"}`, ""},
		{`{"r":true,"w":" \t"}`, "The `/body/w` property must not be only white space; you sent \" \\t\"."},
		{`{"r":true,"t":"2026-11-20T05:39:00+01:00"}`, ""},
		{
			`{"r":true,"t":"2026-11-20"}`,
			"The `/body/t` property must be an RFC 3339 date-time with an offset or Z; you sent \"2026-11-20\".",
		},
		// enumerations
		{`{"r":true,"e":"fix"}`, ""},
		{`{"r":true,"e":"Fix"}`, "The `/body/e` property must be one of \"fix\", \"variable\"; you sent \"Fix\"."},
		// objects
		{`{"r":true,"o":null}`, ""},
		{`{"r":true,"o":{"k":"","x":1}}`, ""},
		{`{"r":true,"o":[]}`, "The `/body/o` property must be an object or null; you sent []."},
		{`{"r":true,"o":{}}`, "The `/body/o/k` property is required; you did not send it."},
		{`{"r":true,"o":{"k":1}}`, "The `/body/o/k` property must be a string; you sent 1."},
		// maps
		{`{"r":true,"m":{"a":"x","b":""}}`, ""},
		{
			`{"r":true,"m":{"a":"long","b":7}}`,
			"The `/body/m/a` property must have at most 3 characters; you sent \"long\". " +
				"The `/body/m/b` property must be a string; you sent 7.",
		},
		// arrays
		{`{"r":true,"a":[{"n":1,"x":2},{"n":2}]}`, ""},
		{`{"r":true,"a":{}}`, "The `/body/a` property must be an array; you sent {}."},
		{
			`{"r":true,"a":[1,{},{}]}`,
			"The `/body/a` property must have at most 2 elements; you sent [1,{},{}].",
		},
		{
			`{"r":true,"a":[{},null]}`,
			"The `/body/a/0/n` property is required; you did not send it. " +
				"The `/body/a/1` property must be an object; you sent null.",
		},
		{`{"r":true,"l":[]}`, "The `/body/l` property must have 1 or more elements; you sent []."},
		{`{"r":true,"l":["a",7]}`, "The `/body/l/1` property must be a string; you sent 7."},
		{`{"r":true,"l":[""]}`, "The `/body/l/0` property must have 1 or more characters; you sent \"\"."},
		{
			`{"r":true,"l":["abcd"]}`,
			"The `/body/l/0` property must have at most 3 characters; you sent \"abcd\".",
		},
		{`{"r":true,"z":[]}`, ""},
		{`{"r":true,"z":["a"]}`, "The `/body/z` property must be empty; you sent [\"a\"]."},
		// constants
		{`{"r":true,"c":false}`, ""},
		{`{"r":true,"c":true}`, "The `/body/c` property must be false; you sent true."},
		{`{"r":true,"c":0}`, "The `/body/c` property must be a boolean; you sent 0."},
		// long values, credentials, several violations
		{
			`{"r":true,"s":"` + strings.Repeat("😀", 101) + `"}`,
			"The `/body/s` property must have at most 4 characters; you sent \"" + strings.Repeat("😀", 100) + "…\".",
		},
		{
			`{"r":[` + strings.Repeat("1,", 100) + `1]}`,
			"The `/body/r` property must be a boolean or null; you sent [" + strings.Repeat("1,", 49) + "1….",
		},
		{
			`{"r":{"a":"v2_AAAAAAAAAAEAAAAAAAAAAQ"}}`,
			"The `/body/r` property must be a boolean or null; you sent [redacted].",
		},
		{
			`{"n":"x","t":"y"}`,
			"The `/body/n` property must be an integer or null; you sent \"x\". " +
				"The `/body/r` property is required; you did not send it. " +
				"The `/body/t` property must be an RFC 3339 date-time with an offset or Z; you sent \"y\".",
		},
	})
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
	wantMessages(t, closed, []bodyTest{
		{`{"createdAt":7,"stickiness":true,"legalValues":[{"value":"a"}]}`, ""},
		{`{"STICKY":true}`, "The `/body/STICKY` property is unknown; the closest one is `stickiness`."},
		{
			`{"legalvalues":[]}`,
			"The `/body/legalvalues` property is unknown; the closest one is `legalValues`.",
		},
		{
			`{"legalValues":[{},{"vaule":"a"}]}`,
			"The `/body/legalValues/1/vaule` property is unknown; the closest one is `value`.",
		},
		{`{"` + strings.Repeat("é", 200) + `":1}`, "The `/body/" + strings.Repeat("é", 100) + "…` property is unknown."},
		{`{"":1}`, "The `/body/` property is unknown."},
	})
	many := "{"
	for i := range 30 {
		many += fmt.Sprintf(`"x%02d":1,`, i)
	}
	_, err := compile(t, closed).Decode([]byte(many + `"stickiness":7}`))
	assert.Equal(t, 10, strings.Count(message(t, err), "unknown"))
}
