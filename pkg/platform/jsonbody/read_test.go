package jsonbody_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

func TestContentType(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values []string
		valid  bool
	}{
		{"application/json", []string{"application/json"}, true},
		{"letter case", []string{"Application/JSON"}, true},
		{"charset", []string{"application/json;charset=utf-8"}, true},
		{"any parameters", []string{`application/json ; a=b; c="d;e,f"`}, true},
		{"malformed parameters", []string{"application/json; =; a=b; a=c"}, true},
		{"missing", nil, false},
		{"empty", []string{""}, false},
		{"another type", []string{"text/plain"}, false},
		{"another type of JSON", []string{"application/problem+json"}, false},
		{"wildcard", []string{"application/*"}, false},
		{"trailing text", []string{"application/json x"}, false},
		{"list", []string{"application/json, application/json"}, false},
		{"two headers", []string{"application/json", "application/json"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPut, "/", strings.NewReader("{}"))
			r.Header["Content-Type"] = tt.values
			_, err := compile(t, integers).Read(r)
			if (err == nil) != tt.valid || err != nil && apierror.From(err).Kind != apierror.ContentType {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	failing := func(err error) io.Reader { return iotest.ErrReader(err) }
	tooLarge := failing(&http.MaxBytesError{Limit: 102_400})
	for _, tt := range []struct {
		name, contentType string
		body              io.Reader
		want              *apierror.Error
	}{
		{"content type, then size", "text/plain", tooLarge,
			apierror.New(apierror.ContentType, "The Content-Type must be application/json.")},
		{"size", "application/json", tooLarge,
			apierror.New(apierror.ContentTooLarge, "The body must not be larger than 102400 bytes.")},
		{
			"broken base64", "application/json", failing(errors.New("broken")),
			apierror.New(apierror.Validation, "The `/body` must be valid base64 if the request declares it as base64."),
		},
		{
			"rules together with the schema", "application/json", strings.NewReader(`{"n":"x"}`),
			apierror.New(apierror.Validation, "The `/body/n` property must be an integer; you sent \"x\". A rule."),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPut, "/", tt.body)
			r.Header.Set("Content-Type", tt.contentType)
			_, err := compile(t, integers).Read(r, func(jsonbody.Object) string { return "A rule." })
			if diff := cmp.Diff(tt.want, apierror.From(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRulesGetTheValidProperties(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		want jsonbody.Object
	}{
		{`{"n":"x","other":"y"}`, jsonbody.Object{"other": "y"}}, {`[]`, nil}, {``, nil},
	} {
		_, err := compile(t, integers).Decode([]byte(tt.body), func(valid jsonbody.Object) string {
			if diff := cmp.Diff(tt.want, valid); diff != "" {
				t.Errorf("%s: object (-want +got):\n%s", tt.body, diff)
			}
			return ""
		})
		message(t, err)
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
	}
	deep, long := "The `/body` must not be nested deeper than 100 levels.", strings.Repeat("n", 101)
	at := func(offset string) string {
		return "The `/body` must be valid JSON; there is a syntax error at byte " + offset + "."
	}
	twice := func(name string) string {
		return "The `/body/" + name + "` property must be unique; you sent it twice."
	}
	for _, tt := range []struct{ name, body, want string }{
		{"empty", "", at("0")},
		{"byte-order mark", "\ufeff{}", at("0")},
		{"trailing data", "{} x", at("3")},
		{"second value", "{}{}", at("2")},
		{"truncated", `{"a":1`, at("6")},
		{"comment", `{/**/}`, at("1")},
		{"trailing comma", `{"a":1,}`, at("6")},
		{"leading zero", `{"a":01}`, at("6")},
		{"unescaped control character", "{\"a\":\"\n\"}", at("6")},
		{"lone surrogate", `{"a":"\ud800"}`, at("6")},
		{"lone surrogate in a name", `{"\udc00":1}`, at("2")},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", at("6")},
		{"null", "null", "The `/body` must be an object; you sent null."},
		{"array", `[{"a":1.0}]`, "The `/body` must be an object; you sent [{\"a\":1.0}]."},
		{"string", `"<abc>"`, "The `/body` must be an object; you sent \"<abc>\"."},
		{"number", "1e2", "The `/body` must be an object; you sent 1e2."},
		{"duplicate name", `{"a":1,"\u0061":1}`, twice("a")},
		{"duplicate name in an ignored property", `{"x":{"b":[{"c":1,"c":2}]}}`, twice("x/b/0/c")},
		{"duplicate name with a slash and a tilde", `{"a/b~c":1,"a/b~c":1}`, twice("a~1b~0c")},
		{"long duplicate name", `{"` + long + `":1,"` + long + `":1}`, twice(long[:100] + "…")},
		{"names in different letter case", `{"A":1,"a":2}`, ""},
		{"100 levels", nested(100), ""},
		{"101 levels", nested(101), deep},
		{"101 levels of objects", strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101), deep},
		{"50,000 brackets", strings.Repeat("[", 50_000), deep},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := compile(t, `{"type":"object"}`).Decode([]byte(tt.body))
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if got := message(t, err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
