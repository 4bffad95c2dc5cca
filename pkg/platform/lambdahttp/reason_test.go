package lambdahttp_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

func TestWithReason(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sent []string
		want string
	}{
		{nil, ""},
		{[]string{""}, ""},
		{[]string{"%20"}, ""},
		{[]string{"Rollout%20f%C3%BCr%20alle%20(50%25)"}, "Rollout für alle (50%)"},
		{[]string{"1 + 1"}, "1 + 1"},
		{[]string{url.PathEscape(strings.Repeat("ü", 300))}, strings.Repeat("ü", 300)},
	} {
		got, err := reasonWith(test.sent)
		assert.OK(t, err)
		assert.Equal(t, test.want, got)
	}
	for _, sent := range []string{"50%", "%FF", "a%0Ab", strings.Repeat("a", 301)} {
		_, err := reasonWith([]string{sent})
		assert.Equal(t, apierror.Validation, apierror.KindOf(err))
	}
}

// reasonWith returns the reason that a handler gets for the values of the header.
func reasonWith(sent []string) (got string, err error) {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header[lambdahttp.ReasonHeader] = sent
	err = lambdahttp.WithReason(func(_ http.ResponseWriter, r *http.Request) error {
		got = apigateway.RequestFrom(r.Context()).Reason
		return nil
	})(httptest.NewRecorder(), r)
	return got, err
}
