package apierror_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	check := func(want string, failure *apierror.Error) {
		t.Helper()
		w := httptest.NewRecorder()
		apierror.Write(w, "the-id", failure)
		got := fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After"), " ", strings.TrimSpace(w.Body.String()))
		if got != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got %s\nwant %s\nheaders %v", got, want, w.Header())
		}
	}
	for i, name := range strings.Fields(`500_InternalError 401_AuthenticationRequired 403_NoAccessError
		415_ContentTypeerror 413_ContentTooLarge 400_ValidationError 404_NotFoundError 409_NameExistsError
		409_ConflictError 412_PreconditionFailed`) { // ContentTypeerror is the spelling of api/openapi.yaml
		status, name, _ := strings.Cut(name, "_")
		check(status+`  {"id":"the-id","name":"`+name+`","message":"m"}`, apierror.New(apierror.Kind(i), "m"))
	}
	cause := errors.New("table Users in arn:aws:dynamodb")
	check(`400  {"id":"the-id","name":"ValidationError","message":"\"\\\n\u003cb\u003eé"}`,
		apierror.New(apierror.Validation, "\"\\\n<b>é"))
	check(`400  {"id":"the-id","name":"ValidationError","message":"a\ufffdb"}`, apierror.New(apierror.Validation, "a\xffb"))
	check(`500  {"id":"the-id","name":"InternalError","message":"Something went wrong on our side. Please try again."}`,
		apierror.From(cause))
	check(`503 1 {"id":"the-id","name":"ServiceUnavailable",`+
		`"message":"The service cannot reach its data at the moment. Please try again."}`, apierror.NewUnavailable(cause))
}

// dependencyError reports whether it is true.
type dependencyError bool

func (dependencyError) Error() string { return "connection refused" }

func (e dependencyError) Unavailable() bool { return bool(e) }

func TestFrom(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"NotFoundError: m": fmt.Errorf("get: %w", apierror.New(apierror.NotFound, "m")),
		"ServiceUnavailable: get: connection refused": fmt.Errorf("get: %w", dependencyError(true)),
		"InternalError: get: connection refused":      fmt.Errorf("get: %w", dependencyError(false)),
		"InternalError: m":                            errors.New("m"),
	} {
		got := apierror.From(err)
		if got.Error() != want || got.Cause != nil && !errors.Is(got, err) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}
