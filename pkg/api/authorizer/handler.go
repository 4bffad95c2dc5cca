package authorizer

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

// errLookup is the only error that API Gateway and its execution log receive if DynamoDB fails.
var errLookup = errors.New("the credential could not be looked up")

// Request is the event of a REQUEST authorizer. Its RequestContext replaces the one of package events, which does not have
// ExtendedRequestID.
type Request struct {
	events.APIGatewayCustomAuthorizerRequestTypeRequest
	RequestContext struct {
		RequestID         string `json:"requestId"`
		ExtendedRequestID string `json:"extendedRequestId"`
	} `json:"requestContext"`
}

// Authorize is the Lambda handler of a REQUEST authorizer. It returns an error only if DynamoDB fails.
func (a *Authenticator) Authorize(ctx context.Context, event Request) (
	events.APIGatewayCustomAuthorizerResponse, error,
) {
	ctx, cancel := invocation.StopEarly(ctx, invocation.Margin)
	defer cancel()
	// The first sign-in of a person is recorded with the request.
	ctx = apigateway.WithRequest(ctx, apigateway.Request{ID: event.RequestContext.ExtendedRequestID})
	principal, err := a.Authenticate(ctx, authorization(event))
	switch {
	case errors.Is(err, errInvalid):
		return policy("anonymous", "Deny", event.MethodArn, nil), nil
	case err != nil:
		a.Logger.ErrorContext(ctx, "authorize", slog.String("apiRequestId", event.RequestContext.RequestID),
			logging.Cause(err))
		return events.APIGatewayCustomAuthorizerResponse{}, errLookup
	}
	return policy(principal.ID, "Allow", event.MethodArn, principal.Context()), nil
}

// authorization returns the Authorization header, which may be spelled in any letter case; HTTP/2 sends lower case. It
// returns "" unless there is exactly one.
func authorization(event Request) string {
	var found []string
	for name, values := range event.MultiValueHeaders {
		if strings.EqualFold(name, "Authorization") {
			found = append(found, values...)
		}
	}
	if found == nil { // an event may have only the single-value map
		for name, value := range event.Headers {
			if strings.EqualFold(name, "Authorization") {
				found = append(found, value)
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

func policy(principalID, effect, methodARN string, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: principalID,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{Action: []string{"execute-api:Invoke"}, Effect: effect,
				Resource: []string{wholeStage(methodARN)}}},
		},
		Context: context,
	}
}

// wholeStage widens arn:aws:execute-api:<region>:<account>:<api>/<stage>/<method>/<path> to its whole stage.
func wholeStage(methodARN string) string {
	parts := strings.SplitN(methodARN, "/", 3)
	if len(parts) < 3 {
		return methodARN
	}
	return parts[0] + "/" + parts[1] + "/*"
}
