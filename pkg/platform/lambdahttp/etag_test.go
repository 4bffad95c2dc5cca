package lambdahttp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

func TestETag(t *testing.T) {
	t.Parallel()
	a, b := lambdahttp.ETag(map[string]any{"a": 1}), lambdahttp.ETag(map[string]any{"a": 2})
	if a == b || len(a) != 24 || a != lambdahttp.ETag(map[string]any{"a": 1}) {
		t.Errorf("%s and %s", a, b)
	}
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	a, b := lambdahttp.ETag("a"), lambdahttp.ETag("b")
	const missing = "missing" // the tag of a resource that does not exist
	malformed := func(header string) string {
		return "The `" + header + "` header must be `*`, or entity tags in double quotes"
	}
	for _, test := range []struct {
		ifMatch, ifNoneMatch []string // nil: not sent
		tag                  string   // of the resource; empty: it has none
		want                 string   // the beginning of the message; empty: allowed
	}{
		{nil, nil, a, ""},
		{nil, nil, "", ""},
		{[]string{a}, nil, a, ""},
		{[]string{"W/" + a}, nil, a, ""},
		{[]string{"*"}, nil, a, ""},
		{[]string{b + " , " + a}, nil, a, ""},
		{[]string{b, " " + a}, nil, a, ""},
		{[]string{b}, nil, a, "The resource has changed"},
		{[]string{"W/" + b}, nil, a, "The resource has changed"},
		{[]string{b + `,"x,` + "\t" + a}, nil, a, malformed("If-Match")},
		{[]string{`"x,y",` + a}, nil, a, ""},
		{[]string{strings.Trim(a, `"`)}, nil, a, malformed("If-Match")},
		{[]string{""}, nil, a, malformed("If-Match")},
		{[]string{a, "x"}, nil, a, malformed("If-Match")},
		{[]string{"*," + a}, nil, a, malformed("If-Match")},
		{nil, []string{"x"}, a, malformed("If-None-Match")},
		{[]string{"x"}, []string{"x"}, missing, malformed("If-Match")},
		{[]string{`"*"`}, nil, a, "The resource has changed"},
		{[]string{`W/"*"`}, nil, a, "The resource has changed"},
		{[]string{`W/*`}, nil, a, malformed("If-Match")},
		{nil, []string{b}, a, ""},
		{nil, []string{a}, a, "The resource exists"},
		{nil, []string{"W/" + a}, a, "The resource exists"},
		{nil, []string{"*"}, a, "The resource exists"},
		{[]string{a}, []string{"*"}, a, "The resource exists"},
		{[]string{"*"}, nil, "", ""},
		{[]string{a}, nil, "", "The resource has no entity tag"},
		{nil, []string{a}, "", ""},
		{nil, []string{"*"}, "", "The resource exists"},
		{nil, []string{"*"}, missing, ""},
		{nil, []string{a}, missing, ""},
		{[]string{"*"}, nil, missing, "The resource does not exist"},
		{[]string{a}, nil, missing, "The resource does not exist"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
		if test.ifMatch != nil {
			r.Header["If-Match"] = test.ifMatch
		}
		if test.ifNoneMatch != nil {
			r.Header["If-None-Match"] = test.ifNoneMatch
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		kind := apierror.Validation
		if err == nil {
			kind = apierror.PreconditionFailed
			err = preconditions.CheckMissing()
			if test.tag != missing {
				err = preconditions.Check(test.tag)
			}
		}
		got := ""
		if err != nil {
			e := apierror.From(err)
			assert.Equal(t, kind, e.Kind)
			got = e.Message
		}
		if !strings.HasPrefix(got, test.want) || got != "" && test.want == "" {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
