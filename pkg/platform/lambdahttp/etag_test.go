package lambdahttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestPrecondition(t *testing.T) {
	t.Parallel()
	a, b := lambdahttp.ETag(map[string]any{"a": 1}), lambdahttp.ETag(map[string]any{"a": 2})
	if a == b || len(a) != 24 || a != lambdahttp.ETag(map[string]any{"a": 1}) {
		t.Errorf("%s and %s", a, b)
	}
	tags := strings.NewReplacer("BARE", a[1:len(a)-1], "A", a, "B", b)
	for _, row := range table.Rows(t, 2, `
		# values of If-Match, separated by semicolons | match
		A | true
		* | true
		B , A | true
		B; A | true
		B | false
		W/A | false
		BARE | false
		"" | false
	`) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
		assert.OK(t, lambdahttp.Precondition(r)(a))
		r.Header["If-Match"] = strings.Split(tags.Replace(row[0]), ";")
		err := lambdahttp.Precondition(r)(a)
		if fmt.Sprint(err == nil) != row[1] || err != nil && apierror.From(err).Kind != apierror.PreconditionFailed {
			t.Errorf("%s: %v", row[0], err)
		}
	}
}
