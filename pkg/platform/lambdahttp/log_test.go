package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// line returns the only line of the log without its time.
func line(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	if n := bytes.Count(log.Bytes(), []byte("\n")); n != 1 {
		t.Fatalf("%d lines, want 1:\n%s", n, log)
	}
	var got map[string]any
	if err := json.Unmarshal(log.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, slog.TimeKey)
	return got
}

// The tests of the log send secret in places that must not be logged.
const secret = "text of the client"

func TestLogLine(t *testing.T) {
	t.Parallel()
	for members, result := range map[string]error{
		`"level":"DEBUG","status":200`: nil,
		// neither the message nor the cause
		`"level":"INFO","status":400,"errorId":"` + errorID + `","error":"ValidationError"`: &apierror.Error{
			Kind: apierror.Validation, Message: secret, Cause: errors.New(secret)},
		`"level":"ERROR","status":503,"errorId":"` + errorID + `","error":"ServiceUnavailable","cause":"get: refused"`: fmt.Errorf("get: %w", unavailable{errors.New("refused")}),
		`"level":"ERROR","status":500,"errorId":"` + errorID + `","error":"InternalError","cause":"two\nlines"`:        errors.New("two\nlines"),
	} {
		handler, log := function(func(w http.ResponseWriter, _ *http.Request) error {
			if result != nil {
				return result
			}
			return lambdahttp.WriteJSON(w, http.StatusOK, secret)
		})
		invoke(t, handler, sample(t, func(e *event) { e.Body = secret }))
		var want map[string]any
		if err := json.Unmarshal([]byte(`{"msg":"request","apiRequestId":"`+requestID+`","method":"PUT",
			"route":"/api/admin/feedback/{id}","milliseconds":1,"principalId":"user:1",`+members+`}`), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, line(t, log)); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	}
}

func TestLogLineOfALargeResponse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size  int // of the whole response
		level string
		bytes any
	}{
		{lambdahttp.LargeResponse, "DEBUG", nil},
		{lambdahttp.LargeResponse + 1, "WARN", lambdahttp.LargeResponse + 1.0},
	} {
		body := ""
		handler, log := function(func(w http.ResponseWriter, _ *http.Request) error {
			return lambdahttp.WriteJSON(w, http.StatusOK, body)
		})
		size := func() int {
			log.Reset()
			response, err := handler.Invoke(t.Context(), []byte("{}"))
			if err != nil {
				t.Fatal(err)
			}
			return len(response)
		}
		body = strings.Repeat("a", tt.size-size())
		if n := size(); n != tt.size {
			t.Fatalf("the response has %d bytes, want %d", n, tt.size)
		}
		if got := line(t, log); got["level"] != tt.level || got[lambdahttp.ResponseBytes] != tt.bytes {
			t.Errorf("%d bytes: %v", tt.size, got)
		}
	}
}

func TestLogLineOfAPanicHasTheStack(t *testing.T) {
	t.Parallel()
	handler, log := function(func(http.ResponseWriter, *http.Request) error { panic("unexpected") })
	invoke(t, handler, sample(t))
	if cause, _ := line(t, log)["cause"].(string); !strings.Contains(cause, "unexpected") ||
		!strings.Contains(cause, "log_test.go") {
		t.Errorf("cause %q", cause)
	}
}
