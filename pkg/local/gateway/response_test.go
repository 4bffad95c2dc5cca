package gateway_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"
)

func TestFunctionResponse(t *testing.T) {
	t.Parallel()
	const none = "-"
	for _, tt := range []struct {
		name, output, body string
		status             int
		headers            map[string]string
	}{
		{"body and header", `{"statusCode":201,"headers":{"content-type":"text/plain"},"body":"aé\n"}`, "aé\n", 201,
			map[string]string{"Content-Type": "text/plain", "Content-Length": "4"}},
		{"default content type", `{"statusCode":200,"body":""}`, "", 200,
			map[string]string{"Content-Type": "application/json", "Content-Length": "0"}},
		{"no content", `{"statusCode":204}`, "", 204, map[string]string{"Content-Type": "application/json",
			"Content-Length": none}},
		{"nulls", `{"statusCode":200,"body":null,"headers":null,"multiValueHeaders":null}`, "", 200, nil},
		{"multi-value headers", `{"statusCode":200,"headers":{"X-A":"0","X-B":"b"},"multiValueHeaders":{"x-a":["1","2"]}}`,
			"", 200,
			map[string]string{"X-A": "1,2", "X-B": "b"}},
		{"base64 without binary media types", `{"statusCode":200,"body":"aGk=","isBase64Encoded":true}`, "aGk=", 200, nil},
		{"headers of the gateway", ok, "ok", 200, map[string]string{
			"x-amzn-RequestId": "00000000-0000-4000-8000-000000000002", "x-amz-apigw-id": "AEAAgAAAAAAAAAE=",
			"x-amzn-ErrorType": none,
			"X-Amzn-Trace-Id":  "Root=1-6a5145a8-000040008000000000000001",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newService(returns(tt.output), nil).send(t, "GET", "/open", "")
			if equal(t, "body", w.Body.String(), tt.body); w.Code != tt.status {
				t.Errorf("status %d", w.Code)
			}
			for name, want := range tt.headers {
				got := none
				if values := w.Header()[name]; values != nil {
					got = strings.Join(values, ",")
				}
				equal(t, name, got, want)
			}
		})
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	const plain = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for _, tt := range []struct {
		name, accept, output, coding string
		minimum                      int
	}{
		{"equal priorities", "gzip, deflate, br", plain, "gzip", len(plain)},
		{"highest priority", "br;q=0.8, GZIP", plain, "gzip", 0},
		{"another coding has the highest priority", "br, gzip;q=0.5", plain, "", 0},
		{"excluded", "gzip;q=0", plain, "", 0},
		{"every coding", "*", plain, "", 0},
		{"none", "", plain, "", 0},
		{"too small", "gzip", plain, "", len(plain) + 1},
		{"empty", "gzip", "", "", 0},
	} {
		s := newService(returns(`{"statusCode":200,"body":"`+tt.output+`"}`), nil)
		s.API.MinimumCompressionSize = &tt.minimum
		w := s.send(t, "GET", "/open", "", "Accept-Encoding: "+tt.accept)
		coding, body := w.Header().Get("Content-Encoding"), io.Reader(w.Body)
		equal(t, tt.name+": Content-Length", w.Header().Get("Content-Length"), strconv.Itoa(w.Body.Len()))
		if equal(t, tt.name, coding, tt.coding); coding == "gzip" {
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		content, err := io.ReadAll(body)
		if equal(t, tt.name+": body", string(content), tt.output); err != nil {
			t.Error(err)
		}
	}
	s := newService(returns(`{"statusCode":200,"headers":{"content-encoding":"br"},"body":"`+plain+`"}`), nil)
	s.API.MinimumCompressionSize = new(0)
	equal(t, "compressed by the function", s.send(t, "GET", "/open", "", "Accept-Encoding: gzip").Body.String(), plain)
}

func TestFunctionError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		function handler
	}{
		{"error", fails},
		{"panic", func(context.Context, []byte) ([]byte, error) { panic("no") }},
		{"nothing", returns("")},
		{"null", returns("null")},
		{"unknown key", returns(`{"statusCode":200,"cookies":[]}`)},
		{"header is an array", returns(`{"statusCode":200,"headers":{"a":["b"]}}`)},
		{"larger than 6 MB", returns(`{"statusCode":200,"body":"` + strings.Repeat("a", 6<<20) + `"}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(tt.function, nil)
			s.send(t, "GET", "/open", "")
			if equal(t, "access log", s.lines[0], "502 DEFAULT_5XX -"); s.records[0].Err == nil {
				t.Error("the record has no cause")
			}
		})
	}
}

// TestTimeouts runs functions that ignore their context.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, target        string
		timeout, runs, ends time.Duration
		line                string
	}{
		{"timeout", "/open", 10 * time.Second, time.Minute, 10 * time.Second, "502 DEFAULT_5XX -"},
		{"API Gateway's timeout", "/open", time.Minute, 40 * time.Second, 29 * time.Second, "504 INTEGRATION_TIMEOUT -"},
		{"authorizer's timeout", "/things", 10 * time.Second, time.Minute, 10 * time.Second,
			"500 AUTHORIZER_CONFIGURATION_ERROR -"},
		{"API Gateway's timeout for the authorizer", "/things", time.Minute, 40 * time.Second, 29 * time.Second,
			"500 AUTHORIZER_FAILURE -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow := func(context.Context, []byte) ([]byte, error) {
					<-time.After(tt.runs)
					return []byte(ok), nil
				}
				s := newService(slow, slow)
				s.Functions["Thing"].Timeout, s.Functions["Authorizer"].Timeout = tt.timeout, tt.timeout
				begin := time.Now()
				s.send(t, "GET", tt.target, "")
				if equal(t, "access log", s.lines[0], tt.line); time.Since(begin) != tt.ends {
					t.Errorf("response after %s", time.Since(begin))
				}
				<-time.After(2 * time.Minute) // the abandoned function ends
			})
		})
	}
}

func TestFunctionContext(t *testing.T) {
	t.Parallel()
	client, disconnect := context.WithCancel(t.Context())
	s := newService(func(ctx context.Context, _ []byte) ([]byte, error) {
		disconnect()
		call, _ := lambdacontext.FromContext(ctx)
		_, deadline := ctx.Deadline()
		return fmt.Appendf(nil, `{"statusCode":200,"body":"%s %s %t %v"}`, call.InvokedFunctionArn, call.AwsRequestID,
			deadline, ctx.Err()), nil
	}, nil)
	w := s.serve(t, httptest.NewRequestWithContext(client, http.MethodGet, "/open", nil))
	equal(t, "ARN, invocation id, deadline and error", w.Body.String(),
		thingARN+" 00000000-0000-4000-8000-000000000003 true <nil>")
}

func TestGatewayResponse(t *testing.T) {
	t.Parallel()
	const message = `{"id":"$context.requestId","price":"5"}`
	s := newService(fails, returns(strings.Replace(allowAll, "Allow", "Deny", 1)))
	s.API.GatewayResponses["ACCESS_DENIED"] = declared(401, message, map[string]string{
		"WWW-Authenticate": "'Bearer'", "cache-control": "'no-store'", "X-Request-Id": "context.requestId",
	})
	w := s.send(t, "GET", "/things", "", "x-amzn-RequestId: "+chosenUUID)
	equal(t, "body", w.Body.String(), strings.Replace(message, "$context.requestId", chosenUUID, 1))
	want := http.Header{
		"Www-Authenticate": {"Bearer"}, "Cache-Control": {"no-store"}, "X-Request-Id": {chosenUUID},
		"Content-Type":     {"application/json"},
		"x-amzn-ErrorType": {"AccessDeniedException"}, "x-amzn-RequestId": {chosenUUID},
		"x-amz-apigw-id": {"AEAAgAAAAAAAAAE="},
		"Content-Length": {"57"},
	}
	if diff := cmp.Diff(want, w.Header()); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	equal(t, "DEFAULT_5XX", s.send(t, "GET", "/open", "").Body.String(), "5")
	equal(t, "DEFAULT_4XX", s.send(t, "GET", "/nothing", "").Body.String(), "4")
	if diff := cmp.Diff([]string{"401 ACCESS_DENIED user:1", "502 DEFAULT_5XX -", "403 MISSING_AUTHENTICATION_TOKEN -"},
		s.lines); diff != "" {
		t.Error(diff)
	}
}
