package gateway_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/table"
)

func TestRouting(t *testing.T) {
	t.Parallel()
	s := newService()
	s.API.Routes = nil
	for _, row := range table.Rows(t, 3, `
		# method | path | function
		ANY | /{proxy+} | catchAll
		ANY | / | root
		GET | /things | list
		ANY | /things | listAny
		GET | /things/{id} | one
		GET | /things/mine | mine
		PUT | /things/{id}/parts/{part} | part
		GET | /files/{path+} | files
	`) {
		s.API.Routes = append(s.API.Routes, samtemplate.Route{Method: row[0], Path: row[1], Function: row[2]})
		s.Functions[row[2]] = &invoke.Function{
			Handler: s.function("", `{"statusCode":200,"body":"`+row[2]+`"}`), Timeout: time.Second}
	}
	s.run(t, `
		GET / | | 200 - - | root |
		POST /things | | 200 - - | listAny |
		# a trailing slash is ignored
		GET /things/ | | 200 - - | list |
		GET /things/7 | | 200 - - | one |
		GET /things/mine | | 200 - - | mine |
		GET /things/a%2Fb | | 200 - - | one |
		# raw segments are compared
		GET /%74hings | | 200 - - | catchAll |
		PUT /things/7/parts/8 | | 200 - - | part |
		# a parent without methods
		GET /things/7/parts | | 200 - - | catchAll |
		GET /files | | 200 - - | catchAll |
		GET /things// | | 200 - - | catchAll |
		GET /things?x=/y | | 200 - - | list |
		# no fallback for a method
		DELETE /things/7 | | 403 MISSING_AUTHENTICATION_TOKEN - | 4 |
		DELETE /things/7 Authorization: x | | 403 INVALID_SIGNATURE - | 4 |
		BREW / | | 403 MISSING_AUTHENTICATION_TOKEN - | 4 |
	`)
}

func TestNewRejects(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		# change | error
		route BREW /x | route BREW /x: unknown method
		route GET /things | route GET /things: declared twice
		route GET x | route GET x: malformed resource path
		route GET /x//y | route GET /x//y: malformed resource path
		route GET /x/ | route GET /x/: malformed resource path
		route GET /{x | route GET /{x: malformed resource path
		route GET /a{x} | route GET /a{x}: malformed resource path
		route GET /{x+}/y | route GET /{x+}/y: malformed resource path
		response THROTTLED $context.path '' | gateway response THROTTLED: $context.path is not supported, only $context.requestId
		response THROTTLED text context.path | gateway response THROTTLED: header X: context.path is not supported, only 'text' and context.requestId
		response THROTTLED text no-store | gateway response THROTTLED: header X: no-store is not supported, only 'text' and context.requestId
		response DEFAULT_4XX text '' | gateway response DEFAULT_4XX must be declared, without a StatusCode
		no-template THROTTLED | gateway response THROTTLED: needs one template, for application/json
		no-authorizer | route GET /things: the API has no authorizer
		cache | authorizer Token: ReauthorizeEvery must be 0, not 60: there is no authorizer cache
		log $context.httpMethod | access log format: $context.httpMethod is not supported, only $context.authorizer.principalId, $context.error.responseType, $context.extendedRequestId, $context.identity.sourceIp, $context.requestId, $context.requestTimeEpoch, $context.resourcePath, $context.responseLatency, $context.status
	`) {
		s, words := newService(), strings.Fields(row[0])
		switch words[0] {
		case "route":
			s.API.Routes = append(s.API.Routes, samtemplate.Route{Method: words[1], Path: words[2], Function: "Thing"})
		case "response":
			s.declare(words[1], 429, words[2], map[string]string{"X": words[3]})
		case "no-template":
			s.API.GatewayResponses[words[1]] = samtemplate.GatewayResponse{}
		case "no-authorizer":
			s.API.Authorizer.Function = ""
		case "cache":
			s.API.Authorizer.TTL = time.Minute
		case "log":
			s.API.AccessLogFormat = words[1]
		}
		if _, err := gateway.New(s.Config); err == nil || err.Error() != row[1] {
			t.Errorf("error %v, want %s", err, row[1])
		}
	}
}
