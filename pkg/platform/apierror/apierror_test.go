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
	cause := errors.New("table Users in arn:aws:dynamodb")
	for want, failure := range map[string]*apierror.Error{
		`400  {"id":"the-id","name":"ValidationError","message":"\"\\\n\u003cb\u003eé"}`: apierror.New(apierror.Validation, "\"\\\n<b>é"),
		`400  {"id":"the-id","name":"ValidationError","message":"a\ufffdb"}`:             apierror.New(apierror.Validation, "a\xffb"),
		`401  {"id":"the-id","name":"AuthenticationRequired","message":"m"}`:             apierror.New(apierror.AuthenticationRequired, "m"),
		`403  {"id":"the-id","name":"NoAccessError","message":"m"}`:                      apierror.New(apierror.NoAccess, "m"),
		`404  {"id":"the-id","name":"NotFoundError","message":"m"}`:                      apierror.New(apierror.NotFound, "m"),
		`409  {"id":"the-id","name":"NameExistsError","message":"m"}`:                    apierror.New(apierror.NameExists, "m"),
		`409  {"id":"the-id","name":"ConflictError","message":"m"}`:                      apierror.New(apierror.Conflict, "m"),
		`412  {"id":"the-id","name":"PreconditionFailed","message":"m"}`:                 apierror.New(apierror.PreconditionFailed, "m"),
		`413  {"id":"the-id","name":"ContentTooLarge","message":"m"}`:                    apierror.New(apierror.ContentTooLarge, "m"),
		// the specification's spelling
		`415  {"id":"the-id","name":"ContentTypeerror","message":"m"}`:                                                apierror.New(apierror.ContentType, "m"),
		`500  {"id":"the-id","name":"InternalError","message":"Something went wrong on our side. Please try again."}`: apierror.From(cause),
		`503 1 {"id":"the-id","name":"ServiceUnavailable",` +
			`"message":"The service cannot reach its data at the moment. Please try again."}`: apierror.NewUnavailable(cause),
	} {
		w := httptest.NewRecorder()
		apierror.Write(w, "the-id", failure)
		got := fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After"), " ", strings.TrimSpace(w.Body.String()))
		if got != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got %s\nwant %s\nheaders %v", got, want, w.Header())
		}
	}
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
