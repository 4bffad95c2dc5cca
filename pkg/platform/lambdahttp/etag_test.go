package lambdahttp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
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
	tags := strings.NewReplacer("BARE", strings.Trim(a, `"`), "A", a, "B", b, "none", "")
	for _, row := range table.Rows(t, 4, `
		# If-Match and If-None-Match, as values separated by semicolons | entity tag | result
		none | none | A | allowed
		none | none | none | allowed
		A | none | A | allowed
		W/A | none | A | allowed
		* | none | A | allowed
		B , A | none | A | allowed
		B; A | none | A | allowed
		B | none | A | The resource has changed
		W/B | none | A | The resource has changed
		BARE | none | A | The resource has changed
		"" | none | A | The resource has changed
		none | B | A | allowed
		none | A | A | The resource exists
		none | W/A | A | The resource exists
		none | * | A | The resource exists
		A | * | A | The resource exists
		# a resource without a tag
		* | none | none | allowed
		A | none | none | The resource has no entity tag
		"" | none | none | The resource has no entity tag
		none | A | none | allowed
		none | * | none | The resource exists
		# a resource that does not exist
		none | * | missing | allowed
		none | A | missing | allowed
		* | none | missing | The resource does not exist
		A | none | missing | The resource does not exist
	`) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
		for i, name := range []string{"If-Match", "If-None-Match"} {
			if row[i] != "none" {
				r.Header[name] = strings.Split(tags.Replace(row[i]), ";")
			}
		}
		preconditions := lambdahttp.PreconditionsOf(r)
		err := preconditions.CheckMissing()
		if row[2] != "missing" {
			err = preconditions.Check(tags.Replace(row[2]))
		}
		got := "allowed"
		if err != nil {
			e := apierror.From(err)
			assert.Equal(t, apierror.PreconditionFailed, e.Kind)
			got = e.Message
		}
		if !strings.HasPrefix(got, row[3]) {
			t.Errorf("%s: %s", row, got)
		}
	}
}
