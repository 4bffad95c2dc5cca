package template

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"toggleadmin/pkg/samtemplate"
)

const (
	noCredential = "You need a valid credential in the Authorization header."
	noPath       = "The path you were looking for is not available."
)

// decided is what a gateway response must be.
type decided struct {
	kind, message string // an empty message: any constant
	status        int    // 0: the type's own
	header        string // one more than the common three
}

// gatewayResponses are all that can be customised: what the gateway answers by itself is the contract's error object.
func gatewayResponses() map[string]decided {
	return map[string]decided{
		"UNAUTHORIZED":                   {"AuthenticationRequired", noCredential, 401, "WWW-Authenticate"},
		"ACCESS_DENIED":                  {"AuthenticationRequired", noCredential, 401, "WWW-Authenticate"},
		"AUTHORIZER_FAILURE":             {"InternalError", "", 500, ""},
		"AUTHORIZER_CONFIGURATION_ERROR": {"InternalError", "", 500, ""},
		"MISSING_AUTHENTICATION_TOKEN":   {"NotFoundError", noPath, 404, ""},
		"INVALID_SIGNATURE":              {"NotFoundError", noPath, 404, ""},
		"EXPIRED_TOKEN":                  {"NotFoundError", noPath, 404, ""},
		"RESOURCE_NOT_FOUND":             {"NotFoundError", noPath, 404, ""},
		"THROTTLED":                      {"TooManyRequests", "", 429, "Retry-After"},
		"QUOTA_EXCEEDED":                 {"TooManyRequests", "", 429, "Retry-After"},
		"INTEGRATION_TIMEOUT":            {"GatewayTimeout", "", 504, ""},
		"INTEGRATION_FAILURE":            {"GatewayTimeout", "", 504, ""},
		"API_CONFIGURATION_ERROR":        {"InternalError", "", 500, ""},
		"UNSUPPORTED_MEDIA_TYPE":         {"ContentTypeerror", "", 415, ""},
		"BAD_REQUEST_PARAMETERS":         {"ValidationError", "", 400, ""},
		"BAD_REQUEST_BODY":               {"ValidationError", "", 400, ""},
		"INVALID_API_KEY":                {"NoAccessError", "", 403, ""},
		"WAF_FILTERED":                   {"NoAccessError", "", 403, ""},
		"DEFAULT_4XX":                    {"ValidationError", "", 0, ""},
		"DEFAULT_5XX":                    {"InternalError", "", 0, ""},
	}
}

// GatewayResponseTypes are the gateway responses of a REST API. Source: docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html.
func GatewayResponseTypes() []string {
	return []string{
		"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "BAD_REQUEST_BODY",
		"BAD_REQUEST_PARAMETERS", "DEFAULT_4XX", "DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE", "INTEGRATION_TIMEOUT",
		"INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED", "REQUEST_TOO_LARGE",
		"RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
	}
}

// checkGatewayResponses: each type is decided, but REQUEST_TOO_LARGE, which cannot be customised.
func checkGatewayResponses(c *checker) {
	wanted := gatewayResponses()
	for _, name := range GatewayResponseTypes() {
		want, known := wanted[name]
		got, there := c.t.API.GatewayResponses[name]
		switch {
		case !known && name != "REQUEST_TOO_LARGE":
			c.problem("gateway response %s: nothing here decides it", name)
		case !known && there:
			c.problem("gateway response %s cannot be customised", name)
		case known && !there:
			c.problem("gateway response %s is missing", name)
		case known:
			c.gatewayResponse("gateway response "+name, got, want)
		}
	}
}

func (c *checker) gatewayResponse(name string, got samtemplate.GatewayResponse, want decided) {
	c.want("the status of "+name, got.StatusCode, want.status)
	headers := map[string]string{"Cache-Control": "'no-store'", "X-Content-Type-Options": "'nosniff'", "X-Request-Id": "context.requestId"}
	switch want.header {
	case "WWW-Authenticate":
		headers[want.header] = "'Bearer'"
	case "Retry-After":
		headers[want.header] = got.Headers[want.header]
		if !regexp.MustCompile(`^'[1-9][0-9]*'$`).MatchString(got.Headers[want.header]) {
			c.problem("%s: Retry-After %q is no number of seconds", name, got.Headers[want.header])
		}
	}
	if !maps.Equal(headers, got.Headers) {
		c.problem("%s has the headers %v: want %v", name, got.Headers, headers)
	}
	var body map[string]string
	text := got.Templates["application/json"]
	if err := json.Unmarshal([]byte(text), &body); err != nil || len(got.Templates) != 1 {
		c.problem("%s: want one template, of application/json, that is JSON of texts alone: %v", name, got.Templates)
		return
	}
	if keys := slices.Sorted(maps.Keys(body)); !slices.Equal(keys, []string{"id", "message", "name"}) {
		c.problem("%s has the members %v: want exactly id, name and message", name, keys)
	}
	c.want("id in "+name, body["id"], "$context.requestId")
	c.want("name in "+name, body["name"], want.kind)
	message := body["message"]
	if message == "" || strings.Contains(message, "$") || want.message != "" && message != want.message {
		c.problem("%s: the message %q: want a constant %q", name, message, want.message)
	}
}

// checkAuthorizers: every operation has the authorizer, and every route without one leads to not-found.
func checkAuthorizers(c *checker) {
	if c.t.API.Authorizer.Function == "" {
		c.problem("the API has no authorizer")
	}
	for _, route := range c.t.API.Routes {
		if route.Authorized == (route.Function == notFound) {
			c.problem("%s %s of %s: with authorizer: %t", route.Method, route.Path, route.Function, route.Authorized)
		}
	}
}

const notFound = "NotFoundFunction"

// checkAPI: what the reader takes as not played and a deployment needs.
func checkAPI(c *checker) {
	for _, api := range c.ofType("AWS::Serverless::Api") {
		endpoint := At(api.Properties, "EndpointConfiguration", "Type")
		c.want("the endpoint of the API: an edge endpoint has error pages of its own", endpoint, "REGIONAL")
		c.want("OpenApiVersion: else a stage named Stage appears", At(api.Properties, "OpenApiVersion"), "3.0.1")
		c.want("AlwaysDeploy: else a change may stay undeployed", At(api.Properties, "AlwaysDeploy"), true)
		if policy, _ := At(api.Properties, "SecurityPolicy").(string); !strings.HasPrefix(policy, "SecurityPolicy_TLS13_1_") {
			c.problem("SecurityPolicy of the API is %q: a regional API's own default is TLS 1.0", policy)
		}
		settings := items(At(api.Properties, "MethodSettings"))
		if len(settings) != 1 {
			c.problem("MethodSettings of the API: want one, for all methods, not %d", len(settings))
			continue
		}
		c.want("the paths of MethodSettings", At(settings[0], "ResourcePath"), "/*")
		c.want("the methods of MethodSettings", At(settings[0], "HttpMethod"), "*")
		c.want("DataTraceEnabled: it would log credentials", At(settings[0], "DataTraceEnabled"), false)
		for _, key := range []string{"ThrottlingRateLimit", "ThrottlingBurstLimit"} {
			if At(settings[0], key) == nil {
				c.problem("%s of the API is missing", key)
			}
		}
	}
	for _, domain := range c.ofType("AWS::ApiGateway::DomainName") {
		c.want("SecurityPolicy of "+domain.LogicalID, At(domain.Properties, "SecurityPolicy"), "TLS_1_2")
	}
}
