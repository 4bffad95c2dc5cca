package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
)

const (
	errorID   = "6b1f3c52-0000-4000-8000-000000000001"
	requestID = "097d207f-789e-5a76-aca5-09b2657103af" // of the sample event
)

type (
	event  = events.APIGatewayProxyRequest
	change = func(*event)
)

// sample returns the event of PUT /api/admin/feedback/autumn%20survey, sent by user 1, with changes.
func sample(tb testing.TB, changes ...change) event {
	tb.Helper()
	file, err := os.ReadFile("../../../events/update-feedback.json")
	var e event
	assert.OK(tb, err, json.Unmarshal(file, &e))
	for _, f := range changes {
		f(&e)
	}
	return e
}

// function returns the Lambda handler of serve and its log. Its clock advances by one millisecond per call.
func function(serve lambdahttp.HandlerFunc) (lambda.Handler, *bytes.Buffer) {
	var log bytes.Buffer
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	return lambdahttp.New(serve, lambdahttp.Options{
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:    func() time.Time { now = now.Add(time.Millisecond); return now },
		NewID:  func() string { return errorID },
	}), &log
}

// invoke sends an event, or a payload of type []byte, and decodes the response as strictly as API Gateway does.
func invoke(tb testing.TB, handler lambda.Handler, in any) events.APIGatewayProxyResponse {
	tb.Helper()
	payload, ok := in.([]byte)
	if !ok {
		var err error
		payload, err = json.Marshal(in)
		assert.OK(tb, err)
	}
	out, err := handler.Invoke(tb.Context(), payload)
	assert.OK(tb, err)
	var response events.APIGatewayProxyResponse
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.DisallowUnknownFields()
	assert.OK(tb, decoder.Decode(&response))
	return response
}

// respond returns the response of serve to the sample event.
func respond(tb testing.TB, serve lambdahttp.HandlerFunc) events.APIGatewayProxyResponse {
	tb.Helper()
	handler, _ := function(serve)
	return invoke(tb, handler, sample(tb))
}

// request returns the request that a handler gets for the sample event with changes.
func request(tb testing.TB, changes ...change) *http.Request {
	tb.Helper()
	var got *http.Request
	handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error { got = r; return nil })
	if response := invoke(tb, handler, sample(tb, changes...)); got == nil {
		tb.Fatalf("handler not called; response %d %s", response.StatusCode, response.Body)
	}
	return got
}

// checkError checks that the response is an error object and returns its message.
func checkError(tb testing.TB, response events.APIGatewayProxyResponse, status int, name string) string {
	tb.Helper()
	var members map[string]string
	assert.OK(tb, json.Unmarshal([]byte(response.Body), &members))
	message := members["message"]
	assert.Equal(tb, map[string]string{"id": errorID, "name": name, "message": message}, members)
	if response.StatusCode != status || message == "" {
		tb.Errorf("got %d %v, want %d", response.StatusCode, members, status)
	}
	return message
}
