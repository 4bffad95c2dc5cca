package apierror_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apierror"
)

func TestNamesAndStatuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind   apierror.Kind
		status int
		name   string
	}{
		{apierror.Validation, 400, "ValidationError"},
		{apierror.AuthenticationRequired, 401, "AuthenticationRequired"},
		{apierror.NoAccess, 403, "NoAccessError"},
		{apierror.NotFound, 404, "NotFoundError"},
		{apierror.NameExists, 409, "NameExistsError"},
		{apierror.ContentTooLarge, 413, "ContentTooLarge"},
		{apierror.ContentType, 415, "ContentTypeerror"}, // spelt so in the specification
		{apierror.Internal, 500, "InternalError"},
		{apierror.Unavailable, 503, "ServiceUnavailable"},
		{apierror.Kind(0), 500, "InternalError"},
		{apierror.Kind(99), 500, "InternalError"},
	} {
		t.Run(fmt.Sprintf("%d %s", tt.status, tt.name), func(t *testing.T) {
			t.Parallel()
			if got := tt.kind.Status(); got != tt.status {
				t.Errorf("status %d, want %d", got, tt.status)
			}
			if got := tt.kind.Name(); got != tt.name {
				t.Errorf("name %s, want %s", got, tt.name)
			}
		})
	}
}

func TestStaticTexts(t *testing.T) {
	t.Parallel()
	got := []string{apierror.TextAuthenticationRequired, apierror.TextPathNotAvailable}
	want := []string{"You need a valid credential in the Authorization header.", "The path you were looking for is not available."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts of the contract (-want +got):\n%s", diff)
	}
}

func TestWriteGivesExactlyThreeMembersAllStrings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		failed     *apierror.Error
		status     int
		retryAfter string
		want       map[string]any
	}{
		{
			"a refusal", apierror.New(apierror.NotFound, "not here"), 404, "",
			map[string]any{"id": "the-id", "name": "NotFoundError", "message": "not here"},
		},
		{
			"a cause is never shown", &apierror.Error{Kind: apierror.Validation, Message: "text", Cause: errors.New("table Users in arn:aws:dynamodb")}, 400, "",
			map[string]any{"id": "the-id", "name": "ValidationError", "message": "text"},
		},
		{
			"an internal fault", apierror.From(errors.New("table Users in arn:aws:dynamodb")), 500, "",
			map[string]any{"id": "the-id", "name": "InternalError", "message": apierror.TextInternal},
		},
		{
			"a fault below asks to try again", apierror.NewUnavailable(errors.New("table Users in arn:aws:dynamodb")), 503, "1",
			map[string]any{"id": "the-id", "name": "ServiceUnavailable", "message": apierror.TextUnavailable},
		},
		{
			"quotes, controls and markup", apierror.New(apierror.Validation, "\"\\\x00\n<b>&\u2028"), 400, "",
			map[string]any{"id": "the-id", "name": "ValidationError", "message": "\"\\\x00\n<b>&\u2028"},
		},
		{
			"invalid UTF-8", apierror.New(apierror.Validation, "a\xffb"), 400, "",
			map[string]any{"id": "the-id", "name": "ValidationError", "message": "a\ufffdb"},
		},
		{
			"an empty message", apierror.New(apierror.Validation, ""), 400, "",
			map[string]any{"id": "the-id", "name": "ValidationError", "message": ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			apierror.Write(w, "the-id", tt.failed)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type %q", got)
			}
			if got := w.Header().Get("Retry-After"); got != tt.retryAfter {
				t.Errorf("Retry-After %q, want %q", got, tt.retryAfter)
			}
			var got map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromFindsTheErrorThatIsWrapped(t *testing.T) {
	t.Parallel()
	known := apierror.New(apierror.NotFound, "not here")
	fault := errors.New("connection refused")
	for _, tt := range []struct {
		name string
		err  error
		want *apierror.Error
	}{
		{"itself", known, known},
		{"wrapped", fmt.Errorf("get a type: %w", known), known},
		{"joined", errors.Join(fault, known), known},
		{"the outer of two", &apierror.Error{Kind: apierror.Unavailable, Message: "outer", Cause: known}, &apierror.Error{Kind: apierror.Unavailable, Message: "outer", Cause: known}},
		{"none is an internal fault", fault, &apierror.Error{Kind: apierror.Internal, Message: apierror.TextInternal, Cause: fault}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := apierror.From(tt.err)
			if got.Kind != tt.want.Kind || got.Message != tt.want.Message || !errors.Is(got.Cause, tt.want.Cause) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestTheCauseIsForLogs(t *testing.T) {
	t.Parallel()
	fault := errors.New("connection refused")
	e := apierror.NewUnavailable(fault)
	if got := e.Error(); got != "ServiceUnavailable: connection refused" {
		t.Errorf("with a cause: %q", got)
	}
	if !errors.Is(e, fault) {
		t.Error("the cause is not unwrapped")
	}
	if got := apierror.New(apierror.NotFound, "not here").Error(); got != "NotFoundError: not here" {
		t.Errorf("without a cause: %q", got)
	}
}
