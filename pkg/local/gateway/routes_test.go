package gateway_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/samtemplate"
)

func TestRouting(t *testing.T) {
	t.Parallel()
	s := newService(returns(ok), nil)
	s.API.Authorizer, s.API.Routes = samtemplate.Authorizer{}, nil
	for _, r := range []samtemplate.Route{
		{Method: "ANY", Path: "/{proxy+}", Function: "catchAll"},
		{Method: "ANY", Path: "/", Function: "root"},
		{Method: "GET", Path: "/things", Function: "list"},
		{Method: "ANY", Path: "/things", Function: "listAny"},
		{Method: "GET", Path: "/things/{id}", Function: "one"},
		{Method: "GET", Path: "/things/mine", Function: "mine"},
		{Method: "PUT", Path: "/things/{id}/parts/{part}", Function: "part"},
		{Method: "GET", Path: "/files/{path+}", Function: "files"},
	} {
		s.API.Routes = append(s.API.Routes, r)
		s.Functions[r.Function] = &invoke.Function{Name: r.Function, Handler: returns(ok), Timeout: time.Second}
	}
	for _, tt := range []struct{ name, method, target, want string }{
		{"root", "GET", "/", "root"},
		{"own method before ANY", "GET", "/things", "list"},
		{"ANY", "POST", "/things", "listAny"},
		{"trailing slash", "GET", "/things/", "list"},
		{"parameter before greedy", "GET", "/things/7", "one"},
		{"fixed before parameter", "GET", "/things/mine", "mine"},
		{"encoded slash", "GET", "/things/a%2Fb", "one"},
		{"encoded fixed segment", "GET", "/%74hings", "catchAll"},
		{"other letter case", "GET", "/Things", "catchAll"},
		{"two parameters", "PUT", "/things/7/parts/8", "part"},
		{"parent without methods", "GET", "/things/7/parts", "catchAll"},
		{"greedy", "GET", "/files/a/b/c", "files"},
		{"greedy needs a segment", "GET", "/files", "catchAll"},
		{"two trailing slashes", "GET", "/things//", "catchAll"},
		{"two leading slashes", "GET", "//things", "catchAll"},
		{"slash in the query", "GET", "/things?x=/y", "list"},
		{"no fallback for a method", "DELETE", "/things/7", ""},
		{"unknown method", "TRACE", "/things", ""},
		{"invented method", "BREW", "/", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.send(t, tt.method, tt.target, "")
			equal(t, "function", s.records[len(s.records)-1].Function, tt.want)
		})
	}
}

func TestUnknownMethod(t *testing.T) {
	t.Parallel()
	s := newService(returns(ok), returns(allowAll))
	s.send(t, "POST", "/things", "")
	s.send(t, "POST", "/things", "", "Authorization: Bearer x")
	equal(t, "without Authorization", s.lines[0], "403 MISSING_AUTHENTICATION_TOKEN -")
	equal(t, "with Authorization", s.lines[1], "403 INVALID_SIGNATURE -")
}

func TestNewRejects(t *testing.T) {
	t.Parallel()
	route := func(method, path, function string) func(*service) {
		return func(s *service) {
			s.API.Routes = append(s.API.Routes, samtemplate.Route{Method: method, Path: path, Function: function})
		}
	}
	response := func(name string, status int, header, mediaType, body string) func(*service) {
		return func(s *service) {
			s.API.GatewayResponses[name] = samtemplate.GatewayResponse{
				StatusCode: status, Headers: map[string]string{"X": header}, Templates: map[string]string{mediaType: body},
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*service)
		want   string
	}{
		{"unknown function", route("GET", "/x", "Nobody"), `route GET /x: function "Nobody" does not exist`},
		{"unknown authorizer", func(s *service) { s.API.Authorizer.Function = "No" }, `authorizer Token: function "No" does not exist`},
		{"no authorizer", func(s *service) { s.API.Authorizer.Function = "" }, "route GET /things: the API has no authorizer"},
		{"authorizer cache", func(s *service) { s.API.Authorizer.TTL = time.Minute },
			"authorizer Token: ReauthorizeEvery must be 0, not 60: there is no authorizer cache"},
		{"unknown method", route("BREW", "/x", "Thing"), "route BREW /x: unknown method"},
		{"twice", route("GET", "/things", "Thing"), "route GET /things: declared twice"},
		{"relative path", route("GET", "x", "Thing"), "route GET x: malformed resource path"},
		{"empty segment", route("GET", "/x//y", "Thing"), "route GET /x//y: malformed resource path"},
		{"trailing slash", route("GET", "/x/", "Thing"), "route GET /x/: malformed resource path"},
		{"half a parameter", route("GET", "/{x", "Thing"), "route GET /{x: malformed resource path"},
		{"part of a segment", route("GET", "/a{x}", "Thing"), "route GET /a{x}: malformed resource path"},
		{"greedy inside", route("GET", "/{x+}/y", "Thing"), "route GET /{x+}/y: malformed resource path"},
		{"variable in a body", response("THROTTLED", 0, "''", "application/json", "$context.error.message"),
			"gateway response THROTTLED: $context.error.message is not supported, only $context.requestId"},
		{"variable in a header", response("THROTTLED", 0, "context.path", "application/json", ""),
			"gateway response THROTTLED: header X: $context.path is not supported, only $context.requestId"},
		{"neither constant nor variable", response("THROTTLED", 0, "no-store", "application/json", ""),
			"gateway response THROTTLED: header X: $no is not supported, only $context.requestId"},
		{"other media type", response("THROTTLED", 0, "''", "text/html", ""),
			"gateway response THROTTLED: needs one template, for application/json"},
		{"default that changes the status of all others", response("DEFAULT_4XX", 400, "''", "application/json", ""),
			"gateway response DEFAULT_4XX must be declared, without a StatusCode"},
		{"no default", func(s *service) { delete(s.API.GatewayResponses, "DEFAULT_5XX") },
			"gateway response DEFAULT_5XX must be declared, without a StatusCode"},
		{"log variable", func(s *service) { s.API.AccessLogFormat = "$context.path" }, "access log format: $context.path is not supported, only " +
			"$context.authorizer.principalId, $context.error.responseType, $context.extendedRequestId, $context.httpMethod, " +
			"$context.requestId, $context.requestTimeEpoch, $context.resourcePath, $context.responseLatency, $context.status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(returns(ok), returns(allowAll))
			tt.change(s)
			if _, err := gateway.New(s.Config); err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
	s := newService(returns(ok), returns(allowAll))
	s.Functions["Thing"].Handler = lambda.NewHandler(func() (string, error) { return "", nil })
	if _, err := gateway.New(s.Config); !errors.Is(err, gateway.ErrSharedBuffer) {
		t.Errorf("error %v, want ErrSharedBuffer", err)
	}
}
