package lambdahttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/lambdahttp"
)

func TestEveryAnswerCarriesTheHeaders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		serve  lambdahttp.HandlerFunc
		change func(*events.APIGatewayProxyRequest)
	}{
		{"an answer", 200, func(w http.ResponseWriter, _ *http.Request) error { return lambdahttp.WriteJSON(w, http.StatusOK, 7) }, nil},
		{"an empty answer", 200, func(http.ResponseWriter, *http.Request) error { return nil }, nil},
		{"a refusal", 404, func(http.ResponseWriter, *http.Request) error { return apierror.New(apierror.NotFound, "no") }, nil},
		{"a fault below", 503, func(http.ResponseWriter, *http.Request) error { return apierror.NewUnavailable(errors.New("no")) }, nil},
		{"a panic", 500, func(http.ResponseWriter, *http.Request) error { panic("no") }, nil},
		{"an error of the library", 500, func(http.ResponseWriter, *http.Request) error { return nil }, func(e *events.APIGatewayProxyRequest) { e.Resource = "/%zz" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			change := tt.change
			if change == nil {
				change = func(*events.APIGatewayProxyRequest) {}
			}
			answer := serveSample(t, tt.serve, change)
			want := map[string][]string{
				"Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"}, "X-Request-Id": {requestID}, "Content-Type": {"application/json"},
			}
			if tt.status == http.StatusServiceUnavailable {
				want["Retry-After"] = []string{"1"}
			}
			if diff := cmp.Diff(want, answer.MultiValueHeaders); diff != "" || answer.StatusCode != tt.status || answer.Headers != nil {
				t.Errorf("status %d, single headers %v, headers (-want +got):\n%s", answer.StatusCode, answer.Headers, diff)
			}
		})
	}
}

func TestAnErrorDiscardsWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	answer := serveSample(t, func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Location", "/nowhere")
		if err := lambdahttp.WriteJSON(w, http.StatusCreated, "made"); err != nil {
			return err
		}
		return fmt.Errorf("after that: %w", apierror.New(apierror.NotFound, "There is nothing."))
	})
	if text := message(t, answer, 404, "NotFoundError"); text != "There is nothing." || answer.MultiValueHeaders["Location"] != nil {
		t.Errorf("text %q, headers %v", text, answer.MultiValueHeaders)
	}
}

func TestAnUnknownErrorIsThe500WithoutItsText(t *testing.T) {
	t.Parallel()
	answer := serveSample(t, func(http.ResponseWriter, *http.Request) error {
		return errors.New("table Users in arn:aws:dynamodb:eu-west-1:123456789012:table/Users")
	})
	if text := message(t, answer, 500, "InternalError"); text != apierror.TextInternal {
		t.Errorf("text %q", text)
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	answer := serveSample(t, func(w http.ResponseWriter, _ *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusCreated, map[string]any{"a": []int{}, "é": nil})
	})
	if answer.StatusCode != http.StatusCreated || answer.Body != `{"a":[],"é":null}` {
		t.Errorf("status %d, body %s", answer.StatusCode, answer.Body)
	}
	// Encoded before the status is sent: what cannot be encoded is no half answer.
	message(t, serveSample(t, func(w http.ResponseWriter, _ *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusOK, func() {})
	}), 500, "InternalError")
}

func TestAMalformedEventIsThe500ErrorObject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, payload, requestID string }{
		{"empty", "", ""},
		{"no JSON", "{", ""},
		{"an array", "[]", ""},
		{"a text", `"event"`, ""},
		{"a member of another type", `{"requestContext":{"requestId":"r"},"httpMethod":7}`, "r"},
		{"headers of another type", `{"requestContext":{"requestId":"r"},"headers":[]}`, "r"},
		{"a header of another type", `{"requestContext":{"requestId":"r"},"multiValueHeaders":{"a":"b"}}`, "r"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			handler, _ := function(func(http.ResponseWriter, *http.Request) error {
				t.Error("the handler is reached")
				return nil
			})
			answer := call(t.Context(), t, handler, []byte(tt.payload))
			if text := message(t, answer, 500, "InternalError"); text != apierror.TextInternal {
				t.Errorf("text %q", text)
			}
			if got := http.Header(answer.MultiValueHeaders).Get("X-Request-Id"); got != tt.requestID {
				t.Errorf("X-Request-Id %q, want %q", got, tt.requestID)
			}
		})
	}
}

func TestTheHandlersDeadlineLeavesTimeToAnswer(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error {
		if got, ok := r.Context().Deadline(); !ok || !got.Equal(deadline.Add(-500*time.Millisecond)) {
			t.Errorf("the handler's deadline is %v before the invocation's", deadline.Sub(got))
		}
		return nil
	})
	call(ctx, t, handler, sample(t))
	without, _ := function(func(_ http.ResponseWriter, r *http.Request) error {
		if got, ok := r.Context().Deadline(); ok {
			t.Errorf("a deadline %v out of nowhere", got)
		}
		return nil
	})
	call(t.Context(), t, without, sample(t))
}

func TestAFaultThatLastsUntilTheDeadlineIsStillAnswered(t *testing.T) {
	t.Parallel()
	event := sample(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return apierror.NewUnavailable(r.Context().Err())
		})
		started := time.Now()
		message(t, call(ctx, t, handler, event), 503, "ServiceUnavailable")
		if took := time.Since(started); took != 5500*time.Millisecond {
			t.Errorf("answered after %v of 6 s", took)
		}
	})
}

func TestConcurrentInvocationsDoNotMix(t *testing.T) {
	t.Parallel()
	handler := lambdahttp.New(func(w http.ResponseWriter, r *http.Request) error {
		id, err := lambdahttp.PathParam(r, "id")
		if err != nil {
			return err
		}
		body, err := lambdahttp.Body(r)
		if err != nil {
			return err
		}
		request := lambdahttp.RequestOf(r)
		return lambdahttp.WriteJSON(w, http.StatusOK, []string{id, string(body), request.PrincipalID, request.ID, r.Header.Get("X-Number")})
	}, lambdahttp.Options{Logger: discard(), Now: time.Now, NewID: func() string { return errorID }})
	event := sample(t)
	var clients sync.WaitGroup
	for i := range 32 {
		clients.Go(func() {
			n := strconv.Itoa(i)
			mine := event
			mine.PathParameters = map[string]string{"id": n}
			mine.MultiValueHeaders = map[string][]string{"x-number": {n}}
			mine.Body, mine.RequestContext.RequestID = n, n
			mine.RequestContext.Authorizer = map[string]any{"principalId": n}
			answer := call(t.Context(), t, handler, mine)
			if want := fmt.Sprintf(`["%[1]s","%[1]s","%[1]s","%[1]s","%[1]s"]`, n); answer.Body != want || !slices.Equal(answer.MultiValueHeaders["X-Request-Id"], []string{n}) {
				t.Errorf("got %s, want %s", answer.Body, want)
			}
		})
	}
	clients.Wait()
}
