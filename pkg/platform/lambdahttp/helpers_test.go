package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

// secret is in places that must not be logged.
const secret = "text of the client"

// event returns an event, sent by user 1, with changes: properties that replace or complete others.
func event(changes string) []byte {
	return []byte(strings.TrimSuffix(`{"resource":"/api/admin/feedback/{id}","path":"/api/admin/feedback/a%20b",`+
		`"httpMethod":"PUT","pathParameters":{"id":"a%20b"},"requestContext":{"requestId":"R","extendedRequestId":"X","domainName":"a.example",`+
		`"path":"/dev/api/admin/feedback/a%20b","authorizer":{"principalId":"user:1"}},"body":"`+secret+`",`+
		changes, ",") + "}")
}

// function returns the Lambda handler of serve and its log. Its clock advances by one millisecond per call.
func function(serve lambdahttp.HandlerFunc) (lambda.Handler, *bytes.Buffer) {
	var log bytes.Buffer
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	return lambdahttp.New(serve, lambdahttp.Options{
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:    func() time.Time { now = now.Add(time.Millisecond); return now },
		NewID:  func() string { return "E" },
	}), &log
}

// invoke sends a payload and decodes the response as strictly as API Gateway does. It returns its status, body and those
// headers that not all responses have.
func invoke(tb testing.TB, handler lambda.Handler, payload []byte) string {
	tb.Helper()
	out, err := handler.Invoke(tb.Context(), payload)
	assert.OK(tb, err)
	var response events.APIGatewayProxyResponse
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.DisallowUnknownFields()
	assert.OK(tb, decoder.Decode(&response))
	header := http.Header(response.MultiValueHeaders)
	assert.Equal(tb, []string{"no-store", "nosniff"},
		[]string{header.Get("Cache-Control"), header.Get("X-Content-Type-Options")})
	header.Del("Cache-Control")
	header.Del("X-Content-Type-Options")
	return fmt.Sprint(response.StatusCode, " ", response.Body, " ", response.MultiValueHeaders)
}

var varying = regexp.MustCompile(`"time":"[^"]+",|\\ngoroutine [^"]+response_test.go[^"]+`)

// logged returns a log without times and stacks, and without what all lines about event have in common.
func logged(log *bytes.Buffer) string {
	return strings.NewReplacer(`"msg":"request","apiRequestId":"R","method":"PUT","route":"/api/admin/feedback/{id}",`+
		`"principalId":"user:1",`, "", `,"milliseconds":1`, "", "\n", "").Replace(varying.ReplaceAllString(log.String(), ""))
}
