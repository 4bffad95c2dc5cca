package jsonbody_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestContentType(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		application/json | true
		Application/JSON | true
		application/json;charset=utf-8 | true
		application/json ; a=b; c="d;e,f" | true
		# malformed parameters
		application/json; =; a=b; a=c | true
		| false
		text/plain | false
		application/problem+json | false
		application/* | false
		application/json x | false
		application/json, application/json | false
	`) {
		if got := acceptsType(t, row[0]); strconv.FormatBool(got) != row[1] {
			t.Errorf("%s: %t", row[0], got)
		}
	}
	if acceptsType(t) || acceptsType(t, "application/json", "application/json") {
		t.Error("no or two headers are accepted")
	}
}

func acceptsType(t *testing.T, values ...string) bool {
	t.Helper()
	r := httptest.NewRequest(http.MethodPut, "/", strings.NewReader("{}"))
	r.Header["Content-Type"] = values
	_, err := compile(t, integers).Read(r)
	if err != nil && apierror.From(err).Kind != apierror.ContentType {
		t.Error(err)
	}
	return err == nil
}

func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	tooLarge := iotest.ErrReader(&http.MaxBytesError{Limit: 102_400})
	for _, tt := range []struct {
		contentType string
		body        io.Reader
		want        *apierror.Error
	}{
		{"text/plain", tooLarge, apierror.New(apierror.ContentType, "The Content-Type must be application/json.")},
		{"application/json", tooLarge,
			apierror.New(apierror.ContentTooLarge, "The body must not be larger than 102400 bytes.")},
		{"application/json", iotest.ErrReader(errors.New("broken")),
			apierror.New(apierror.Validation, "The `/body` must be valid base64 if the request declares it as base64.")},
		{"application/json", strings.NewReader(`{"n":"x"}`),
			apierror.New(apierror.Validation, "The `/body/n` property must be an integer; you sent \"x\". A rule.")},
	} {
		r := httptest.NewRequest(http.MethodPut, "/", tt.body)
		r.Header.Set("Content-Type", tt.contentType)
		_, err := compile(t, integers).Read(r, func(jsonbody.Object) string { return "A rule." })
		assert.Equal(t, tt.want, apierror.From(err))
	}
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
	long, nested := strings.Repeat("n", 101), strings.Repeat("[", 99)+strings.Repeat("]", 99)
	for _, row := range table.Rows(t, 2, strings.NewReplacer("SYNTAX",
		"The ~/body~ must be valid JSON; there is a syntax error at byte", "DEEP",
		"The ~/body~ must not be nested deeper than 100 levels.", "[99", nested, "101n", long, "100n", long[1:],
		"{101", strings.Repeat(`{"a":`, 101)+"1"+strings.Repeat("}", 101), "[50000", strings.Repeat("[", 50_000)).Replace(`
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
		{"101n":1,"101n":1} | The ~/body/100n…~ property must be unique; you sent it twice.
		{"A":1,"a":2} |
		{"a":[99} |
		{"a":[[99]} | DEEP
		{101 | DEEP
		[50000 | DEEP
	`)) {
		_, err := compile(t, `{"type":"object"}`).Decode([]byte(row[0]))
		wantMessage(t, row, err)
	}
}
