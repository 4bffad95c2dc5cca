package gateway_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/samtemplate"
)

func TestRouting(t *testing.T) {
	t.Parallel()
	s := newService()
	s.API.Routes = nil
	for _, route := range []struct{ method, path, function string }{
		{"ANY", "/{proxy+}", "catchAll"},
		{"ANY", "/", "root"},
		{"GET", "/things", "list"},
		{"ANY", "/things", "listAny"},
		{"GET", "/things/{id}", "one"},
		{"GET", "/things/mine", "mine"},
		{"PUT", "/things/{id}/parts/{part}", "part"},
		{"GET", "/files/{path+}", "files"},
	} {
		s.API.Routes = append(s.API.Routes, samtemplate.Route{
			Method:   route.method,
			Path:     route.path,
			Function: route.function,
		})
		s.Functions[route.function] = &invoke.Function{
			Handler: s.function("", `{"statusCode":200,"body":"`+route.function+`"}`),
			Timeout: time.Second,
		}
	}
	for _, test := range []struct{ request, function string }{
		{"GET /", "root"},
		{"POST /things", "listAny"},
		{"GET /things/", "list"}, // a trailing slash is ignored
		{"GET /things/7", "one"},
		{"GET /things/mine", "mine"},
		{"GET /things/a%2Fb", "one"},
		{"GET /%74hings", "catchAll"}, // raw segments are compared
		{"PUT /things/7/parts/8", "part"},
		{"GET /things/7/parts", "catchAll"}, // a parent without methods
		{"GET /files", "catchAll"},
		{"GET /things//", "catchAll"},
		{"GET /things?x=/y", "list"},
	} {
		s.expect(t, test.request, "", "200 - -", test.function)
	}
	// There is no fallback for a method.
	s.expect(t, "DELETE /things/7", "", "403 MISSING_AUTHENTICATION_TOKEN -", "4")
	s.expect(t, "DELETE /things/7 Authorization: x", "", "403 INVALID_SIGNATURE -", "4")
	s.expect(t, "BREW /", "", "403 MISSING_AUTHENTICATION_TOKEN -", "4")
}

func TestNewRejects(t *testing.T) {
	t.Parallel()
	for route, want := range map[string]string{
		"BREW /x":     "route BREW /x: unknown method",
		"GET /things": "route GET /things: declared twice",
		"GET x":       "route GET x: malformed resource path",
		"GET /x//y":   "route GET /x//y: malformed resource path",
		"GET /x/":     "route GET /x/: malformed resource path",
		"GET /{x":     "route GET /{x: malformed resource path",
		"GET /a{x}":   "route GET /a{x}: malformed resource path",
		"GET /{x+}/y": "route GET /{x+}/y: malformed resource path",
	} {
		s := newService()
		method, path, _ := strings.Cut(route, " ")
		s.API.Routes = append(s.API.Routes, samtemplate.Route{Method: method, Path: path, Function: "Thing"})
		rejects(t, s, want)
	}
	for _, response := range []struct{ kind, template, header, want string }{
		{
			"THROTTLED", "$context.path", "''",
			"gateway response THROTTLED: $context.path is not supported, only $context.requestId",
		},
		{
			"THROTTLED", "text", "context.path",
			"gateway response THROTTLED: header X: context.path is not supported, only 'text' and context.requestId",
		},
		{
			"THROTTLED", "text", "no-store",
			"gateway response THROTTLED: header X: no-store is not supported, only 'text' and context.requestId",
		},
		{"DEFAULT_4XX", "text", "''", "gateway response DEFAULT_4XX must be declared, without a StatusCode"},
	} {
		s := newService()
		s.declare(response.kind, 429, response.template, map[string]string{"X": response.header})
		rejects(t, s, response.want)
	}

	s := newService()
	s.API.GatewayResponses["THROTTLED"] = samtemplate.GatewayResponse{}
	rejects(t, s, "gateway response THROTTLED: needs one template, for application/json")

	s = newService()
	s.API.Authorizer.Function = ""
	rejects(t, s, "route GET /things: the API has no authorizer")

	s = newService()
	s.API.Authorizer.TTL = time.Minute
	rejects(t, s, "authorizer Token: ReauthorizeEvery must be 0, not 60: there is no authorizer cache")

	s = newService()
	s.API.AccessLogFormat = "$context.httpMethod"
	rejects(t, s, "access log format: $context.httpMethod is not supported, only $context.authorizer.principalId, "+
		"$context.error.responseType, $context.extendedRequestId, $context.identity.sourceIp, $context.requestId, "+
		"$context.requestTimeEpoch, $context.resourcePath, $context.responseLatency, $context.status")
}

func rejects(t *testing.T, s *service, want string) {
	t.Helper()
	if _, err := gateway.New(s.Config); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
