package jsonbody_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

// read returns the error of a request with headers Content-Type, which also violates a rule.
func read(t *testing.T, body io.Reader, contentTypes ...string) *apierror.Error {
	t.Helper()
	r := httptest.NewRequest(http.MethodPut, "/", body)
	r.Header["Content-Type"] = contentTypes
	_, err := compile(t, integers).Read(r, func(jsonbody.Object) string { return "A rule." })
	return apierror.From(err)
}

// tooLarge is a body that is larger than the function accepts.
var tooLarge = iotest.ErrReader(&http.MaxBytesError{Limit: 102_400})

func TestContentType(t *testing.T) {
	t.Parallel()
	for _, accepted := range table.Rows(t, 1, `
		application/json
		Application/JSON
		application/json;charset=utf-8
		application/json ; a=b; c="d;e,f"
		# malformed parameters
		application/json; =; a=b; a=c
	`) {
		assert.Equal(t, apierror.New(apierror.ContentTooLarge, "The body must not be larger than 102400 bytes."),
			read(t, tooLarge, accepted...))
	}
	for _, refused := range append(table.Rows(t, 1, `
		""
		text/plain
		application/problem+json
		application/*
		application/json x
		application/json, application/json
	`), nil, []string{"application/json", "application/json"}) {
		assert.Equal(t, apierror.New(apierror.ContentType, "The Content-Type must be application/json."),
			read(t, tooLarge, refused...))
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	assert.Equal(t,
		apierror.New(apierror.Validation, "The `/body` must be valid base64 if the request declares it as base64."),
		read(t, iotest.ErrReader(errors.New("broken")), "application/json"))
	assert.Equal(t, apierror.New(apierror.Validation, "The `/body/n` property must be an integer; you sent \"x\". A rule."),
		read(t, strings.NewReader(`{"n":"x"}`), "application/json"))
}

func TestRulesGetTheValidProperties(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]jsonbody.Object{
		`{"n":"x","other":"y"}`: {"other": "y"}, `[]`: nil, "": nil,
	} {
		_, err := compile(t, integers).Decode([]byte(body), func(valid jsonbody.Object) string {
			assert.Equal(t, want, valid)
			return ""
		})
		message(t, err)
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	wantMessages(t, `{"type":"object"}`, strings.NewReplacer("SYNTAX",
		"The ~/body~ must be valid JSON; there is a syntax error at byte", "DEEP",
		"The ~/body~ must not be nested deeper than 100 levels.").Replace(`
		# body | message
		| SYNTAX 0.
		"\ufeff{}" | SYNTAX 0.
		{} x | SYNTAX 3.
		{}{} | SYNTAX 2.
		{"a":1 | SYNTAX 6.
		{/**/} | SYNTAX 1.
		{"a":1,} | SYNTAX 6.
		{"a":01} | SYNTAX 6.
		"{\"a\":\"\n\"}" | SYNTAX 6.
		{"a":"\ud800"} | SYNTAX 6.
		{"\udc00":1} | SYNTAX 2.
		"{\"a\":\"\xff\"}" | SYNTAX 6.
		null | The ~/body~ must be an object; you sent null.
		[{"a":1.0}] | The ~/body~ must be an object; you sent [{"a":1.0}].
		"\"<abc>\"" | The ~/body~ must be an object; you sent "<abc>".
		1e2 | The ~/body~ must be an object; you sent 1e2.
		{"a":1,"\u0061":1} | The ~/body/a~ property must be unique; you sent it twice.
		{"x":{"b":[{"c":1,"c":2}]}} | The ~/body/x/b/0/c~ property must be unique; you sent it twice.
		{"a/b~c":1,"a/b~c":1} | The ~/body/a~1b~0c~ property must be unique; you sent it twice.
		{"101×n":1,"101×n":1} | The ~/body/100×n…~ property must be unique; you sent it twice.
		{"A":1,"a":2} |
		{"a":99×[99×]} |
		{"a":[99×[99×]]} | DEEP
		101×({"a":)null101×} | DEEP
		50000×[ | DEEP
	`))
}
