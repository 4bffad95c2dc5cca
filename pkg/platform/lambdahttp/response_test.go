package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
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
	for _, tt := range []struct {
		name       string
		result     error
		status     int
		error      string
		retryAfter []string
	}{
		{"success", nil, 201, "", nil},
		{"API error", fmt.Errorf("get: %w", apierror.New(apierror.NotFound, "not found")), 404, "NotFoundError", nil},
		{"unavailable dependency", fmt.Errorf("get: %w", unavailable{errors.New("secret")}), 503, "ServiceUnavailable",
			[]string{"1"}},
		{"other error", errors.New("secret"), 500, "InternalError", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
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
			if tt.retryAfter != nil {
				want["Retry-After"] = tt.retryAfter
			}
			if diff := cmp.Diff(want, response.MultiValueHeaders); diff != "" || response.StatusCode != tt.status {
				t.Errorf("status %d, headers (-want +got):\n%s", response.StatusCode, diff)
			}
			if tt.error != "" {
				checkError(t, response, tt.status, tt.error)
			} else if response.Body != `{"a":[],"é":null}` {
				t.Errorf("body %s", response.Body)
			}
		})
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
	for _, tt := range []struct {
		name, payload string
		requestIDs    []string
	}{
		{"empty", "", nil},
		{"not an object", "[]", nil},
		{"wrong type", `{"requestContext":{"requestId":"r"},"httpMethod":7}`, []string{"r"}},
		{"wrong type of a header", `{"requestContext":{"requestId":"r"},"multiValueHeaders":{"a":"b"}}`, []string{"r"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			handler, _ := function(func(http.ResponseWriter, *http.Request) error {
				t.Error("handler called")
				return nil
			})
			response := invoke(t, handler, []byte(tt.payload))
			checkError(t, response, 500, "InternalError")
			if got := response.MultiValueHeaders["X-Request-Id"]; !cmp.Equal(got, tt.requestIDs) {
				t.Errorf("X-Request-Id %q, want %q", got, tt.requestIDs)
			}
		})
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
	payload, err := json.Marshal(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := handler.Invoke(t.Context(), payload); err != nil || !bytes.Contains(got, []byte(`"body":"\"<&>\""`)) {
		t.Errorf("%s, %v", got, err)
	}
}
