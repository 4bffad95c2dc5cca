package gateway_test

import (
	"strings"
	"testing"
)

func TestAuthorizer(t *testing.T) {
	t.Parallel()
	newService().run(t, strings.NewReplacer(
		"POLICY(", `return {"principalId":"user:1","policyDocument":{"Statement":[`, ")", "]}}", "Allow<", `{"Action":["execute-api:Invoke"],"Effect":"Allow","Resource":["`, "Deny<",
		`{"Action":["execute-api:Invoke"],"Effect":"Deny","Resource":["`, ">", `"]}`, "API/",
		"arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/", "ALLOWED", "| | 200 - user:1 | ok |", "DENIED",
		"| | 403 ACCESS_DENIED user:1 | 4 |", "FAILED", "| | 500 AUTHORIZER_CONFIGURATION_ERROR - | 5 |").Replace(`
		# it is called without Authorization, but not for a route without authorizer
		GET /things ALLOWED
		GET /things Authorizer: fail FAILED
		"GET /open Authorization: x\nAuthorizer: fail" | | 200 - - | ok |
		GET /things/7 Authorizer: POLICY(Allow<API/GET/things/7>) ALLOWED
		GET /things/7 Authorizer: POLICY(Allow<API/PUT/things/7>) DENIED
		GET /things/7 Authorizer: POLICY(Allow<API/*>) ALLOWED
		GET /things/7 Authorizer: POLICY(Deny<API/*>) DENIED
		GET /things/7 Authorizer: POLICY(Allow<*>,Deny<API/GET/*>) DENIED
		GET /things/7 Authorizer: POLICY(Deny<API/GET/*>,Allow<*>) DENIED
		GET /things/7 Authorizer: POLICY(Allow<API/*/things/*>) FAILED
		GET /things/7 Authorizer: POLICY(Allow<API/GET/things/?>) FAILED
		GET /things/7 Authorizer: POLICY({"Action":["execute-api:Invoke"],"Effect":"Maybe","Resource":["*"]}) FAILED
		GET /things/7 Authorizer: POLICY({"Action":["*"],"Effect":"Allow","Resource":["*"]}) FAILED
		GET /things/7 Authorizer: POLICY({"Condition":{},"Action":["execute-api:Invoke"],"Effect":"Allow","Resource":["*"]}) FAILED
		GET /things/7 Authorizer: return {"policyDocument":{"Statement":[Allow<*>]}} FAILED
		GET /things/7 Authorizer: return {"principalId":"user:1","policyDocument":{"Statement":[Allow<*>]},"context":{"a":{}}} FAILED
	`))
}
