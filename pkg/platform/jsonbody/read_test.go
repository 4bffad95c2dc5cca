package jsonbody_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/helper/assert"
)

// read returns the error of a request with headers Content-Type, which also violates a rule.
func read(t *testing.T, body io.Reader, contentTypes ...string) *apierror.Error {
	t.Helper()
	r := httptest.NewRequest(http.MethodPut, "/", body)
	r.Header["Content-Type"] = contentTypes
	_, err := compile(t, integers).Read(r, func(jsonbody.Object) []apierror.Detail {
		return []apierror.Detail{apierror.At("/body/r", "violates a rule")}
	})
	return apierror.From(err)
}

// tooLarge is a body that is larger than the function accepts.
var tooLarge = iotest.ErrReader(&http.MaxBytesError{Limit: 102_400})

func TestContentType(t *testing.T) {
	t.Parallel()
	for _, accepted := range []string{
		"application/json",
		"Application/JSON",
		"application/json;charset=utf-8",
		`application/json ; a=b; c="d;e,f"`,
		"application/json; =; a=b; a=c", // malformed parameters
	} {
		assert.Equal(t, apierror.New(apierror.ContentTooLarge, "The body must not be larger than 102400 bytes."),
			read(t, tooLarge, accepted))
	}
	for _, rejected := range [][]string{
		nil,
		{""},
		{"text/plain"},
		{"application/problem+json"},
		{"application/*"},
		{"application/json x"},
		{"application/json, application/json"},
		{"application/json", "application/json"},
	} {
		assert.Equal(t, apierror.New(apierror.ContentType, "The Content-Type must be application/json."),
			read(t, tooLarge, rejected...))
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "The `/body` must be valid base64 if the request declares it as base64.",
		message(t, read(t, iotest.ErrReader(errors.New("broken")), "application/json")))
	assert.Equal(t, "The `/body/n` property must be an integer; you sent \"x\". The `/body/r` property violates a rule.",
		message(t, read(t, strings.NewReader(`{"n":"x"}`), "application/json")))
}

// A body can be an array of objects.
func TestReadArray(t *testing.T) {
	t.Parallel()
	schema := compile(t, `{"type":"array","maxItems":2,"items":{"type":"object","required":["id"],"additionalProperties":false,
		"properties":{"id":{"type":"string"},"sortOrder":{"type":"integer"}}}}`)
	firstIsA := func(elements []jsonbody.Object) []apierror.Detail {
		if len(elements) > 0 && elements[0].Text("id") != "a" {
			return []apierror.Detail{apierror.At("/body/0/id", "must be a")}
		}
		return nil
	}
	for body, want := range map[string]string{
		`[]`:                                    "[]",
		`[{"id":"a","sortOrder":1},{"id":"b"}]`: "[map[id:a sortOrder:1] map[id:b]]",
		`[{"id":"b"}]`:                          "The `/body/0/id` property must be a.",
		`[{"id":"a"},{"sortorder":1},3]`:        `The ~/body~ must have at most 2 elements; you sent [{"id":"a"},{"sortorder":1},3].`,
		`[{"id":"a"},{"sortorder":1}]`: "The `/body/1/id` property is required; you did not send it. " +
			"The `/body/1/sortorder` property is unknown; the closest one is `sortOrder`.",
		`[{"id":"a"},3]`: "The `/body/1` property must be an object; you sent 3.",
		`{}`:             "The `/body` must be an array; you sent {}.",
		`[`:              "The `/body` must be valid JSON; there is a syntax error at byte 1.",
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		elements, err := schema.ReadArray(r, firstIsA)
		got := fmt.Sprint(elements)
		if err != nil {
			got = message(t, err)
		}
		assert.Equal(t, strings.ReplaceAll(want, "~", "`"), got)
	}
}

func TestRulesGetTheValidProperties(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]jsonbody.Object{
		`{"n":"x","other":"y"}`: {"other": "y"}, `[]`: nil, "": nil,
	} {
		_, err := compile(t, integers).Decode([]byte(body), func(valid jsonbody.Object) []apierror.Detail {
			assert.Equal(t, want, valid)
			return nil
		})
		message(t, err)
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	syntaxError := func(offset int) string {
		return fmt.Sprintf("The `/body` must be valid JSON; there is a syntax error at byte %d.", offset)
	}
	const tooDeep = "The `/body` must not be nested deeper than 100 levels."
	longName := strings.Repeat("n", 101)
	wantMessages(t, `{"type":"object"}`, []bodyTest{
		{``, "The `/body` must be valid JSON; it is empty."},
		{" \r\n\t", "The `/body` must be valid JSON; it is empty."},
		{"\ufeff{}", syntaxError(0)},
		{`{} x`, syntaxError(3)},
		{`{}{}`, syntaxError(2)},
		{`{"a":1`, syntaxError(6)},
		{`{/**/}`, syntaxError(1)},
		{`{"a":1,}`, syntaxError(6)},
		{`{"a":01}`, syntaxError(6)},
		{"{\"a\":\"\n\"}", syntaxError(6)},
		{`{"a":"\ud800"}`, syntaxError(6)},
		{`{"\udc00":1}`, syntaxError(2)},
		{"{\"a\":\"\xff\"}", syntaxError(6)},

		{`null`, "The `/body` must be an object; you sent null."},
		{`[{"a":1.0}]`, "The `/body` must be an object; you sent [{\"a\":1.0}]."},
		{`"<abc>"`, "The `/body` must be an object; you sent \"<abc>\"."},
		{`1e2`, "The `/body` must be an object; you sent 1e2."},

		{`{"a":1,"\u0061":1}`, "The `/body/a` property must be unique; you sent it twice."},
		{`{"x":{"b":[{"c":1,"c":2}]}}`, "The `/body/x/b/0/c` property must be unique; you sent it twice."},
		{`{"a/b~c":1,"a/b~c":1}`, "The `/body/a~1b~0c` property must be unique; you sent it twice."},
		{
			`{"` + longName + `":1,"` + longName + `":1}`,
			"The `/body/" + longName[:100] + "…` property must be unique; you sent it twice.",
		},
		{`{"A":1,"a":2}`, ""},

		{`{"a":` + nestedArrays(99) + `}`, ""},
		{`{"a":` + nestedArrays(100) + `}`, tooDeep},
		{strings.Repeat(`{"a":`, 101) + "null" + strings.Repeat("}", 101), tooDeep},
		{strings.Repeat("[", 50_000), tooDeep},
	})
}

func nestedArrays(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
