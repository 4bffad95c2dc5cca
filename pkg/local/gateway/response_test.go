package gateway_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/test/helper/assert"
)

func TestFunctionResponse(t *testing.T) {
	t.Parallel()
	s := newService()
	requireHeaders(t, "the first request", map[string]string{
		"x-amzn-RequestId": "00000000-0000-4000-8000-000000000002",
		"x-amz-apigw-id":   "AEAAgAAAAAAAAAE=",
		"x-amzn-ErrorType": "",
	}, s.expect(t, "POST /open", "", "200 - -", "ok"))
	requireHeaders(t, "the second request", map[string]string{
		"X-Amzn-Trace-Id": "Root=1-6a5145a8-000040008000000000000004",
	}, s.expect(t, "POST /open", "", "200 - -", "ok"))
	for _, test := range []struct {
		method   string
		response string // of the function
		status   int
		body     string
		headers  map[string]string
	}{
		{
			"POST", `{"statusCode":201,"headers":{"content-type":"text/plain"},"body":"aé\n"}`,
			201, "aé\n", map[string]string{"Content-Type": "text/plain", "Content-Length": "4"},
		},
		{
			"POST", `{"statusCode":200,"body":""}`,
			200, "", map[string]string{"Content-Type": "application/json", "Content-Length": "0"},
		},
		{
			"POST", `{"statusCode":204}`,
			204, "", map[string]string{"Content-Type": "application/json", "Content-Length": ""},
		},
		{"POST", `{"statusCode":200,"body":null,"headers":null,"multiValueHeaders":null}`, 200, "", nil},
		{
			"POST", `{"statusCode":200,"headers":{"X-A":"0","X-B":"b"},"multiValueHeaders":{"x-a":["1","2"]}}`,
			200, "", map[string]string{"X-A": "1,2", "X-B": "b"},
		},
		{
			"HEAD", `{"statusCode":200,"headers":{"X-A":"1"}}`,
			200, "", map[string]string{"X-A": "1", "Content-Length": ""},
		},
		// without binary media types
		{"POST", `{"statusCode":200,"body":"aGk=","isBase64Encoded":true}`, 200, "aGk=", nil},
	} {
		line := fmt.Sprintf("%d - -", test.status)
		headers := s.expect(t, test.method+" /open", "return "+test.response, line, test.body)
		requireHeaders(t, test.response, test.headers, headers)
	}
}

func TestFunctionErrors(t *testing.T) {
	t.Parallel()
	s := newService()
	for _, function := range []string{
		"fail",
		"return",
		"return null",
		`return {"statusCode":200,"cookies":[]}`,
		`return {"statusCode":200,"headers":{"a":["b"]}}`,
	} {
		requireHeaders(t, function, map[string]string{"x-amzn-ErrorType": "InternalServerErrorException"},
			s.expect(t, "POST /open", function, "502 DEFAULT_5XX -", "5"))
	}
	s.Functions["Thing"].Handler = s.function("", `{"statusCode":200,"body":"`+strings.Repeat("a", 6<<20)+`"}`)
	s.expect(t, "GET /open", "", "502 DEFAULT_5XX -", "5")
}

func TestCompression(t *testing.T) {
	t.Parallel()
	s := newService()
	s.API.MinimumCompressionSize = new(4)
	for _, test := range []struct{ request, body string }{
		{"POST /open", "aaaa"},
		{"POST /open Accept-Encoding: gzip", "aaa"},
		{"POST /open Accept-Encoding: gzip;q=0", "aaaa"},
		{"POST /open Accept-Encoding: *", "aaaa"},
	} {
		requireHeaders(t, test.request, map[string]string{"Content-Encoding": ""},
			s.expect(t, test.request, `return {"statusCode":200,"body":"`+test.body+`"}`, "200 - -", test.body))
	}
	const compressed = `return {"statusCode":200,"headers":{"content-encoding":"br"},"body":"aaaa"}`
	requireHeaders(t, compressed, map[string]string{"Content-Encoding": "br"},
		s.expect(t, "POST /open Accept-Encoding: gzip", compressed, "200 - -", "aaaa"))
	for _, accepted := range []string{"gzip, deflate, br", "br;q=0.8, GZIP", "br, gzip;q=0.5"} {
		w := s.send(t, "POST /open Accept-Encoding: "+accepted, `return {"statusCode":200,"body":"aaaa"}`)
		assert.Equal(t, []string{"gzip", fmt.Sprint(w.Body.Len())}, []string{w.Header().Get("Content-Encoding"),
			w.Header().Get("Content-Length")})
		body, err := gzip.NewReader(w.Body)
		assert.OK(t, err)
		content, err := io.ReadAll(body)
		assert.OK(t, err)
		assert.Equal(t, "aaaa", string(content))
	}
	s.API.MinimumCompressionSize = new(0)
	requireHeaders(t, "an empty body", map[string]string{"Content-Encoding": ""},
		s.expect(t, "POST /open Accept-Encoding: gzip", `return {"statusCode":200}`, "200 - -", ""))
}

// TestTimeouts runs functions that take 50 seconds and ignore their context.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		target        string
		timeout, ends int // seconds
		line          string
	}{
		{"/open", 10, 10, "502 DEFAULT_5XX -"},
		{"/open", 60, 29, "504 INTEGRATION_TIMEOUT -"},
		{"/things", 10, 10, "500 AUTHORIZER_CONFIGURATION_ERROR -"},
		{"/things", 60, 29, "500 AUTHORIZER_FAILURE -"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newService()
			for _, f := range s.Functions {
				f.Timeout = time.Duration(tt.timeout) * time.Second
				f.Handler = handler(func(context.Context, []byte) ([]byte, error) {
					<-time.After(50 * time.Second)
					return []byte(ok), nil
				})
			}
			begin := time.Now()
			s.send(t, "GET "+tt.target, "")
			assert.Equal(t, []string{tt.line}, s.lines)
			assert.Equal(t, time.Duration(tt.ends)*time.Second, time.Since(begin))
			<-time.After(time.Minute) // the abandoned function ends
		})
	}
}

func TestFunctionContext(t *testing.T) {
	t.Parallel()
	client, disconnect := context.WithCancel(t.Context())
	s := newService()
	s.Functions["Thing"].Handler = handler(func(ctx context.Context, _ []byte) ([]byte, error) {
		disconnect()
		call, _ := lambdacontext.FromContext(ctx)
		return fmt.Appendf(nil, `{"statusCode":200,"body":"%s %v"}`, call.AwsRequestID, ctx.Err()), nil
	})
	w := httptest.NewRecorder()
	s.gateway(t).ServeHTTP(w, httptest.NewRequestWithContext(client, http.MethodGet, "/open", nil))
	assert.Equal(t, "00000000-0000-4000-8000-000000000003 <nil>", w.Body.String())
}

func TestGatewayResponse(t *testing.T) {
	t.Parallel()
	s := newService()
	s.declare("AUTHORIZER_CONFIGURATION_ERROR", 401, `{"id":"$context.requestId","price":"5"}`, map[string]string{
		"WWW-Authenticate": "'Bearer'", "cache-control": "'no-store'", "X-Request-Id": "context.requestId"})
	w := s.send(t, "GET /things x-amzn-RequestId: "+chosenUUID+"\nAuthorizer: fail", "")
	assert.Equal(t, `{"id":"`+chosenUUID+`","price":"5"}`, w.Body.String())
	assert.Equal(t, http.Header{
		"Www-Authenticate": {"Bearer"}, "Cache-Control": {"no-store"}, "X-Request-Id": {chosenUUID},
		"Content-Type": {"application/json"}, "x-amzn-ErrorType": {"AuthorizerConfigurationException"},
		"x-amzn-RequestId": {chosenUUID}, "x-amz-apigw-id": {"AEAAgAAAAAAAAAE="}, "Content-Length": {"57"},
	}, w.Header())
	assert.Equal(t, []string{"401 AUTHORIZER_CONFIGURATION_ERROR -"}, s.lines)
}
