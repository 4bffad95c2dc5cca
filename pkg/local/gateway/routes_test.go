package gateway_test

import (
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
	check := func(want string, change func(*service)) {
		t.Helper()
		s := newService()
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
	for _, row := range table.Rows(t, 4, `
		THROTTLED | $context.path | '' | : $context.path is not supported, only $context.requestId
		THROTTLED | | context.path | : header X: context.path is not supported, only 'text' and context.requestId
		THROTTLED | | no-store | : header X: no-store is not supported, only 'text' and context.requestId
		DEFAULT_4XX | | '' | " must be declared, without a StatusCode"
	`) {
		check("gateway response "+row[0]+row[3], func(s *service) {
			s.declare(row[0], 429, row[1], map[string]string{"X": row[2]})
		})
	}
	for want, change := range map[string]func(*service){
		"gateway response THROTTLED: needs one template, for application/json": func(s *service) {
			s.API.GatewayResponses["THROTTLED"] = samtemplate.GatewayResponse{}
		},
		"route GET /things: the API has no authorizer": func(s *service) { s.API.Authorizer.Function = "" },
		"authorizer Token: ReauthorizeEvery must be 0, not 60: there is no authorizer cache": func(s *service) {
			s.API.Authorizer.TTL = time.Minute
		},
		"access log format: $context.httpMethod is not supported, only $context.authorizer.principalId, " +
			"$context.error.responseType, $context.extendedRequestId, $context.identity.sourceIp, $context.requestId, " +
			"$context.requestTimeEpoch, $context.resourcePath, $context.responseLatency, $context.status": func(s *service) { s.API.AccessLogFormat = "$context.httpMethod" },
	} {
		check(want, change)
	}
}
