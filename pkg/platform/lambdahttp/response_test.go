package lambdahttp_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// unavailable is an error of a dependency.
type unavailable struct{ error }

func (unavailable) Unavailable() bool { return true }

func TestResponses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		result error
		status int
	}{
		"":                   {nil, 201},
		"NotFoundError":      {fmt.Errorf("get: %w", apierror.New(apierror.NotFound, "not found")), 404},
		"ServiceUnavailable": {fmt.Errorf("get: %w", unavailable{errors.New("secret")}), 503},
		"InternalError":      {errors.New("secret"), 500},
	} {
		response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
			if tt.result != nil {
				w.Header().Set("Location", "/discarded")
			}
			if err := lambdahttp.WriteJSON(w, http.StatusCreated, map[string]any{"a": []int{}, "é": nil}); err != nil {
				return err
			}
			return tt.result
		})
		want := map[string][]string{
			"Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"}, "X-Request-Id": {requestID},
			"Content-Type": {"application/json"},
		}
		if tt.status == http.StatusServiceUnavailable {
			want["Retry-After"] = []string{"1"}
		}
		if diff := cmp.Diff(want, response.MultiValueHeaders); diff != "" || response.StatusCode != tt.status {
			t.Errorf("status %d, headers (-want +got):\n%s", response.StatusCode, diff)
		}
		if name != "" {
			checkError(t, response, tt.status, name)
		} else if response.Body != `{"a":[],"é":null}` {
			t.Errorf("body %s", response.Body)
		}
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
	if response.StatusCode != http.StatusOK || response.Body != "" {
		t.Errorf("status %d, body %s", response.StatusCode, response.Body)
	}
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
		cause, _ := line(t, log)["cause"].(string)
		if got := http.Header(response.MultiValueHeaders).Get("X-Request-Id"); got != id ||
			!strings.HasPrefix(cause, "decode the proxy event: ") {
			t.Errorf("%s: X-Request-Id %q, cause %q", payload, got, cause)
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
			if want := fmt.Sprintf(`["%[1]s","%[1]s"]`, n); response.Body != want {
				t.Errorf("got %s, want %s", response.Body, want)
			}
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
	if got, err := handler.Invoke(t.Context(), []byte("{}")); err != nil ||
		!bytes.Contains(got, []byte(`"body":"\"<&>\""`)) {
		t.Errorf("%s, %v", got, err)
	}
}
