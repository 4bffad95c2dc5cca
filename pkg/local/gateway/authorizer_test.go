package gateway_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestAuthorizerEvent(t *testing.T) {
	t.Parallel()
	var got events.APIGatewayCustomAuthorizerRequestTypeRequest
	var function events.APIGatewayProxyRequest
	s := newService(captures(t, &function, ok), captures(t, &got, allowAll))
	s.send(t, "PUT", "/things/a%20b/?x=1", "ignored", "Authorization: Bearer t", "Authorization: u")
	equal(t, "type", got.Type, "REQUEST")
	equal(t, "method ARN", got.MethodArn, "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/PUT/things/a%20b/")
	equal(t, "request", got.HTTPMethod+" "+got.Path, "PUT /things/a%20b/")
	equal(t, "request id", got.RequestContext.RequestID, function.RequestContext.RequestID)
	if diff := cmp.Diff(function.MultiValueHeaders, got.MultiValueHeaders); diff != "" ||
		len(got.MultiValueHeaders["Authorization"]) != 2 {
		t.Errorf("headers (-function +authorizer):\n%s", diff)
	}
}

func TestAuthorizerIsAlwaysCalled(t *testing.T) {
	t.Parallel()
	s := newService(returns(ok), fails)
	s.send(t, "GET", "/things", "")
	s.send(t, "GET", "/open", "", "Authorization: x") // a route without authorizer
	assert.Equal(t, []string{"500 AUTHORIZER_CONFIGURATION_ERROR -", "200 - -"}, s.lines)
}

func TestAuthorizerContext(t *testing.T) {
	t.Parallel()
	var event events.APIGatewayProxyRequest
	s := newService(captures(t, &event, ok), returns(strings.Replace(allowAll, `{"userId":"1"}`,
		`{"text":"a\"b","number":1,"float":1.5,"yes":true,"nothing":null,"empty":"","principalId":"forged"}`, 1)))
	s.send(t, "GET", "/things", "")
	want := map[string]any{
		"principalId": "user:1", "integrationLatency": 0.0, "text": `a"b`, "number": "1", "float": "1.5", "yes": "true",
		"empty": "",
	}
	assert.Equal(t, want, event.RequestContext.Authorizer)
}

func TestAuthorizerResult(t *testing.T) {
	t.Parallel()
	const failed = "500 AUTHORIZER_CONFIGURATION_ERROR -"
	check := func(authorizer handler, want string) {
		t.Helper()
		s := newService(returns(ok), authorizer)
		s.send(t, "GET", "/things/7", "")
		equal(t, "access log", s.lines[0], want)
		if (s.records[0].Cause != nil) != (want == failed) {
			t.Errorf("cause %v", s.records[0].Cause)
		}
	}
	for _, row := range table.Rows(t, 2, strings.NewReplacer("ALLOWED", "200 - user:1", "DENIED",
		"403 ACCESS_DENIED user:1", "FAILED", failed, "API/",
		"arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/").Replace(`
		# statements | access log
		Allow API/GET/things/7 | ALLOWED
		Allow API/PUT/things/7 | DENIED
		Allow API/* | ALLOWED
		Deny API/* | DENIED
		Allow *, Deny API/GET/* | DENIED
		Deny API/GET/*, Allow * | DENIED
		Allow API/*/things/* | FAILED
		Allow API/GET/things/? | FAILED
		Maybe * | FAILED
	`)) {
		var statements []string
		for statement := range strings.SplitSeq(row[0], ", ") {
			effect, resource, _ := strings.Cut(statement, " ")
			statements = append(statements,
				`{"Action":["execute-api:Invoke"],"Effect":"`+effect+`","Resource":["`+resource+`"]}`)
		}
		check(returns(`{"principalId":"user:1","policyDocument":{"Statement":[`+strings.Join(statements, ",")+`]}}`), row[1])
	}
	for _, row := range table.Rows(t, 2, `
		# part of a valid response | what replaces it
		execute-api:Invoke | *
		"Effect": | "Condition":{},"Effect":
		user:1 |
		{"userId":"1"} | {"a":{}}
	`) {
		check(returns(strings.Replace(allowAll, row[0], row[1], 1)), failed)
	}
}
