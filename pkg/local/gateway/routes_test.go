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
	s := newService(returns(ok), nil)
	s.API.Authorizer, s.API.Routes = samtemplate.Authorizer{}, nil
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
		s.Functions[row[2]] = &invoke.Function{Name: row[2], Handler: returns(ok), Timeout: time.Second}
	}
	for _, row := range table.Rows(t, 3, `
		# method | target | function
		GET | / | root
		POST | /things | listAny
		# a trailing slash is ignored
		GET | /things/ | list
		GET | /things/7 | one
		GET | /things/mine | mine
		GET | /things/a%2Fb | one
		# raw segments are compared
		GET | /%74hings | catchAll
		PUT | /things/7/parts/8 | part
		# a parent without methods
		GET | /things/7/parts | catchAll
		GET | /files | catchAll
		GET | /things// | catchAll
		GET | /things?x=/y | list
		# no fallback for a method
		DELETE | /things/7 |
		BREW | / |
	`) {
		s.send(t, row[0], row[1], "")
		equal(t, strings.Join(row, " "), s.records[len(s.records)-1].Function, row[2])
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
	check := func(want string, change func(*service)) {
		t.Helper()
		s := newService(returns(ok), returns(allowAll))
		change(s)
		if _, err := gateway.New(s.Config); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for _, row := range table.Rows(t, 3, `
		BREW | /x | unknown method
		GET | /things | declared twice
		GET | x | malformed resource path
		GET | /x//y | malformed resource path
		GET | /x/ | malformed resource path
		GET | /{x | malformed resource path
		GET | /a{x} | malformed resource path
		GET | /{x+}/y | malformed resource path
	`) {
		check("route "+row[0]+" "+row[1]+": "+row[2], func(s *service) {
			s.API.Routes = append(s.API.Routes, samtemplate.Route{Method: row[0], Path: row[1], Function: "Thing"})
		})
	}
	response := func(name string, r samtemplate.GatewayResponse) func(*service) {
		return func(s *service) { s.API.GatewayResponses[name] = r }
	}
	header := func(expression string) func(*service) {
		return response("THROTTLED", declared(429, "", map[string]string{"X": expression}))
	}
	for want, change := range map[string]func(*service){
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
		check(want, change)
	}
}
