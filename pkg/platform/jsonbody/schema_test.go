package jsonbody_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestCompileRefusesWhatIsNotSupported(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		# file, or the keywords of its property p | texts in the error
		{ |
		{"type":"array"} | type
		{"type":"object","maxProperties":1} | maxProperties
		"type":"integer","multipleOf":2 | /properties/p multipleOf
		"type":"number" | "p" "number"
		"type":["null","object"] | "p" "object"
		"type":"array" | "p" items
		"type":"array","items":{"type":"integer"} | "p" object
		"minimum":1 | "p" missing
		"type":7 | /properties/p/type
		"type":"integer","minimum":0.5 | /properties/p/minimum 0.5
		"type":"string","pattern":"^a" | "p" pattern "^a"
		"type":"string","format":"email" | "p" format "email"
		{"type":"object","required":["p"]} | "p" declared
	`) {
		file := row[0]
		if file[0] != '{' {
			file = `{"type":"object","properties":{"p":{` + file + `}}}`
		}
		_, err := jsonbody.Compile([]byte(file))
		if err == nil {
			t.Fatalf("compiled: %s", file)
		}
		for text := range strings.FieldsSeq(row[1]) {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("the error does not mention %s: %v", text, err)
			}
		}
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
	wantMessages(t, keywords, `
		# body | message
		{} | The ~/body/r~ property is required; you did not send it.
		{"r":null,"n":null,"t":null} |
		# unknown properties
		{"r":true,"R":7,"x":[{}]} |
		{"r":"true"} | The ~/body/r~ property must be a boolean or null; you sent "true".
		{"r":1} | The ~/body/r~ property must be a boolean or null; you sent 1.
		{"r":{"b":[],"a":{}}} | The ~/body/r~ property must be a boolean or null; you sent {"a":{},"b":[]}.
		{"r":true,"n":"7"} | The ~/body/n~ property must be an integer or null; you sent "7".
		{"r":true,"n":true} | The ~/body/n~ property must be an integer or null; you sent true.
		{"r":true,"n":1.5} | The ~/body/n~ property must be an integer or null; you sent 1.5.
		{"r":true,"n":-1.0} |
		{"r":true,"n":-2} | The ~/body/n~ property must be at least -1; you sent -2.
		{"r":true,"n":-1e30} | The ~/body/n~ property must be at least -1; you sent -1e30.
		{"r":true,"n":2147483647} |
		{"r":true,"n":2147483648} | The ~/body/n~ property must be at most 2147483647; you sent 2147483648.
		{"r":true,"n":1e999999999} | The ~/body/n~ property must be at most 2147483647; you sent 1e999999999.
		# lengths of 2 to 4 characters
		{"r":true,"s":null} | The ~/body/s~ property must be a string; you sent null.
		{"r":true,"s":"é😀"} |
		{"r":true,"s":"é"} | The ~/body/s~ property must have 2 or more characters; you sent "é".
		{"r":true,"s":"é😀é😀"} |
		{"r":true,"s":"12345"} | The ~/body/s~ property must have at most 4 characters; you sent "12345".
		# white space
		{"r":true,"w":" \u0009\u2003"} | The ~/body/w~ property must not be only white space; you sent " \t ".
		{"r":true,"w":" \t\u000b\u0085\u00a0\u3000x"} |
		{"r":true,"w":" \u200b "} |
		{"r":true,"t":"2026-11-20T05:39:00+01:00"} |
		{"r":true,"t":"2026-11-20"} | The ~/body/t~ property must be an RFC 3339 date-time with an offset or Z; you sent "2026-11-20".
		# names
		{"r":true,"i":"..a_Z~9-."} |
		{"r":true,"i":"..."} |
		{"r":true,"i":".."} | The ~/body/i~ property must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent "..".
		{"r":true,"i":"ab\n"} | The ~/body/i~ property must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent "ab\n".
		# arrays
		{"r":true,"a":[{"n":1,"x":2},{"n":2}]} |
		{"r":true,"a":{}} | The ~/body/a~ property must be an array; you sent {}.
		{"r":true,"a":[1,{},{}]} | The ~/body/a~ property must have at most 2 elements; you sent [1,{},{}].
		{"r":true,"a":[{},null]} | The ~/body/a/0/n~ property is required; you did not send it. The ~/body/a/1~ property must be an object; you sent null.
		{"r":true,"l":[]} | The ~/body/l~ property must have 1 or more elements; you sent [].
		{"r":true,"l":["a",7]} | The ~/body/l/1~ property must be a string; you sent 7.
		{"r":true,"l":[""]} | The ~/body/l/0~ property must have 1 or more characters; you sent "".
		{"r":true,"l":["abcd"]} | The ~/body/l/0~ property must have at most 3 characters; you sent "abcd".
		# long values, credentials, several violations
		{"r":true,"s":"101×😀"} | The ~/body/s~ property must have at most 4 characters; you sent "100×😀…".
		{"r":[100×(1,)1]} | The ~/body/r~ property must be a boolean or null; you sent [49×(1,)1….
		{"r":{"a":"v2_AAAAAAAAAAEAAAAAAAAAAQ"}} | The ~/body/r~ property must be a boolean or null; you sent [redacted].
		{"n":"x","t":"y"} | The ~/body/n~ property must be an integer or null; you sent "x". The ~/body/r~ property is required; you did not send it. The ~/body/t~ property must be an RFC 3339 date-time with an offset or Z; you sent "y".
	`)
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
	wantMessages(t, closed, `
		{"createdAt":7,"stickiness":true,"legalValues":[{"value":"a"}]} |
		{"STICKY":true} | The ~/body/STICKY~ property is unknown; the closest one is ~stickiness~.
		{"legalvalues":[]} | The ~/body/legalvalues~ property is unknown; the closest one is ~legalValues~.
		{"legalValues":[{},{"vaule":"a"}]} | The ~/body/legalValues/1/vaule~ property is unknown; the closest one is ~value~.
		{"200×é":1} | The ~/body/100×é…~ property is unknown.
		{"":1} | The ~/body/~ property is unknown.
	`)
	many := "{"
	for i := range 30 {
		many += fmt.Sprintf(`"x%02d":1,`, i)
	}
	_, err := compile(t, closed).Decode([]byte(many + `"stickiness":7}`))
	assert.Equal(t, 10, strings.Count(message(t, err), "unknown"))
}
