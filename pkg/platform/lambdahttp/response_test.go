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
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

// unavailable is an error of a dependency.
type unavailable struct{ error }

func (unavailable) Unavailable() bool { return true }

// fail returns a handler that fails after it has written a response.
func fail(err error) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Location", "/discarded")
		return errors.Join(lambdahttp.WriteJSON(w, http.StatusCreated, secret), err)
	}
}

func panics(value any) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusCreated)
		panic(value)
	}
}

// write returns a handler that writes a value as JSON.
func write(v any) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusCreated, v)
	}
}

// TestResponses compares responses and their lines of the log. Each handler with several calls of the ResponseWriter
// fails without the guard against a defect of the proxy library.
func TestResponses(t *testing.T) {
	t.Parallel()
	handlers := map[string]lambdahttp.HandlerFunc{
		"JSON": write(map[string]any{"a": []int{}, "é": "<&>"}), "no JSON": write(func() {}),
		"refusal": fail(fmt.Errorf("get: %w",
			&apierror.Error{Kind: apierror.Validation, Message: secret, Cause: errors.New(secret)})),
		"dependency": fail(fmt.Errorf("get: %w", unavailable{errors.New("refused")})), "error": fail(errors.New("two\nlines")),
		"panic": panics(errors.New("unexpected")), "panic of net/http": panics(http.ErrAbortHandler), "panic of nil": panics(nil),
		"panic of a refusal": panics(apierror.New(apierror.NotFound, "missing")),
		"no status": func(w http.ResponseWriter, _ *http.Request) error {
			if err := lambdahttp.WriteJSON(w, http.StatusCreated, func() {}); err == nil {
				t.Error("a function is encoded")
			}
			w.WriteHeader(http.StatusEarlyHints)
			return nil
		},
		"body alone": func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write([]byte("<html>"))
			return err
		},
		"several statuses": func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("X-Before", "a")
			w.WriteHeader(http.StatusProcessing)
			w.Header().Set("X-Between", "b")
			w.WriteHeader(http.StatusCreated)
			w.WriteHeader(http.StatusTeapot)
			w.Header().Set("X-After", "c")
			w.Header().Set("X-Before", "changed")
			_, _ = w.Write([]byte("one, "))
			_, err := w.Write([]byte("two"))
			return err
		},
	}
	const failed = `500 {"id":"E","name":"InternalError","message":"Something went wrong on our side. Please try again."}`
	// cause is the line of the log of an unexpected error.
	cause := func(text string) string {
		return `{"level":"ERROR","status":500,"errorId":"E","error":"InternalError","cause":"` + text + `"}`
	}
	for _, test := range []struct {
		handler  string
		response string // with the headers if they are not the usual ones
		line     string // of the log
	}{
		{"JSON", `201 {"a":[],"é":"<&>"}`, `{"level":"DEBUG","status":201}`},
		// neither the message nor the cause is logged
		{
			"refusal",
			`400 {"id":"E","name":"ValidationError","message":"text of the client"}`,
			`{"level":"INFO","status":400,"errorId":"E","error":"ValidationError"}`,
		},
		{
			"dependency",
			`503 {"id":"E","name":"ServiceUnavailable","message":"The service cannot reach its data at the moment. Please try again."} map[Content-Type:[application/json] Retry-After:[1] X-Request-Id:[R]]`,
			`{"level":"ERROR","status":503,"errorId":"E","error":"ServiceUnavailable","cause":"get: refused"}`,
		},
		{"error", failed, cause(`two\nlines`)},
		{"no JSON", failed, cause(`encode the response: json: unsupported type: func()`)},
		{"panic", failed, cause(`the handler panicked: unexpected`)},
		{"panic of net/http", failed, cause(`the handler panicked: net/http: abort Handler`)},
		{"panic of nil", failed, cause(`the handler panicked: panic called with nil argument`)},
		{"panic of a refusal", failed, cause(`the handler panicked: NotFoundError: missing`)},
		{"no status", "200  map[X-Request-Id:[R]]", `{"level":"DEBUG","status":200}`},
		{"body alone", "200 <html>", `{"level":"DEBUG","status":200}`},
		{
			"several statuses",
			"201 one, two map[Content-Type:[text/plain] X-Before:[a] X-Between:[b] X-Request-Id:[R]]",
			`{"level":"DEBUG","status":201}`,
		},
	} {
		handler, log := function(handlers[test.handler])
		response := strings.TrimSuffix(invoke(t, handler, event("")), " map[Content-Type:[application/json] X-Request-Id:[R]]")
		assert.Equal(t, []string{test.response, test.line}, []string{strings.TrimSpace(response), logged(log)})
	}
}

func TestMalformedEvents(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ event, want string }{
		{"", `map[Content-Type:[application/json]] {"level":"ERROR","msg":"request","apiRequestId":"","method":"",`},
		{"[]", `map[Content-Type:[application/json]] {"level":"ERROR","msg":"request","apiRequestId":"","method":"",`},
		{
			`{"requestContext":{"requestId":"r"},"httpMethod":7}`,
			`map[Content-Type:[application/json] X-Request-Id:[r]] {"level":"ERROR","msg":"request","apiRequestId":"r",`,
		},
		{
			`{"requestContext":{"requestId":"r"},"multiValueHeaders":{"a":"b"}}`,
			`map[Content-Type:[application/json] X-Request-Id:[r]] {"level":"ERROR","msg":"request","apiRequestId":"r",`,
		},
	} {
		handler, log := function(nil) // is not called
		got := invoke(t, handler, []byte(test.event)) + " " + logged(log)
		if !strings.Contains(got, test.want) || !strings.Contains(got, `"cause":"decode the event: `) {
			t.Errorf("%s: %s", test.event, got)
		}
	}
}

func TestLargeResponse(t *testing.T) {
	t.Parallel()
	handler, _ := function(write(""))
	empty, err := handler.Invoke(t.Context(), event(""))
	assert.OK(t, err)
	for i, want := range []string{`{"level":"DEBUG","status":201}`,
		`{"level":"WARN","status":201,"responseBytes":4000001}`} {
		handler, log := function(write(strings.Repeat("a", 4_000_000+i-len(empty))))
		_, err := handler.Invoke(t.Context(), event(""))
		assert.OK(t, err)
		assert.Equal(t, want, logged(log))
	}
}

func TestConcurrentInvocations(t *testing.T) {
	t.Parallel()
	handler := lambdahttp.New(func(w http.ResponseWriter, r *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusOK, r.PathValue("id")+apigateway.RequestFrom(r.Context()).ID)
	}, lambdahttp.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	var clients sync.WaitGroup
	for i := range 32 {
		clients.Go(func() {
			n := strconv.Itoa(i)
			got := invoke(t, handler, event(`"pathParameters":{"id":"`+n+`"},"requestContext":{"requestId":"`+n+`","extendedRequestId":"`+n+`"}`))
			assert.Equal(t, `200 "`+n+n+`" map[Content-Type:[application/json] X-Request-Id:[`+n+`]]`, got)
		})
	}
	clients.Wait()
}
