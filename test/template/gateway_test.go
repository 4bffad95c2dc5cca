package template_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/test/helper/assert"
)

// responses returns all gateway responses. All other types use the two defaults. A status on a default would replace the
// status of every other type.
func responses() []response {
	return []response{
		{"ACCESS_DENIED", 401, "AuthenticationRequired"},
		{"DEFAULT_4XX", nil, "ValidationError"},
		{"DEFAULT_5XX", nil, "InternalError"},
		{"EXPIRED_TOKEN", 404, "NotFoundError"},
		{"INTEGRATION_FAILURE", 504, "GatewayTimeout"},
		{"INTEGRATION_TIMEOUT", 504, "GatewayTimeout"},
		{"INVALID_SIGNATURE", 404, "NotFoundError"},
		{"MISSING_AUTHENTICATION_TOKEN", 404, "NotFoundError"},
		{"RESOURCE_NOT_FOUND", 404, "NotFoundError"},
		{"THROTTLED", 429, "TooManyRequests"},
		{"UNAUTHORIZED", 401, "AuthenticationRequired"},
		{"UNSUPPORTED_MEDIA_TYPE", 415, "ContentTypeerror"},
		{"WAF_FILTERED", 403, "NoAccessError"},
	}
}

type response struct {
	kind   string
	status any    // nil: none is declared
	name   string // in the error object
}

func (c *checker) gatewayResponses() {
	for _, api := range c.ofType("AWS::Serverless::Api") {
		got, _ := api.Properties["GatewayResponses"].(map[string]any)
		var types []string
		for _, want := range responses() {
			response, what := got[want.kind], " of the gateway response "+want.kind
			types = append(types, want.kind)
			c.expect("the status"+what, at(response, "StatusCode"), want.status)
			headers := map[string]string{"Cache-Control": "'no-store'", "X-Content-Type-Options": "'nosniff'",
				"X-Request-Id": "context.requestId"}
			switch want.status {
			case 401:
				headers["WWW-Authenticate"] = "'Bearer'"
			case 429:
				headers["Retry-After"] = "'1'"
			}
			c.expect("the headers"+what, at(response, "ResponseParameters.Headers"), headers)
			var body map[string]string // an object of texts
			err := json.Unmarshal([]byte(fmt.Sprint(at(response, "ResponseTemplates.application/json"))), &body)
			if message := body["message"]; err != nil || message == "" || strings.Contains(message, "$") {
				c.problem("the body%s is not JSON with a constant message: %q, %v", what, message, err)
			}
			delete(body, "message")
			c.expect("the body"+what, body, map[string]string{"id": "$context.requestId", "name": want.name})
		}
		c.expect("the types of gateway responses", sortedKeys(got), types)
	}
}

// TestAddress checks that the output names the address of the API, the domain if there is one.
func TestAddress(t *testing.T) {
	t.Parallel()
	for want, parameters := range map[string]map[string]string{
		"https://Api.execute-api.us-east-1.amazonaws.com/dev": nil, "https://toggles.example.com": everything,
	} {
		if got := load(t, parameters).Outputs["ApiUrl"]; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestAccessLog checks that a line is JSON in which every value is one quoted variable, that no variable contains text
// that a client writes, and that API Gateway does not truncate the line.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	template := load(t, nil)
	longest := map[string]int{ // in bytes
		"requestId":         64, // a UUID and _REPLACED_INVALID_REQUEST_ID
		"extendedRequestId": 64, "requestTimeEpoch": 13, "status": 3, "responseLatency": 6,
		"authorizer.principalId": 128, "error.responseType": len("AUTHORIZER_CONFIGURATION_ERROR"), "resourcePath": 0,
		"identity.sourceIp": len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"),
	}
	for _, route := range template.API.Routes {
		longest["resourcePath"] = max(longest["resourcePath"], len(route.Path))
	}
	format := template.API.AccessLogFormat
	var line map[string]string
	if err := json.Unmarshal([]byte(format), &line); err != nil || strings.Contains(format, "\n") {
		t.Fatalf("%s is not one line of JSON texts: %v", format, err)
	}
	size, variables := len(format), map[string]bool{}
	for _, value := range line {
		variable, _ := strings.CutPrefix(value, "$context.")
		size += longest[variable] - len(value)
		variables[variable] = true
	}
	assert.Equal(t, sortedKeys(longest), sortedKeys(variables))
	if size >= 1024 {
		t.Errorf("a line can have %d bytes, API Gateway truncates it after 1,023", size)
	}
}

// TestNotFound checks that every resource of the API, and every parent, has exactly one method ANY without authorizer,
// which invokes not-found, and that sam local finds the function of /{proxy+} only. Only the console's paths and the health
// check have no authorizer.
func TestNotFound(t *testing.T) {
	t.Parallel()
	const notFound, console, health = "NotFoundFunction", "ConsoleFunction", "HealthFunction"
	template, samLocal := load(t, nil), load(t, map[string]string{"DynamoDBEndpoint": "http://127.0.0.1:8000"})
	want, got := map[string]int{"/{proxy+}": 1}, map[string]int{}
	var counted []string
	for _, route := range template.API.Routes {
		if route.Authorized == slices.Contains([]string{notFound, console, health}, route.Function) ||
			(route.Method == "ANY") != (route.Function == notFound) {
			t.Errorf("%+v: operations have an authorizer, the console, health and not-found have none, only not-found has ANY", route)
		}
		if role := map[bool]string{false: "ApiRole"}[route.Function == notFound]; route.Role != role {
			t.Errorf("%+v: want the role %q, so that the function needs no permission", route, role)
		}
		switch route.Function {
		case notFound:
			got[route.Path]++
			continue
		case console:
			if route.Path != "/" && !strings.HasPrefix(route.Path, "/console") {
				t.Errorf("%+v is not a path of the console", route)
			}
		case health:
			assert.Equal(t, "/health", route.Path)
		default:
			counted = append(counted, route.Path)
		}
		path := ""
		for segment := range strings.SplitSeq(strings.Trim(route.Path, "/"), "/") {
			path += "/" + segment
			want[path] = 1
		}
	}
	assert.Equal(t, want, got)
	counted = slices.Compact(slices.Sorted(slices.Values(counted)))
	assert.Equal(t, counted, sortedKeys(traffic.CountedPaths()))
	for _, route := range samLocal.API.Routes {
		if (route.Method == "ANY") != (route.Path == "/{proxy+}") {
			t.Errorf("%+v: sam local prefers ANY to an operation's method", route)
		}
	}
}
