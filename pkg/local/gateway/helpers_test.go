package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/samtemplate"
)

// handler is a Lambda handler that is safe for concurrent use.
type handler func(ctx context.Context, payload []byte) ([]byte, error)

func (h handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

// says is a function that always answers the same.
func says(output string) handler {
	return func(context.Context, []byte) ([]byte, error) { return []byte(output), nil }
}

// fails is a function that always fails.
func fails(err error) handler {
	return func(context.Context, []byte) ([]byte, error) { return nil, err }
}

const (
	ok       = `{"statusCode":200,"body":"ok"}`
	allowAll = `{"principalId":"user:1","policyDocument":{"Version":"2012-10-17",` +
		`"Statement":[{"Action":"execute-api:Invoke","Effect":"Allow","Resource":"*"}]}}`
	thingARN     = "arn:aws:lambda:eu-west-1:123456789012:function:thing"
	fixedUUID    = "00000000-0000-4000-8000-%012d"
	chosenUUID   = "7c2af7db-31f3-42b5-8a6d-9ffc74e3b9e0"
	fixedInstant = "2026-07-10T19:19:04.836Z"
)

// setup is a gateway under test: GET /things and anything on /things/{id} with the authorizer, GET /open without.
type setup struct {
	config gateway.Config
	lines  lines
	record atomic.Pointer[gateway.Record]
}

type lines struct {
	sync.Mutex
	all []string
}

func (l *lines) add(line []byte, _ time.Time) {
	l.Lock()
	defer l.Unlock()
	l.all = append(l.all, string(line))
}

func (l *lines) take() []string {
	l.Lock()
	defer l.Unlock()
	return append([]string(nil), l.all...)
}

func newSetup(thing, authorizer handler) *setup {
	var ids atomic.Int64
	at, _ := time.Parse(time.RFC3339Nano, fixedInstant)
	s := &setup{}
	s.config = gateway.Config{
		API: samtemplate.API{
			Stage:      "prod",
			Authorizer: samtemplate.Authorizer{Name: "Token", Function: "Authorizer", IdentityHeaders: []string{"Authorization"}},
			Routes: []samtemplate.Route{
				{Path: "/things", Method: "GET", Function: "Thing", Authorized: true},
				{Path: "/things/{id}", Method: "ANY", Function: "Thing", Authorized: true},
				{Path: "/open", Method: "ANY", Function: "Thing"},
				{Path: "/open/{id}", Method: "ANY", Function: "Thing"},
			},
			GatewayResponses: map[string]samtemplate.GatewayResponse{},
		},
		Functions: map[string]gateway.Function{
			"Thing":      {Handler: thing, ARN: thingARN, Timeout: 10 * time.Second},
			"Authorizer": {Handler: authorizer, ARN: "arn:aws:lambda:eu-west-1:123456789012:function:authorizer", Timeout: 5 * time.Second},
		},
		Region: "eu-west-1", AccountID: "123456789012", APIID: "a1b2c3d4e5",
		Now:   func() time.Time { return at },
		NewID: func() string { return fmt.Sprintf(fixedUUID, ids.Add(1)) },
	}
	s.config.OnRequest = func(r gateway.Record) { s.record.Store(&r) }
	s.config.AccessLog = s.lines.add
	return s
}

func (s *setup) gateway(tb testing.TB) *gateway.Gateway {
	tb.Helper()
	g, err := gateway.New(s.config)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	tb.Cleanup(g.Close)
	return g
}

// start serves the gateway on a port as `make run` does and gives its base URL.
func (s *setup) start(tb testing.TB) string {
	tb.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = gateway.NewServer(s.gateway(tb))
	server.Listener = gateway.NewListener(server.Listener)
	server.Start()
	tb.Cleanup(server.Close)
	return server.URL
}

// reply is an answer, read to its end.
type reply struct {
	*http.Response
	text string
}

// send makes a request; headers are "Name: value".
func send(tb testing.TB, method, url, body string, headers ...string) reply {
	tb.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(tb.Context(), method, url, reader)
	if err != nil {
		tb.Fatalf("make request: %v", err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Add(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, url, err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatalf("read answer: %v", err)
	}
	return reply{response, string(content)}
}

// capture is a function that keeps its event and answers 200.
type capture struct {
	raw atomic.Pointer[[]byte]
}

func (c *capture) Invoke(_ context.Context, payload []byte) ([]byte, error) {
	kept := append([]byte(nil), payload...)
	c.raw.Store(&kept)
	return []byte(ok), nil
}

func (c *capture) text(tb testing.TB) string {
	tb.Helper()
	raw := c.raw.Load()
	if raw == nil {
		tb.Fatal("the function was not called")
	}
	return string(*raw)
}

func (c *capture) request(tb testing.TB) (e events.APIGatewayProxyRequest) {
	tb.Helper()
	decode(tb, c.text(tb), &e)
	return e
}

func (c *capture) members(tb testing.TB) (m map[string]any) {
	tb.Helper()
	decode(tb, c.text(tb), &m)
	return m
}

func decode(tb testing.TB, text string, into any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		tb.Fatalf("decode %s: %v", text, err)
	}
}

func wantStatus(tb testing.TB, r reply, status int) {
	tb.Helper()
	if r.StatusCode != status {
		tb.Fatalf("status %d, want %d; body %s", r.StatusCode, status, r.text)
	}
}

func equal(tb testing.TB, what, got, want string) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

var errNotUTF8 = errors.New("the event is not valid UTF-8")

func newServer(tb testing.TB) *http.Server {
	tb.Helper()
	return gateway.NewServer(newSetup(says(ok), says(allowAll)).gateway(tb))
}
