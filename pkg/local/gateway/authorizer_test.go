package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
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
	if diff := cmp.Diff([]string{"500 AUTHORIZER_CONFIGURATION_ERROR -", "200 - -"}, s.lines); diff != "" {
		t.Error(diff)
	}
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
	if diff := cmp.Diff(want, event.RequestContext.Authorizer); diff != "" {
		t.Errorf("authorizer (-want +got):\n%s", diff)
	}
}

func TestAuthorizerResult(t *testing.T) {
	t.Parallel()
	const allowed, denied, failed = "200 - user:1", "403 ACCESS_DENIED user:1", "500 AUTHORIZER_CONFIGURATION_ERROR -"
	const api = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/"
	policy := func(statements string) handler {
		return returns(`{"principalId":"user:1","policyDocument":{"Statement":[` + statements + `]}}`)
	}
	statement := func(effect, resources string) string {
		return `{"Action":["execute-api:Invoke"],"Effect":"` + effect + `","Resource":["` + resources + `"]}`
	}
	changed := func(from, to string) handler { return returns(strings.Replace(allowAll, from, to, 1)) }
	for _, tt := range []struct {
		name       string
		authorizer handler
		want       string
	}{
		{"method", policy(statement("Allow", api+"GET/things/7")), allowed},
		{"other method", policy(statement("Allow", api+"PUT/things/7")), denied},
		{"stage", policy(statement("Allow", api+"*")), allowed},
		{"deny", policy(statement("Deny", api+"*")), denied},
		{"deny after allow", policy(statement("Allow", "*") + "," + statement("Deny", api+"GET/*")), denied},
		{"deny before allow", policy(statement("Deny", api+"GET/*") + "," + statement("Allow", "*")), denied},
		{"wildcard inside", policy(statement("Allow", api+"*/things/*")), failed},
		{"question mark", policy(statement("Allow", api+"GET/things/?")), failed},
		{"other effect", policy(statement("Maybe", "*")), failed},
		{"other action", changed("execute-api:Invoke", "*"), failed},
		{"condition", changed(`"Effect"`, `"Condition":{},"Effect"`), failed},
		{"no principal", changed("user:1", ""), failed},
		{"object in the context", changed(`{"userId":"1"}`, `{"a":{}}`), failed},
		{"panic", func(context.Context, []byte) ([]byte, error) { panic("no") }, failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(returns(ok), tt.authorizer)
			s.send(t, "GET", "/things/7", "")
			equal(t, "access log", s.lines[0], tt.want)
			if (s.records[0].Err != nil) != (tt.want == failed) {
				t.Errorf("cause %v", s.records[0].Err)
			}
		})
	}
}
