package gateway_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/samtemplate"
)

func TestRouting(t *testing.T) {
	t.Parallel()
	s := newSetup(nil, says(allowAll))
	s.config.Functions = map[string]gateway.Function{}
	s.config.API.Authorizer = samtemplate.Authorizer{}
	s.config.API.Routes = nil
	add := func(method, path, name string) {
		s.config.API.Routes = append(s.config.API.Routes, samtemplate.Route{Method: method, Path: path, Function: name})
		s.config.Functions[name] = gateway.Function{Handler: says(`{"statusCode":200,"body":"` + name + `"}`)}
	}
	add("ANY", "/{proxy+}", "catchAll")
	add("ANY", "/", "root")
	add("GET", "/things", "list")
	add("ANY", "/things", "listAny")
	add("GET", "/things/{id}", "one")
	add("GET", "/things/mine", "mine")
	add("PUT", "/things/{id}/parts/{part}", "part")
	add("GET", "/files/{path+}", "files")
	base := s.start(t)
	for _, tt := range []struct {
		name, method, path, want string
	}{
		{"RootResource", "GET", "/", "root"},
		{"SpecificMethodOverAny", "GET", "/things", "list"},
		{"AnyTakesTheOtherMethods", "POST", "/things", "listAny"},
		{"AnyTakesHead", "HEAD", "/things", ""},
		{"TrailingSlashIgnored", "GET", "/things/", "list"},
		{"ParameterOverGreedy", "GET", "/things/7", "one"},
		{"FixedSegmentOverParameter", "GET", "/things/mine", "mine"},
		{"EncodedSlashSplitsNoSegment", "GET", "/things/a%2Fb", "one"},
		{"FixedSegmentsAreComparedRaw", "GET", "/%74hings", "catchAll"},
		{"FixedSegmentsHaveLetterCase", "GET", "/Things", "catchAll"},
		{"TwoParameters", "PUT", "/things/7/parts/8", "part"},
		{"ParentWithoutMethodsFallsBackToGreedy", "GET", "/things/7/parts", "catchAll"},
		{"GreedyTakesManySegments", "GET", "/files/a/b/c", "files"},
		{"GreedyNeedsASegment", "GET", "/files", "catchAll"},
		{"NearerGreedyWins", "GET", "/files/x", "files"},
		{"DoubledSlashIsNoResource", "GET", "/things//", "catchAll"},
		{"DoubledSlashInside", "GET", "//things", "catchAll"},
		{"UnknownPath", "DELETE", "/nothing/here", "catchAll"},
		{"QueryIsNoPath", "GET", "/things?x=/y", "list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := send(t, tt.method, base+tt.path, "")
			wantStatus(t, r, http.StatusOK)
			equal(t, "answered by", r.text, tt.want)
		})
	}
}

func TestMatchedResourceLacksMethod(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	s.config.API.Routes = append(s.config.API.Routes, samtemplate.Route{Path: "/{proxy+}", Method: "ANY", Function: "Thing"})
	base := s.start(t)
	wantStatus(t, send(t, "POST", base+"/things", ""), http.StatusForbidden)
	wantStatus(t, send(t, "POST", base+"/elsewhere", ""), http.StatusOK)
}

func TestUnknownPathOrMethod(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	base := s.start(t)
	for _, tt := range []struct{ name, method, path string }{
		{"Path", "GET", "/nothing"},
		{"DoubledSlash", "GET", "//open"},
		{"Method", "POST", "/things"},
		{"HeadHasNoRoute", "HEAD", "/things"},
		{"OptionsHasNoRoute", "OPTIONS", "/things"},
		{"NoneOfTheSevenMethods", "TRACE", "/open"},
		{"InventedMethod", "BREW", "/open"},
		{"RootWithoutRoute", "GET", "/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := send(t, tt.method, base+tt.path, "")
			wantStatus(t, r, http.StatusForbidden)
			equal(t, "error type", r.Header.Get("X-Amzn-Errortype"), "MissingAuthenticationTokenException")
			if tt.method != http.MethodHead {
				equal(t, "body", r.text, `{"message":"Missing Authentication Token"}`)
			}
		})
	}
}

func TestUnknownPathWithAuthorization(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	base := s.start(t)
	r := send(t, "GET", base+"/nothing", "", "Authorization: Bearer abc")
	wantStatus(t, r, http.StatusForbidden)
	equal(t, "error type", r.Header.Get("X-Amzn-Errortype"), "IncompleteSignatureException")
	equal(t, "body", r.text,
		`{"message":"'abc' not a valid key=value pair (missing equal-sign) in Authorization header: 'Bearer abc'."}`)

	s.config.API.GatewayResponses = map[string]samtemplate.GatewayResponse{
		"MISSING_AUTHENTICATION_TOKEN": {StatusCode: 404, Templates: map[string]string{"application/json": `{"a":1}`}},
		"INVALID_SIGNATURE":            {StatusCode: 404, Templates: map[string]string{"application/json": `{"b":1}`}},
	}
	base = s.start(t)
	r = send(t, "GET", base+"/nothing", "", "Authorization: Bearer abc")
	wantStatus(t, r, http.StatusNotFound)
	equal(t, "body", r.text, `{"b":1}`)
	r = send(t, "POST", base+"/things", "", "Authorization: ")
	wantStatus(t, r, http.StatusNotFound)
	equal(t, "body without a value", r.text, `{"a":1}`)
}

func TestMethodOverride(t *testing.T) {
	t.Parallel()
	function := &capture{}
	s := newSetup(function.Invoke, says(allowAll))
	base := s.start(t)
	wantStatus(t, send(t, "POST", base+"/things", "", "X-HTTP-Method-Override: GET", "Authorization: x"), http.StatusOK)
	equal(t, "method", function.request(t).HTTPMethod, "GET")
	equal(t, "method in the context", function.request(t).RequestContext.HTTPMethod, "GET")
	wantStatus(t, send(t, "GET", base+"/open", "", "X-HTTP-Method-Override: BREW"), http.StatusForbidden)
}

func TestNewRefusesWhatItCannotPlay(t *testing.T) {
	t.Parallel()
	route := func(method, path, function string) func(*gateway.Config) {
		return func(c *gateway.Config) {
			c.API.Routes = append(c.API.Routes, samtemplate.Route{Method: method, Path: path, Function: function})
		}
	}
	responseOf := func(name string, r samtemplate.GatewayResponse) func(*gateway.Config) {
		return func(c *gateway.Config) { c.API.GatewayResponses[name] = r }
	}
	body := func(text string) samtemplate.GatewayResponse {
		return samtemplate.GatewayResponse{Templates: map[string]string{"application/json": text}}
	}
	header := func(expression string) samtemplate.GatewayResponse {
		return samtemplate.GatewayResponse{Headers: map[string]string{"X": expression}}
	}
	html := samtemplate.GatewayResponse{Templates: map[string]string{"text/html": ""}}
	for _, tt := range []struct {
		name   string
		change func(*gateway.Config)
		want   string
	}{
		{"UnknownFunction", route("GET", "/x", "Nobody"), `route GET /x: there is no function "Nobody"`},
		{"UnknownAuthorizerFunction", func(c *gateway.Config) { c.API.Authorizer.Function = "No" }, `authorizer Token: there is no function "No"`},
		{"NoAuthorizer", func(c *gateway.Config) { c.API.Authorizer.Function = "" }, "route GET /things: the API has no authorizer"},
		{"UnknownMethod", route("BREW", "/x", "Thing"), "route BREW /x: unknown method"},
		{"Twice", route("GET", "/things", "Thing"), "route GET /things: stands there twice"},
		{"RelativePath", route("GET", "x", "Thing"), "route GET x: the path must begin with /"},
		{"EmptySegment", route("GET", "/x//y", "Thing"), "route GET /x//y: the path has an empty segment"},
		{"TrailingSlash", route("GET", "/x/", "Thing"), "route GET /x/: the path has an empty segment"},
		{"HalfParameter", route("GET", "/{x", "Thing"), `route GET /{x: segment "{x" is no parameter`},
		{"MixedSegment", route("GET", "/a{x}", "Thing"), `route GET /a{x}: segment "a{x}" is neither fixed nor a parameter`},
		{"GreedyInside", route("GET", "/{x+}/y", "Thing"), `route GET /{x+}/y: segment "{x+}" must be the last`},
		{"OtherName", route("GET", "/things/{key}", "Thing"), `route GET /things/{key}: segment "{key}" is called {id} elsewhere`},
		{"UnknownResponseType", responseOf("TEAPOT", body("{}")), "gateway response TEAPOT: there is no such type"},
		{"UnknownVariable", responseOf("UNAUTHORIZED", body("$context.nonsense")),
			"gateway response UNAUTHORIZED: template: $context.nonsense is no variable that can be played"},
		{"StageVariable", responseOf("UNAUTHORIZED", body("$stageVariables.x")),
			"gateway response UNAUTHORIZED: template: $stageVariables.x can not be played: only $context variables are"},
		{"RequestParameter", responseOf("THROTTLED", header("method.request.header.X")),
			`gateway response THROTTLED: header X: ` +
				`mapping expression "method.request.header.X" can not be played: it is neither 'constant' nor context.variable`},
		{"BareConstant", responseOf("THROTTLED", header("no-store")),
			`gateway response THROTTLED: header X: ` +
				`mapping expression "no-store" can not be played: it is neither 'constant' nor context.variable`},
		{"OtherMediaType", responseOf("THROTTLED", html),
			"gateway response THROTTLED: only a template for application/json can be played"},
		{"StatusCode", responseOf("THROTTLED", samtemplate.GatewayResponse{StatusCode: 99}), "gateway response THROTTLED: status code 99 is none"},
		{"LogVariable", func(c *gateway.Config) { c.API.AccessLogFormat = "$context.stat" },
			"access log format: $context.stat is no variable that can be played"},
		{"NoHandler", func(c *gateway.Config) { c.Functions["Thing"] = gateway.Function{} }, "function Thing has no handler"},
		{"NoClock", func(c *gateway.Config) { c.Now = nil }, "make the gateway: Now and NewID must be given"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(says(ok), says(allowAll))
			tt.change(&s.config)
			_, err := gateway.New(s.config)
			if err == nil {
				t.Fatal("no error")
			}
			equal(t, "error", err.Error(), tt.want)
		})
	}
}

func TestNewRefusesSharedBuffers(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	s.config.Functions["Thing"] = gateway.Function{Handler: lambda.NewHandler(func() (string, error) { return "", nil })}
	if _, err := gateway.New(s.config); !errors.Is(err, gateway.ErrSharedBuffer) {
		t.Errorf("error %v, want ErrSharedBuffer", err)
	}
}
