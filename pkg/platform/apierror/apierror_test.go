package apierror_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/apierror"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	cause := errors.New("table Users in arn:aws:dynamodb")
	for _, tt := range []struct {
		error      *apierror.Error
		status     int
		name       string
		message    string
		retryAfter string
	}{
		{apierror.New(apierror.Validation, "\"\\\n<b>é"), 400, "ValidationError", "\"\\\n<b>é", ""},
		{apierror.New(apierror.Validation, "a\xffb"), 400, "ValidationError", "a\ufffdb", ""},
		{apierror.New(apierror.AuthenticationRequired, "m"), 401, "AuthenticationRequired", "m", ""},
		{apierror.New(apierror.NoAccess, "m"), 403, "NoAccessError", "m", ""},
		{apierror.New(apierror.NotFound, "m"), 404, "NotFoundError", "m", ""},
		{apierror.New(apierror.NameExists, "m"), 409, "NameExistsError", "m", ""},
		{apierror.New(apierror.Conflict, "m"), 409, "ConflictError", "m", ""},
		{apierror.New(apierror.ContentTooLarge, "m"), 413, "ContentTooLarge", "m", ""},
		{apierror.New(apierror.ContentType, "m"), 415, "ContentTypeerror", "m", ""}, // the specification's spelling
		{apierror.From(cause), 500, "InternalError", "Something went wrong on our side. Please try again.", ""},
		{apierror.NewUnavailable(cause), 503, "ServiceUnavailable",
			"The service cannot reach its data at the moment. Please try again.", "1"},
	} {
		t.Run(fmt.Sprintf("%d %q", tt.status, tt.message), func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			apierror.Write(w, "the-id", tt.error)
			if w.Code != tt.status || w.Header().Get("Content-Type") != "application/json" ||
				w.Header().Get("Retry-After") != tt.retryAfter {
				t.Errorf("status %d, headers %v", w.Code, w.Header())
			}
			var got map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]any{"id": "the-id", "name": tt.name, "message": tt.message}, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// dependencyError reports whether it is true.
type dependencyError bool

func (dependencyError) Error() string { return "connection refused" }

func (e dependencyError) Unavailable() bool { return bool(e) }

func TestFrom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		err        error
	}{
		{"API error", "NotFoundError: m", fmt.Errorf("get: %w", apierror.New(apierror.NotFound, "m"))},
		{"unavailable dependency", "ServiceUnavailable: get: connection refused",
			fmt.Errorf("get: %w", dependencyError(true))},
		{"dependency error", "InternalError: get: connection refused", fmt.Errorf("get: %w", dependencyError(false))},
		{"other error", "InternalError: m", errors.New("m")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := apierror.From(tt.err)
			if got.Error() != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
			if got.Cause != nil && !errors.Is(got, tt.err) {
				t.Error("the cause is not unwrapped")
			}
		})
	}
}
