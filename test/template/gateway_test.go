package template_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/template"
)

// TestAccessLog: one line of JSON of which every value is one quoted variable, nothing that may hold a secret, and never cut off.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	read := mustLoad(t)
	longest := map[string]int{ // in bytes
		"extendedRequestId": 64, "requestId": 36, "requestTimeEpoch": 13, "httpMethod": 32, "status": 3, "responseLatency": 6,
		"authorizer.principalId": 128, "error.responseType": 0, "resourcePath": 0,
	}
	for _, route := range read.API.Routes {
		longest["resourcePath"] = max(longest["resourcePath"], len(route.Path))
	}
	for _, name := range template.GatewayResponseTypes() {
		longest["error.responseType"] = max(longest["error.responseType"], len(name))
	}
	format := read.API.AccessLogFormat
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
