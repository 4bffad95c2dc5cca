package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// FuzzRequest feeds raw request bytes through net/http's own parser into the gateway: every request that it accepts gets a valid
// answer, and the events decode.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\n\r\n",
		"GET /open/%2F%25?a=1&a=2;b=%zz#x HTTP/1.1\r\nHost: [::1]:1\r\nX-A: \xff\r\n\r\n",
		"POST /open/\xff HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na\xffb",
		"POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"PUT http://h/things/7/ HTTP/1.0\r\nX-HTTP-Method-Override: GET\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET //open// HTTP/1.1\r\nHost: \r\nx-amzn-RequestId: " + chosenUUID + "\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	check := func(payload []byte, into any) error {
		if !utf8.Valid(payload) {
			return errNotUTF8
		}
		return json.Unmarshal(payload, into)
	}
	function := func(_ context.Context, payload []byte) ([]byte, error) {
		var e events.APIGatewayProxyRequest
		if err := check(payload, &e); err != nil {
			return nil, err
		}
		return json.Marshal(events.APIGatewayProxyResponse{StatusCode: 200, Headers: map[string]string{"X-Path": e.Path}, Body: e.Body})
	}
	authorizer := func(_ context.Context, payload []byte) ([]byte, error) {
		var e events.APIGatewayCustomAuthorizerRequestTypeRequest
		return []byte(allowAll), check(payload, &e)
	}
	s := newSetup(function, authorizer)
	g := s.gateway(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // net/http answers 400 by itself
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, request)
		if w.Code < 200 || w.Code > 599 {
			t.Fatalf("status %d", w.Code)
		}
		if w.Code >= 500 {
			t.Fatalf("status %d for %q: %v", w.Code, raw, s.record.Load().Err)
		}
		if w.Header().Get("Content-Type") == "" {
			t.Error("no Content-Type")
		}
		response := w.Result()
		if err := response.Write(io.Discard); err != nil {
			t.Errorf("answer cannot be written: %v", err)
		}
	})
}

// FuzzEvent holds the encoder against encoding/json: what goes in as text comes out as that text.
func FuzzEvent(f *testing.F) {
	f.Add("/open/x", "value", "a", "body")
	f.Add("/open/%2F", "\"\\\x7f", "ä=&", "\x00\x1f\u2028\ud7ff")
	f.Add("/open/\xed\xa0\x80", "\xff", "\xc3", "\xf0\x9f")
	function := &capture{}
	g := newSetup(function.Invoke, says(allowAll)).gateway(f)
	decoded := func(s string) (out string) { // encoding/json's idea of the text
		encoded, _ := json.Marshal(s)
		_ = json.Unmarshal(encoded, &out)
		return out
	}
	f.Fuzz(func(t *testing.T, path, value, agent, body string) {
		request := httptest.NewRequest(http.MethodPost, "/open", bytes.NewReader([]byte(body)))
		request.RequestURI = path
		request.Header.Set("X-Value", value)
		request.Header.Set("User-Agent", agent)
		function.raw.Store(nil)
		g.ServeHTTP(httptest.NewRecorder(), request)
		if function.raw.Load() == nil {
			return // no route, or too large
		}
		e := function.request(t)
		equal(t, "body", e.Body, decoded(body))
		equal(t, "header", e.Headers["X-Value"], decoded(value))
		equal(t, "user agent", e.RequestContext.Identity.UserAgent, decoded(agent))
	})
}

// FuzzAnswer holds the reader of functions' answers: any output gives a valid answer or 502.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		ok, "{}", "null", "[]", "", "{", `{"statusCode":"200"}`,
		`{"statusCode":200,"headers":{"a":1,"b":null},"multiValueHeaders":{"A":["x",true]}}`,
		`{"statusCode":204,"body":null}`, `{"statusCode":200,"body":"\ud800"}`, `{"statusCode":1e2}`, `{"statusCode":200} {}`,
		`{"statusCode":200,"headers":{"\r\n":"\r\nX: y","Content-Length":"7","Transfer-Encoding":"chunked"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		g := newSetup(func(context.Context, []byte) ([]byte, error) { return output, nil }, says(allowAll)).gateway(t)
		server := httptest.NewServer(g)
		defer server.Close()
		r := send(t, http.MethodGet, server.URL+"/open", "")
		if r.StatusCode < 200 || r.StatusCode > 599 {
			t.Errorf("status %d", r.StatusCode)
		}
	})
}

// FuzzAuthorizer holds the reader of authorizers' answers: any output lets in, or is 403 or 500.
func FuzzAuthorizer(f *testing.F) {
	for _, seed := range []string{
		allowAll, "{}", "null", `{"principalId":"","policyDocument":{}}`, `{"principalId":"x","policyDocument":{"Statement":{}}}`,
		`{"principalId":"x","policyDocument":{"Statement":[{"Effect":"Deny","Action":["*"],"Resource":["*?*"]}]},"context":{"a":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		g := newSetup(says(ok), func(context.Context, []byte) ([]byte, error) { return output, nil }).gateway(t)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/things", nil))
		if w.Code != 200 && w.Code != 403 && w.Code != 500 {
			t.Errorf("status %d", w.Code)
		}
	})
}
