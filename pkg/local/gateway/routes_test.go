package gateway_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/samtemplate"
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
		{"ANY", "POST", "/things", "listAny"},
		{"trailing slash", "GET", "/things/", "list"},
		{"parameter before greedy", "GET", "/things/7", "one"},
		{"fixed before parameter", "GET", "/things/mine", "mine"},
		{"encoded slash", "GET", "/things/a%2Fb", "one"},
		{"encoded fixed segment", "GET", "/%74hings", "catchAll"},
		{"two parameters", "PUT", "/things/7/parts/8", "part"},
		{"parent without methods", "GET", "/things/7/parts", "catchAll"},
		{"greedy needs a segment", "GET", "/files", "catchAll"},
		{"two trailing slashes", "GET", "/things//", "catchAll"},
		{"slash in the query", "GET", "/things?x=/y", "list"},
		{"no fallback for a method", "DELETE", "/things/7", ""},
		{"invented method", "BREW", "/", ""},
	} {
		s.send(t, tt.method, tt.target, "")
		equal(t, tt.name, s.records[len(s.records)-1].Function, tt.want)
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
			s.API.Routes = append(s.API.Routes, samtemplate.Route{Path: path, Method: method, Function: function})
		}
	}
	response := func(name string, r samtemplate.GatewayResponse) func(*service) {
		return func(s *service) { s.API.GatewayResponses[name] = r }
	}
	header := func(expression string) func(*service) {
		return response("THROTTLED", declared(429, "", map[string]string{"X": expression}))
	}
	for want, change := range map[string]func(*service){
		"route BREW /x: unknown method":                route("BREW", "/x", "Thing"),
		"route GET /things: declared twice":            route("GET", "/things", "Thing"),
		"route GET x: malformed resource path":         route("GET", "x", "Thing"),
		"route GET /x//y: malformed resource path":     route("GET", "/x//y", "Thing"),
		"route GET /x/: malformed resource path":       route("GET", "/x/", "Thing"),
		"route GET /{x: malformed resource path":       route("GET", "/{x", "Thing"),
		"route GET /a{x}: malformed resource path":     route("GET", "/a{x}", "Thing"),
		"route GET /{x+}/y: malformed resource path":   route("GET", "/{x+}/y", "Thing"),
		"route GET /things: the API has no authorizer": func(s *service) { s.API.Authorizer.Function = "" },
		"authorizer Token: ReauthorizeEvery must be 0, not 60: there is no authorizer cache": func(s *service) {
			s.API.Authorizer.TTL = time.Minute
		},
		"gateway response THROTTLED: $context.path is not supported, only $context.requestId": response("THROTTLED",
			declared(429, "$context.path", nil)),
		"gateway response THROTTLED: header X: context.path is not supported, only 'text' and context.requestId": header(
			"context.path"),
		"gateway response THROTTLED: header X: no-store is not supported, only 'text' and context.requestId": header(
			"no-store"),
		"gateway response THROTTLED: needs one template, for application/json": response("THROTTLED",
			samtemplate.GatewayResponse{}),
		"gateway response DEFAULT_4XX must be declared, without a StatusCode": response("DEFAULT_4XX", declared(400, "", nil)),
		"access log format: $context.httpMethod is not supported, only $context.authorizer.principalId, $context.error.responseType, " +
			"$context.extendedRequestId, $context.identity.sourceIp, $context.requestId, $context.requestTimeEpoch, $context.resourcePath, " +
			"$context.responseLatency, $context.status": func(s *service) { s.API.AccessLogFormat = "$context.httpMethod" },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := newService(returns(ok), returns(allowAll))
			change(s)
			if _, err := gateway.New(s.Config); err == nil || err.Error() != want {
				t.Errorf("error %v", err)
			}
		})
	}
}
