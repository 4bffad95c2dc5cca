package lambdahttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

func TestPrecondition(t *testing.T) {
	t.Parallel()
	a, b := lambdahttp.ETag(map[string]any{"a": 1}), lambdahttp.ETag(map[string]any{"a": 2})
	if a == b || len(a) != 24 || a != lambdahttp.ETag(map[string]any{"a": 1}) {
		t.Errorf("%s and %s", a, b)
	}
	for _, tt := range []struct {
		sent  []string
		match bool
	}{
		{nil, true}, {[]string{a}, true}, {[]string{"*"}, true}, {[]string{b + " , " + a}, true}, {[]string{b, a}, true},
		{[]string{b}, false}, {[]string{"W/" + a}, false}, {[]string{a[1 : len(a)-1]}, false}, {[]string{""}, false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
		r.Header["If-Match"] = tt.sent
		err := lambdahttp.Precondition(r)(a)
		if (err == nil) != tt.match || err != nil && apierror.From(err).Kind != apierror.PreconditionFailed {
			t.Errorf("%q: %v", tt.sent, err)
		}
	}
}
