package gateway_test

import (
	"testing"
)

// arn is the ARN of the API's stage.
const arn = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/"

// allow returns a statement of a policy.
func allow(resource string) string { return statement("Allow", resource) }

// deny returns a statement of a policy.
func deny(resource string) string { return statement("Deny", resource) }

func statement(effect, resource string) string {
	return `{"Action":["execute-api:Invoke"],"Effect":"` + effect + `","Resource":["` + resource + `"]}`
}

// policy returns an authorizer's response with statements, separated by commas.
func policy(statements string) string {
	return `{"principalId":"user:1","policyDocument":{"Statement":[` + statements + `]}}`
}

func TestAuthorizer(t *testing.T) {
	t.Parallel()
	const (
		allowed = "200 - user:1"
		denied  = "403 ACCESS_DENIED user:1"
		failed  = "500 AUTHORIZER_CONFIGURATION_ERROR -"
	)
	body := map[string]string{allowed: "ok", denied: "4", failed: "5"}
	for _, test := range []struct {
		response string // of the authorizer
		line     string // of the access log
	}{
		{policy(allow(arn + "GET/things/7")), allowed},
		{policy(allow(arn + "PUT/things/7")), denied},
		{policy(allow(arn + "*")), allowed},
		{policy(deny(arn + "*")), denied},
		{policy(allow("*") + "," + deny(arn+"GET/*")), denied},
		{policy(deny(arn+"GET/*") + "," + allow("*")), denied},
		{policy(allow(arn + "*/things/*")), failed},
		{policy(allow(arn + "GET/things/?")), failed},
		{policy(statement("Maybe", "*")), failed},
		{policy(`{"Action":["*"],"Effect":"Allow","Resource":["*"]}`), failed},
		{policy(`{"Condition":{},"Action":["execute-api:Invoke"],"Effect":"Allow","Resource":["*"]}`), failed},
		{`{"policyDocument":{"Statement":[` + allow("*") + `]}}`, failed},
		{`{"principalId":"user:1","policyDocument":{"Statement":[` + allow("*") + `]},"context":{"a":{}}}`, failed},
	} {
		newService().expect(t, "GET /things/7 Authorizer: return "+test.response, "", test.line, body[test.line])
	}
}

// TestAuthorizerIsInvoked checks that the authorizer is invoked without the header Authorization, but not for a route
// without authorizer.
func TestAuthorizerIsInvoked(t *testing.T) {
	t.Parallel()
	s := newService()
	s.expect(t, "GET /things", "", "200 - user:1", "ok")
	s.expect(t, "GET /things Authorizer: fail", "", "500 AUTHORIZER_CONFIGURATION_ERROR -", "5")
	s.expect(t, "GET /open Authorization: x\nAuthorizer: fail", "", "200 - -", "ok")
}
