package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/lambdahttp"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// line is the one line that the log must hold, without its time.
func line(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	if n := bytes.Count(log.Bytes(), []byte("\n")); n != 1 {
		t.Fatalf("%d lines, want one:\n%s", n, log)
	}
	var got map[string]any
	if err := json.Unmarshal(log.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, slog.TimeKey)
	return got
}

func TestOneLogLineARequest(t *testing.T) {
	t.Parallel()
	const secret = "what the caller sent"
	for _, tt := range []struct {
		name  string
		serve lambdahttp.HandlerFunc
		want  map[string]any // beside what every line has
	}{
		{
			"an answer", func(w http.ResponseWriter, _ *http.Request) error {
				return lambdahttp.WriteJSON(w, http.StatusCreated, secret)
			},
			map[string]any{"level": "INFO", "status": 201.0},
		},
		{
			"a refusal is Info with the error's id", func(http.ResponseWriter, *http.Request) error { return apierror.New(apierror.Validation, secret) },
			map[string]any{"level": "INFO", "status": 400.0, "errorId": errorID, "error": "ValidationError"},
		},
		{
			"a refusal's cause is not logged", func(http.ResponseWriter, *http.Request) error {
				return &apierror.Error{Kind: apierror.NotFound, Message: secret, Cause: errors.New(secret)}
			},
			map[string]any{"level": "INFO", "status": 404.0, "errorId": errorID, "error": "NotFoundError"},
		},
		{
			"a fault below is Error with its cause", func(http.ResponseWriter, *http.Request) error { return apierror.NewUnavailable(errors.New("refused")) },
			map[string]any{"level": "ERROR", "status": 503.0, "errorId": errorID, "error": "ServiceUnavailable", "cause": "refused"},
		},
		{
			"an unknown error is Error with its cause", func(http.ResponseWriter, *http.Request) error { return errors.New("refused\nin two lines") },
			map[string]any{"level": "ERROR", "status": 500.0, "errorId": errorID, "error": "InternalError", "cause": "refused\nin two lines"},
		},
		{
			"a long cause is cut", func(http.ResponseWriter, *http.Request) error { return errors.New(strings.Repeat("x", 5000)) },
			map[string]any{"level": "ERROR", "status": 500.0, "errorId": errorID, "error": "InternalError", "cause": strings.Repeat("x", 4096) + "…"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			event := sample(t)
			event.Body = secret
			handler, log := function(tt.serve)
			call(t.Context(), t, handler, event)
			if logged := log.String(); strings.Contains(logged, secret) || strings.Contains(logged, "v2_") || strings.Contains(logged, "autumn") {
				t.Errorf("a body, a token or a path parameter is logged: %s", logged)
			}
			want := map[string]any{
				"msg": "request", "apiRequestId": requestID, "method": "PUT", "route": "/api/admin/feedback/{id}", "milliseconds": 1.0, "principalId": "user:1",
			}
			maps.Copy(want, tt.want)
			if diff := cmp.Diff(want, line(t, log)); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPanicIsLoggedWithItsStack(t *testing.T) {
	t.Parallel()
	handler, log := function(func(http.ResponseWriter, *http.Request) error { panic("out of the blue") })
	call(t.Context(), t, handler, sample(t))
	got := line(t, log)
	cause, _ := got["cause"].(string)
	if got["level"] != "ERROR" || got["errorId"] != errorID || !strings.Contains(cause, "out of the blue") || !strings.Contains(cause, "log_test.go") {
		t.Errorf("line %v", got)
	}
}

func TestWhatNeverReachesTheHandlerIsLoggedToo(t *testing.T) {
	t.Parallel()
	serve := func(http.ResponseWriter, *http.Request) error { return nil }
	library := sample(t)
	library.Resource = "/%zz"
	for name, event := range map[string]any{"a malformed event": []byte("{"), "an error of the library": library} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler, log := function(serve)
			call(t.Context(), t, handler, event)
			got := line(t, log)
			if cause, _ := got["cause"].(string); got["level"] != "ERROR" || got["errorId"] != errorID || got["status"] != 500.0 || cause == "" {
				t.Errorf("line %v", got)
			}
		})
	}
}

func TestWithoutAnAuthorizerThePrincipalIsEmpty(t *testing.T) {
	t.Parallel()
	event := sample(t)
	event.RequestContext = events.APIGatewayProxyRequestContext{RequestID: "r"}
	handler, log := function(func(http.ResponseWriter, *http.Request) error { return nil })
	call(t.Context(), t, handler, event)
	if got := line(t, log); got["principalId"] != "" || got["apiRequestId"] != "r" {
		t.Errorf("line %v", got)
	}
}
