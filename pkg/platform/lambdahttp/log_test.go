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

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
)

// line returns the only line of the log without its time.
func line(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	var got map[string]any
	assert.OK(t, json.Unmarshal(log.Bytes(), &got)) // it refuses two lines
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
		assert.OK(t, json.Unmarshal([]byte(`{"msg":"request","apiRequestId":"`+requestID+`","method":"PUT",
			"route":"/api/admin/feedback/{id}","milliseconds":1,"principalId":"user:1",`+members+`}`), &want))
		assert.Equal(t, want, line(t, log))
	}
}

func TestLogLineOfALargeResponse(t *testing.T) {
	t.Parallel()
	body, over := "", 0
	handler, log := function(func(w http.ResponseWriter, _ *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	})
	empty, err := handler.Invoke(t.Context(), []byte("{}"))
	assert.OK(t, err)
	for _, want := range [][]any{{"DEBUG", nil}, {"WARN", lambdahttp.LargeResponse + 1.0}} {
		log.Reset()
		body = strings.Repeat("a", lambdahttp.LargeResponse+over-len(empty))
		response, err := handler.Invoke(t.Context(), []byte("{}"))
		assert.OK(t, err)
		assert.Equal(t, lambdahttp.LargeResponse+over, len(response))
		got := line(t, log)
		assert.Equal(t, want, []any{got["level"], got[lambdahttp.ResponseBytes]})
		over++
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
