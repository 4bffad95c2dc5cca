package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
)

// authorize calls the authorizer, evaluates its policy and completes the function's event.
func (r *request) authorize(event *events.APIGatewayProxyRequest) *gatewayError {
	methodARN := r.gateway.arnPrefix + r.method + r.path
	if len(methodARN) > maxMethodARN {
		return errURITooLong
	}
	begin := r.gateway.config.Now()
	result, err := r.callAuthorizer(event, methodARN)
	if errors.Is(err, errWaited) {
		return errAuthorizerFailure.because(err)
	}
	if err != nil {
		return errAuthorizerConfiguration.because(fmt.Errorf("authorizer: %w", err))
	}
	r.principal = result.PrincipalID
	event.RequestContext.Authorizer = result.Context
	result.Context["principalId"] = result.PrincipalID
	result.Context["integrationLatency"] = r.gateway.config.Now().Sub(begin).Milliseconds()
	if !allows(result.PolicyDocument.Statement, methodARN) {
		return errAccessDenied
	}
	return nil
}

// authorizerEvent is the event of the authorizer.
type authorizerEvent struct {
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	events.APIGatewayProxyRequest
}

func (r *request) callAuthorizer(event *events.APIGatewayProxyRequest, methodARN string) (
	result events.APIGatewayCustomAuthorizerResponse, err error,
) {
	request := authorizerEvent{"REQUEST", methodARN, *event}
	request.Body = ""
	payload, err := encode(&request)
	if err != nil {
		return result, err
	}
	output, err := r.invoke(r.gateway.authorizer, payload)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(output, &result, json.RejectUnknownMembers(true)); err != nil {
		return result, fmt.Errorf("malformed response: %w", err)
	}
	return result, validateResult(&result)
}

// validateResult rejects a response that API Gateway rejects and policies that the gateway does not support. It
// converts the context's values to strings, as API Gateway does.
func validateResult(result *events.APIGatewayCustomAuthorizerResponse) error {
	if result.PrincipalID == "" || len(result.PolicyDocument.Statement) == 0 {
		return errors.New("malformed response: principalId or policyDocument is missing")
	}
	for _, s := range result.PolicyDocument.Statement {
		inner := func(resource string) bool { return strings.ContainsAny(strings.TrimSuffix(resource, "*"), "*?") }
		if s.Effect != "Allow" && s.Effect != "Deny" || !slices.Equal(s.Action, []string{"execute-api:Invoke"}) ||
			len(s.Resource) == 0 || slices.ContainsFunc(s.Resource, inner) {
			return fmt.Errorf("malformed or unsupported statement %+v: only Allow or Deny, execute-api:Invoke, and resources "+
				"with at most one * at the end", s)
		}
	}
	if result.Context == nil {
		result.Context = map[string]any{}
	}
	for key, value := range result.Context {
		switch value.(type) {
		case nil:
			delete(result.Context, key)
		case string, bool, float64:
			result.Context[key] = fmt.Sprint(value)
		default:
			return fmt.Errorf("malformed response: context key %q is not a string, number or boolean", key)
		}
	}
	return nil
}

// allows reports whether a statement allows the method and none denies it.
func allows(statements []events.IAMPolicyStatement, methodARN string) bool {
	allowed := false
	for _, s := range statements {
		for _, resource := range s.Resource {
			prefix, wildcard := strings.CutSuffix(resource, "*")
			if methodARN != resource && !(wildcard && strings.HasPrefix(methodARN, prefix)) {
				continue
			}
			if s.Effect == "Deny" {
				return false
			}
			allowed = true
		}
	}
	return allowed
}
