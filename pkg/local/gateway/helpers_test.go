package gateway_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

const (
	ok       = `{"statusCode":200,"body":"ok"}`
	allowAll = `{"principalId":"user:1","policyDocument":{"Version":"2012-10-17",` +
		`"Statement":[{"Action":["execute-api:Invoke"],"Effect":"Allow","Resource":["*"]}]}}`
	chosenUUID = "7c2af7db-31f3-42b5-8a6d-9ffc74e3b9e0"
)

var errFunction = errors.New("the function fails")

type handler func(ctx context.Context, payload []byte) ([]byte, error)

func (h handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

// service is an API with and without an authorizer: /things and /things/{id}, /open and /open/{id}. A body "fail" makes
// their function fail, and "return TEXT" makes it return the text. The header Authorizer does the same for the
// authorizer.
type service struct {
	gateway.Config
	events  []string // of both functions, as canonical JSON
	lines   []string
	records []*terminal.Entry
}

// function returns a function that reads what it does from a header, or from the body.
func (s *service) function(header, output string) handler {
	return func(_ context.Context, payload []byte) ([]byte, error) {
		var event events.APIGatewayProxyRequest
		canonical := jsontext.Value(bytes.Clone(payload))
		if err := errors.Join(json.Unmarshal(payload, &event), canonical.Canonicalize()); err != nil {
			return nil, err
		}
		s.events = append(s.events, string(canonical))
		script := cmp.Or(event.Headers[header], event.Body)
		if script == "fail" {
			return nil, errFunction
		}
		if text, found := strings.CutPrefix(script, "return"); found {
			return []byte(strings.TrimSpace(text)), nil
		}
		return []byte(output), nil
	}
}

func newService() *service {
	s, ids := &service{}, 0
	s.Config = gateway.Config{
		API: samtemplate.API{
			Stage:      "prod",
			Authorizer: samtemplate.Authorizer{Name: "Token", Function: "Authorizer"},
			Routes: []samtemplate.Route{
				{Path: "/things", Method: "GET", Function: "Thing", Authorized: true},
				{Path: "/things/{id}", Method: "ANY", Function: "Thing", Authorized: true},
				{Path: "/open", Method: "ANY", Function: "Thing"},
				{Path: "/open/{id}", Method: "ANY", Function: "Thing"},
			},
			GatewayResponses: map[string]samtemplate.GatewayResponse{},
			AccessLogFormat:  "$context.status $context.error.responseType $context.authorizer.principalId",
		},
		Functions: map[string]*invoke.Function{
			"Thing":      {Name: "thing", Handler: s.function("", ok), Timeout: 10 * time.Second},
			"Authorizer": {Name: "authorizer", Handler: s.function("Authorizer", allowAll), Timeout: 5 * time.Second},
		},
		Region: "eu-west-1", AccountID: "123456789012", APIID: "a1b2c3d4e5",
		Now: func() time.Time { return time.Date(2026, 7, 10, 19, 19, 4, 836e6, time.UTC) },
		NewID: func() string {
			ids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids)
		},
		AccessLog: func(line []byte, _ time.Time) { s.lines = append(s.lines, string(line)) },
		OnRequest: func(r *terminal.Entry) { s.records = append(s.records, r) },
	}
	s.declare("DEFAULT_4XX", 0, "4", nil)
	s.declare("DEFAULT_5XX", 0, "5", nil)
	return s
}

// declare adds a gateway response with a template for JSON.
func (s *service) declare(name string, status int, body string, headers map[string]string) {
	r := samtemplate.GatewayResponse{StatusCode: status, ResponseTemplates: map[string]string{"application/json": body}}
	r.ResponseParameters.Headers = headers
	s.API.GatewayResponses[name] = r
}

func (s *service) gateway(tb testing.TB) *gateway.Gateway {
	tb.Helper()
	g, err := gateway.New(s.Config)
	assert.OK(tb, err)
	return g
}

// send handles a request to http://example.com. The request is a method, a target, and headers in one line each.
func (s *service) send(tb testing.TB, request, body string) *httptest.ResponseRecorder {
	tb.Helper()
	method, target, _ := strings.Cut(request, " ")
	target, headers, _ := strings.Cut(target, " ")
	r := httptest.NewRequestWithContext(tb.Context(), method, target, strings.NewReader(body))
	for header := range strings.Lines(headers) {
		name, value, _ := strings.Cut(header, ":")
		value = strings.TrimSpace(value)
		if r.Header.Add(name, value); name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	s.gateway(tb).ServeHTTP(w, r)
	return w
}

// expect handles a request as send does, compares the line of the access log and the body of the response, and returns
// the headers of the response.
func (s *service) expect(tb testing.TB, request, body, wantLine, wantBody string) http.Header {
	tb.Helper()
	w := s.send(tb, request, body)
	if line := s.lines[len(s.lines)-1]; line != wantLine || w.Body.String() != wantBody {
		tb.Errorf("%.200s: %s: %.200s, want %s: %.200s", request, line, w.Body, wantLine, wantBody)
	}
	r := s.records[len(s.records)-1]
	if r.Status != w.Code || !strings.HasPrefix(wantLine, strconv.Itoa(w.Code)) || (r.Cause != nil) != (w.Code >= 500) {
		tb.Errorf("%.200s: status %d, record %+v", request, w.Code, r)
	}
	return w.Header()
}

// requireHeaders compares the headers that are expected. The names are in the letters that are sent, and several values
// are separated by commas. An empty value means that there is no such header.
func requireHeaders(tb testing.TB, request string, want map[string]string, got http.Header) {
	tb.Helper()
	for name, value := range want {
		if values := strings.Join(got[name], ","); values != value {
			tb.Errorf("%.200s: %s: %q, want %q", request, name, values, value)
		}
	}
}
