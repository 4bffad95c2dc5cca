package template_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

const (
	noCredential = "You need a valid credential in the Authorization header."
	noPath       = "The path you were looking for is not available."
)

// TestGatewayResponses: each answer that the gateway gives by itself is the contract's error object. Status 0 leaves the type's own.
func TestGatewayResponses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, kind, message string // an empty message: any constant
		status              int
		header              string // one more than the common three
	}{
		{"UNAUTHORIZED", "AuthenticationRequired", noCredential, 401, "WWW-Authenticate"},
		{"ACCESS_DENIED", "AuthenticationRequired", noCredential, 401, "WWW-Authenticate"},
		{"AUTHORIZER_FAILURE", "InternalError", "", 500, ""},
		{"AUTHORIZER_CONFIGURATION_ERROR", "InternalError", "", 500, ""},
		{"MISSING_AUTHENTICATION_TOKEN", "NotFoundError", noPath, 404, ""},
		{"INVALID_SIGNATURE", "NotFoundError", noPath, 404, ""},
		{"EXPIRED_TOKEN", "NotFoundError", noPath, 404, ""},
		{"RESOURCE_NOT_FOUND", "NotFoundError", noPath, 404, ""},
		{"THROTTLED", "TooManyRequests", "", 429, "Retry-After"},
		{"QUOTA_EXCEEDED", "TooManyRequests", "", 429, "Retry-After"},
		{"INTEGRATION_TIMEOUT", "GatewayTimeout", "", 504, ""},
		{"INTEGRATION_FAILURE", "GatewayTimeout", "", 504, ""},
		{"API_CONFIGURATION_ERROR", "InternalError", "", 500, ""},
		{"UNSUPPORTED_MEDIA_TYPE", "ContentTypeerror", "", 415, ""},
		{"BAD_REQUEST_PARAMETERS", "ValidationError", "", 400, ""},
		{"BAD_REQUEST_BODY", "ValidationError", "", 400, ""},
		{"INVALID_API_KEY", "NoAccessError", "", 403, ""},
		{"WAF_FILTERED", "NoAccessError", "", 403, ""},
		{"DEFAULT_4XX", "ValidationError", "", 0, ""},
		{"DEFAULT_5XX", "InternalError", "", 0, ""},
	}
	responses := mustLoad(t).API.GatewayResponses
	checked := map[string]bool{"REQUEST_TOO_LARGE": true} // cannot be customised
	for _, tt := range tests {
		checked[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			response, ok := responses[tt.name]
			if !ok {
				t.Fatal("is missing")
			}
			if response.StatusCode != tt.status {
				t.Errorf("status %d, want %d", response.StatusCode, tt.status)
			}
			checkHeaders(t, response.Headers, tt.header)
			body := errorObject(t, response)
			if body["id"] != "$context.requestId" || body["name"] != tt.kind {
				t.Errorf("body %v, want the request id and the name %s", body, tt.kind)
			}
			if body["message"] == "" || strings.Contains(body["message"], "$") || tt.message != "" && body["message"] != tt.message {
				t.Errorf("message %q, want a constant %q", body["message"], tt.message)
			}
		})
	}
	for _, name := range samtemplate.GatewayResponseTypes() {
		if !checked[name] {
			t.Errorf("%s is a type that nothing here decides", name)
		}
	}
	for name := range responses {
		if name == "REQUEST_TOO_LARGE" || !checked[name] {
			t.Errorf("%s is in the template and cannot be customised or is not decided", name)
		}
	}
}

func checkHeaders(t *testing.T, got map[string]string, more string) {
	t.Helper()
	want := map[string]string{"Cache-Control": "'no-store'", "X-Content-Type-Options": "'nosniff'", "X-Request-Id": "context.requestId"}
	switch more {
	case "WWW-Authenticate":
		want[more] = "'Bearer'"
	case "Retry-After":
		want[more] = got[more]
		if !regexp.MustCompile(`^'[1-9][0-9]*'$`).MatchString(got[more]) {
			t.Errorf("Retry-After %q is no number of seconds", got[more])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers:\n%s", diff)
	}
}

// errorObject reads the one template as JSON with exactly id, name and message, all strings.
func errorObject(t *testing.T, response samtemplate.GatewayResponse) map[string]string {
	t.Helper()
	text, ok := response.Templates["application/json"]
	if !ok || len(response.Templates) != 1 {
		t.Fatalf("templates %v, want application/json alone", response.Templates)
	}
	var body map[string]string
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if _, id := body["id"]; !id || len(body) != 3 || body["name"] == "" || body["message"] == "" {
		t.Errorf("%s: want exactly id, name and message", text)
	}
	return body
}

// TestAccessLog: one line of JSON of which every value is one quoted variable, nothing that may hold a secret, and never cut off.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	template := mustLoad(t)
	longest := map[string]int{ // in bytes
		"extendedRequestId": 64, "requestId": 36, "requestTimeEpoch": 13, "httpMethod": 32, "status": 3, "responseLatency": 6,
		"authorizer.principalId": 128, "error.responseType": 0, "resourcePath": 0,
	}
	for _, route := range template.API.Routes {
		longest["resourcePath"] = max(longest["resourcePath"], len(route.Path))
	}
	for _, name := range samtemplate.GatewayResponseTypes() {
		longest["error.responseType"] = max(longest["error.responseType"], len(name))
	}
	format := template.API.AccessLogFormat
	if strings.Contains(format, "\n") {
		t.Error("the format has more than one line")
	}
	var line map[string]string // a bare variable, unquoted, would not be JSON
	if err := json.Unmarshal([]byte(format), &line); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	size := len(format)
	var variables []string
	for key, value := range line {
		variable, ok := strings.CutPrefix(value, "$context.")
		if _, decided := longest[variable]; !ok || !decided {
			t.Errorf("%s is %q: want one of the known variables", key, value)
		}
		size += longest[variable] - len(value)
		variables = append(variables, variable)
	}
	if len(variables) != len(longest) {
		t.Errorf("the format has %v, want each of %v once", variables, longest)
	}
	if size >= 1024 {
		t.Errorf("a line may have %d bytes: above 1,023 it is cut off", size)
	}
}

// TestAuthorizer: it asks each time unless the parameter says otherwise, and the parameter says what that costs.
func TestAuthorizer(t *testing.T) {
	t.Parallel()
	if ttl := mustLoad(t).API.Authorizer.TTL; ttl != 0 {
		t.Errorf("answers are remembered for %s by default", ttl)
	}
	cached, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: map[string]string{"AuthorizerCacheSeconds": "300"}})
	if err != nil {
		t.Fatal(err)
	}
	if ttl := cached.API.Authorizer.TTL.Seconds(); ttl != 300 {
		t.Errorf("answers are remembered for %v s, want 300", ttl)
	}
	if headers := cached.API.Authorizer.IdentityHeaders; !slices.Equal(headers, []string{"Authorization"}) {
		t.Errorf("identity sources %v", headers)
	}
}

// TestAPISettings: what the reader takes as not played and a deployment needs.
func TestAPISettings(t *testing.T) {
	t.Parallel()
	api := ofType(mustLoad(t), "AWS::Serverless::Api")[0].Properties
	for _, tt := range []struct {
		name string
		got  any
		want any
	}{
		{"regional: an edge endpoint has error pages of its own", at(api, "EndpointConfiguration", "Type"), "REGIONAL"},
		{"OpenApiVersion: else a stage named Stage appears", at(api, "OpenApiVersion"), "3.0.1"},
		{"AlwaysDeploy: else a change may stay undeployed", at(api, "AlwaysDeploy"), true},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
