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

	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestFunctionResponse(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 4, `
		# output | status | body | headers; -: none
		{"statusCode":201,"headers":{"content-type":"text/plain"},"body":"aé\n"} | 201 | "aé\n" | Content-Type=text/plain Content-Length=4
		{"statusCode":200,"body":""} | 200 | | Content-Type=application/json Content-Length=0
		{"statusCode":204} | 204 | | Content-Type=application/json Content-Length=-
		{"statusCode":200,"body":null,"headers":null,"multiValueHeaders":null} | 200 | |
		{"statusCode":200,"headers":{"X-A":"0","X-B":"b"},"multiValueHeaders":{"x-a":["1","2"]}} | 200 | | X-A=1,2 X-B=b
		# without binary media types
		{"statusCode":200,"body":"aGk=","isBase64Encoded":true} | 200 | aGk= |
		# headers of the gateway
		{"statusCode":200,"body":"ok"} | 200 | ok | x-amzn-RequestId=00000000-0000-4000-8000-000000000002
		{"statusCode":200,"body":"ok"} | 200 | ok | x-amz-apigw-id="AEAAgAAAAAAAAAE=" x-amzn-ErrorType=-
		{"statusCode":200,"body":"ok"} | 200 | ok | X-Amzn-Trace-Id="Root=1-6a5145a8-000040008000000000000001"
	`) {
		w := newService(returns(row[0]), nil).send(t, "GET", "/open", "")
		equal(t, row[0], fmt.Sprint(w.Code, w.Body), row[1]+" "+row[2])
		for header := range strings.FieldsSeq(row[3]) {
			name, want, _ := strings.Cut(header, "=")
			got := "-"
			if values := w.Header()[name]; values != nil {
				got = strings.Join(values, ",")
			}
			equal(t, name, got, strings.Trim(want, `"`))
		}
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	const plain = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for _, row := range table.Rows(t, 4, `
		# minimum | Accept-Encoding | output | coding
		40 | gzip, deflate, br | PLAIN | gzip
		0 | br;q=0.8, GZIP | PLAIN | gzip
		0 | br, gzip;q=0.5 | PLAIN | gzip
		0 | gzip;q=0 | PLAIN |
		0 | * | PLAIN |
		0 | | PLAIN |
		41 | gzip | PLAIN |
		0 | gzip | |
	`) {
		output := strings.ReplaceAll(row[2], "PLAIN", plain)
		s := newService(returns(`{"statusCode":200,"body":"`+output+`"}`), nil)
		minimum, err := strconv.Atoi(row[0])
		if s.API.MinimumCompressionSize = &minimum; err != nil {
			t.Fatal(err)
		}
		w := s.send(t, "GET", "/open", "", "Accept-Encoding: "+row[1])
		coding, body := w.Header().Get("Content-Encoding"), io.Reader(w.Body)
		equal(t, row[1]+": Content-Length", w.Header().Get("Content-Length"), strconv.Itoa(w.Body.Len()))
		if equal(t, row[1], coding, row[3]); coding == "gzip" {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		content, err := io.ReadAll(body)
		if equal(t, row[1]+": body", string(content), output); err != nil {
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
			if equal(t, "access log", s.lines[0], "502 DEFAULT_5XX -"); s.records[0].Cause == nil {
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
	assert.Equal(t, want, w.Header())
	equal(t, "DEFAULT_5XX", s.send(t, "GET", "/open", "").Body.String(), "5")
	equal(t, "DEFAULT_4XX", s.send(t, "GET", "/nothing", "").Body.String(), "4")
	assert.Equal(t, []string{"401 ACCESS_DENIED user:1", "502 DEFAULT_5XX -", "403 MISSING_AUTHENTICATION_TOKEN -"},
		s.lines)
}
