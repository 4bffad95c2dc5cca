package lambdahttp_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
)

// unavailable is an error of a dependency.
type unavailable struct{ error }

func (unavailable) Unavailable() bool { return true }

func TestResponses(t *testing.T) {
	t.Parallel()
	failed := errors.New("secret")
	for name, result := range map[string]error{
		"":                       nil,
		"404 NotFoundError":      fmt.Errorf("get: %w", apierror.New(apierror.NotFound, "not found")),
		"503 ServiceUnavailable": fmt.Errorf("get: %w", unavailable{failed}),
		"500 InternalError":      failed,
	} {
		response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
			if result != nil {
				w.Header().Set("Location", "/discarded")
			}
			assert.OK(t, lambdahttp.WriteJSON(w, http.StatusCreated, map[string]any{"a": []int{}, "é": nil}))
			return result
		})
		want := map[string][]string{
			"Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"}, "X-Request-Id": {requestID},
			"Content-Type": {"application/json"},
		}
		if response.StatusCode == http.StatusServiceUnavailable {
			want["Retry-After"] = []string{"1"}
		}
		assert.Equal(t, want, response.MultiValueHeaders)
		if result == nil {
			assert.Equal(t, `201 {"a":[],"é":null}`, fmt.Sprint(response.StatusCode, " ", response.Body))
			continue
		}
		status, errorName, _ := strings.Cut(name, " ")
		assert.Equal(t, status, strconv.Itoa(response.StatusCode))
		checkError(t, response, response.StatusCode, errorName)
	}
}

func TestWriteJSONWritesNothingIfItFails(t *testing.T) {
	t.Parallel()
	response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
		if err := lambdahttp.WriteJSON(w, http.StatusCreated, func() {}); err == nil {
			t.Error("a function is encoded")
		}
		return nil
	})
	assert.Equal(t, "200 ", fmt.Sprint(response.StatusCode, " ", response.Body))
}

func TestMalformedEventIsA500(t *testing.T) {
	t.Parallel()
	for payload, id := range map[string]string{
		"": "", "[]": "", `{"requestContext":{"requestId":"r"},"httpMethod":7}`: "r",
		`{"requestContext":{"requestId":"r"},"multiValueHeaders":{"a":"b"}}`: "r",
	} {
		handler, log := function(nil) // is not called
		response := invoke(t, handler, []byte(payload))
		checkError(t, response, 500, "InternalError")
		assert.Equal(t, id, http.Header(response.MultiValueHeaders).Get("X-Request-Id"))
		if cause := fmt.Sprint(line(t, log)["cause"]); !strings.HasPrefix(cause, "decode the proxy event: ") {
			t.Errorf("%s: cause %q", payload, cause)
		}
	}
}

func TestConcurrentInvocations(t *testing.T) {
	t.Parallel()
	handler := lambdahttp.New(func(w http.ResponseWriter, r *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusOK,
			[]string{r.PathValue("id"), lambdahttp.GatewayFrom(r.Context()).RequestID})
	}, lambdahttp.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now, NewID: func() string { return errorID }})
	var clients sync.WaitGroup
	for i := range 32 {
		clients.Go(func() {
			n := strconv.Itoa(i)
			response := invoke(t, handler,
				sample(t, func(e *event) { e.PathParameters["id"], e.RequestContext.RequestID = n, n }))
			assert.Equal(t, fmt.Sprintf(`["%[1]s","%[1]s"]`, n), response.Body)
		})
	}
	clients.Wait()
}

// Responses have a limit of 6 MB, and an escape is six bytes.
func TestNoCharacterIsEscapedForHTML(t *testing.T) {
	t.Parallel()
	handler, _ := function(func(w http.ResponseWriter, _ *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusOK, "<&>")
	})
	got, err := handler.Invoke(t.Context(), []byte("{}"))
	assert.OK(t, err)
	if !strings.Contains(string(got), `"body":"\"<&>\""`) {
		t.Error(string(got))
	}
}
