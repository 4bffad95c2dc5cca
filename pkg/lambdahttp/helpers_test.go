package lambdahttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/lambdahttp"
)

const (
	errorID     = "6b1f3c52-0000-4000-8000-000000000001"
	requestID   = "097d207f-789e-5a76-aca5-09b2657103af" // of the sample event
	eventsToken = "user:v2_AAAAAAAAAAEAAAAAAAAAAQ_example-only-no-secret-example-only-no-sec0"
)

// sample is the event of PUT /api/admin/feedback/autumn%20survey as AWS sends it, from the user 1.
func sample(tb testing.TB) events.APIGatewayProxyRequest {
	tb.Helper()
	file, err := os.ReadFile("../../events/update-feedback.json")
	if err != nil {
		tb.Fatal(err)
	}
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(file, &event); err != nil {
		tb.Fatal(err)
	}
	return event
}

// function makes a handler that logs to the buffer. Its clock moves by a millisecond at each look.
func function(serve lambdahttp.HandlerFunc) (lambda.Handler, *bytes.Buffer) {
	var log bytes.Buffer
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	return lambdahttp.New(serve, lambdahttp.Options{
		Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		Now:    func() time.Time { now = now.Add(time.Millisecond); return now },
		NewID:  func() string { return errorID },
	}), &log
}

func call(ctx context.Context, tb testing.TB, handler lambda.Handler, event any) events.APIGatewayProxyResponse {
	tb.Helper()
	payload, ok := event.([]byte)
	if !ok {
		var err error
		if payload, err = json.Marshal(event); err != nil {
			tb.Fatal(err)
		}
	}
	out, err := handler.Invoke(ctx, payload)
	if err != nil {
		tb.Fatalf("a Lambda error: %v", err)
	}
	return proxyResponse(tb, out)
}

// proxyResponse reads a proxy response as strictly as API Gateway does: another key, or no JSON, is a 502.
func proxyResponse(tb testing.TB, out []byte) events.APIGatewayProxyResponse {
	tb.Helper()
	var answer events.APIGatewayProxyResponse
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil {
		tb.Fatalf("no proxy response: %v\n%s", err, out)
	}
	return answer
}

// serveSample invokes serve with the sample event as change left it.
func serveSample(tb testing.TB, serve lambdahttp.HandlerFunc, change ...func(*events.APIGatewayProxyRequest)) events.APIGatewayProxyResponse {
	tb.Helper()
	event := sample(tb)
	for _, f := range change {
		f(&event)
	}
	handler, _ := function(serve)
	return call(tb.Context(), tb, handler, event)
}

// requestOf gives the request that a handler gets of the sample event as change left it. The handler must be reached.
func requestOf(tb testing.TB, change ...func(*events.APIGatewayProxyRequest)) *http.Request {
	tb.Helper()
	var got *http.Request
	answer := serveSample(tb, func(_ http.ResponseWriter, r *http.Request) error { got = r; return nil }, change...)
	if got == nil {
		tb.Fatalf("the handler is not reached; the answer is %d %s", answer.StatusCode, answer.Body)
	}
	return got
}

// message checks that the answer is the error object and gives its text.
func message(tb testing.TB, answer events.APIGatewayProxyResponse, status int, name string) string {
	tb.Helper()
	if answer.StatusCode != status {
		tb.Errorf("status %d, want %d", answer.StatusCode, status)
	}
	var members map[string]string
	if err := json.Unmarshal([]byte(answer.Body), &members); err != nil || answer.IsBase64Encoded {
		tb.Fatalf("not the error object: %q, %v", answer.Body, err)
	}
	if len(members) != 3 || members["id"] != errorID || members["name"] != name || members["message"] == "" {
		tb.Errorf("not the error object %s with the id %s: %v", name, errorID, members)
	}
	return members["message"]
}
