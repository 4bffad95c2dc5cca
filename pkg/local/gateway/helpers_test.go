package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/test/assert"
)

const (
	ok       = `{"statusCode":200,"body":"ok"}`
	allowAll = `{"principalId":"user:1","policyDocument":{"Version":"2012-10-17",` +
		`"Statement":[{"Action":["execute-api:Invoke"],"Effect":"Allow","Resource":["*"]}]},"context":{"userId":"1"}}`
	thingARN   = "arn:aws:lambda:eu-west-1:123456789012:function:thing"
	chosenUUID = "7c2af7db-31f3-42b5-8a6d-9ffc74e3b9e0"
)

var errFunction = errors.New("the function fails")

type handler func(ctx context.Context, payload []byte) ([]byte, error)

func (h handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

// returns makes a function that always returns the same output.
func returns(output string) handler {
	return func(context.Context, []byte) ([]byte, error) { return []byte(output), nil }
}

func fails(context.Context, []byte) ([]byte, error) { return nil, errFunction }

// captures makes a function that decodes its event and returns an output.
func captures(tb testing.TB, event any, output string) handler {
	tb.Helper()
	return func(_ context.Context, payload []byte) ([]byte, error) {
		if err := json.Unmarshal(payload, event); err != nil {
			tb.Error(err)
		}
		return []byte(output), nil
	}
}

// declared returns a gateway response with a template for JSON.
func declared(status int, body string, headers map[string]string) samtemplate.GatewayResponse {
	r := samtemplate.GatewayResponse{StatusCode: status, ResponseTemplates: map[string]string{"application/json": body}}
	r.ResponseParameters.Headers = headers
	return r
}

// service is an API with and without an authorizer: /things and /things/{id}, /open and /open/{id}.
type service struct {
	gateway.Config
	mu      sync.Mutex // guards the fields below: a server handles requests concurrently
	lines   []string
	records []*terminal.Entry
}

func newService(thing, authorizer handler) *service {
	var ids atomic.Int64
	s := &service{}
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
			GatewayResponses: map[string]samtemplate.GatewayResponse{
				"DEFAULT_4XX": declared(0, "4", nil), "DEFAULT_5XX": declared(0, "5", nil),
			},
			AccessLogFormat: "$context.status $context.error.responseType $context.authorizer.principalId",
		},
		Functions: map[string]*invoke.Function{
			"Thing":      {Name: "thing", Handler: thing, ARN: thingARN, Timeout: 10 * time.Second},
			"Authorizer": {Name: "authorizer", Handler: authorizer, Timeout: 5 * time.Second},
		},
		Region: "eu-west-1", AccountID: "123456789012", APIID: "a1b2c3d4e5",
		Now:   func() time.Time { return time.Date(2026, 7, 10, 19, 19, 4, 836e6, time.UTC) },
		NewID: func() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids.Add(1)) },
		AccessLog: func(line []byte, _ time.Time) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.lines = append(s.lines, string(line))
		},
		OnRequest: func(r *terminal.Entry) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.records = append(s.records, r)
		},
	}
	return s
}

func (s *service) gateway(tb testing.TB) *gateway.Gateway {
	tb.Helper()
	g, err := gateway.New(s.Config)
	assert.OK(tb, err)
	return g
}

// send handles a request to http://example.com; headers are "Name: value".
func (s *service) send(tb testing.TB, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	tb.Helper()
	request := httptest.NewRequestWithContext(tb.Context(), method, target, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if request.Header.Add(name, value); name == "Host" {
			request.Host = value
		}
	}
	return s.serve(tb, request)
}

func (s *service) serve(tb testing.TB, request *http.Request) *httptest.ResponseRecorder {
	tb.Helper()
	w := httptest.NewRecorder()
	s.gateway(tb).ServeHTTP(w, request)
	return w
}

// listen serves the gateway on a port, as the local service does.
func (s *service) listen(tb testing.TB, change func(*http.Server)) (address string) {
	tb.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = gateway.NewServer(s.gateway(tb))
	if change != nil {
		change(server.Config)
	}
	server.Start()
	tb.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func equal(tb testing.TB, what, got, want string) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}
