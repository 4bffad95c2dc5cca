package lambdahttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

// Only a client that asks for details gets more than the three properties.
func TestErrorDetails(t *testing.T) {
	t.Parallel()
	const (
		withoutDetails = `{"id":"1","name":"ValidationError","message":"The ` + "`/body/n`" + ` property is required; you did not send it."`
		details        = `,"details":[{"path":"/body/n","keyword":"required","message":"The value is required."}]`
	)
	for _, test := range []struct {
		prefer []string
		want   string
	}{
		{nil, ""}, {[]string{"details"}, ""}, {[]string{"error-details"}, details},
		{[]string{"wait=1, Error-Details "}, details}, {[]string{"wait=1", "error-details"}, details},
	} {
		w := httptest.NewRecorder()
		lambdahttp.WriteError(w, http.Header{"Prefer": test.prefer}, "1", apierror.Invalid(apierror.Missing("/body/n")))
		assert.Equal(t, withoutDetails+test.want+"}", w.Body.String())
	}
	w := httptest.NewRecorder()
	lambdahttp.WriteError(w, http.Header{"Prefer": {"error-details"}}, "1", apierror.New(apierror.NotFound, "There is none."))
	assert.Equal(t, `{"id":"1","name":"NotFoundError","message":"There is none."}`, w.Body.String())
}

func TestWriteError(t *testing.T) {
	t.Parallel()
	check := func(want string, failure error) {
		t.Helper()
		w := httptest.NewRecorder()
		lambdahttp.WriteError(w, nil, "the-id", failure)
		got := fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After"), w.Header().Get("WWW-Authenticate"), " ", strings.TrimSpace(w.Body.String()))
		if got != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got %s\nwant %s\nheaders %v", got, want, w.Header())
		}
	}
	for i, name := range strings.Fields(`500_InternalError 401_AuthenticationRequired 403_NoAccessError
		415_ContentTypeerror 413_ContentTooLarge 400_ValidationError 404_NotFoundError 409_NameExistsError
		409_ConflictError 412_PreconditionFailed`) { // ContentTypeerror is the spelling of api/openapi.yaml
		status, name, _ := strings.Cut(name, "_")
		challenge := ""
		if status == "401" {
			challenge = "Bearer"
		}
		check(status+` `+challenge+` {"id":"the-id","name":"`+name+`","message":"m"}`, apierror.New(apierror.Kind(i), "m"))
	}
	cause := errors.New("table Users in arn:aws:dynamodb")
	check(`400  {"id":"the-id","name":"ValidationError","message":"\"\\\n\u003cb\u003eé"}`,
		apierror.New(apierror.Validation, "\"\\\n<b>é"))
	check(`400  {"id":"the-id","name":"ValidationError","message":"a\ufffdb"}`, apierror.New(apierror.Validation, "a\xffb"))
	check(`500  {"id":"the-id","name":"InternalError","message":"Something went wrong on our side. Please try again."}`,
		cause)
	check(`503 1 {"id":"the-id","name":"ServiceUnavailable",`+
		`"message":"The service cannot reach its data at the moment. Please try again."}`, apierror.NewUnavailable(cause))
}
