package authorizer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

const (
	anonymous = "anonymous"
	// deadlineMargin is what is left of the invocation's time to answer when the last attempt below was given up.
	deadlineMargin = 500 * time.Millisecond
)

// errFault is all that API Gateway and its execution log get to know of a fault below.
var errFault = errors.New("the credential could not be looked up")

// Authorize is the Lambda handler: an event of a REQUEST authorizer in, a policy out. Its only error is a fault below.
func (a *Authenticator) Authorize(ctx context.Context, event events.APIGatewayCustomAuthorizerRequestTypeRequest) (
	events.APIGatewayCustomAuthorizerResponse, error,
) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-deadlineMargin))
		defer cancel()
	}
	principal, err := a.Authenticate(ctx, authorization(event))
	switch {
	case errors.Is(err, errInvalid):
		return policy(anonymous, "Deny", event.MethodArn, nil), nil
	case err != nil:
		a.Logger.ErrorContext(ctx, "authorize", slog.String("apiRequestId", event.RequestContext.RequestID), slog.String("cause", err.Error()))
		return events.APIGatewayCustomAuthorizerResponse{}, errFault
	}
	return policy(principal.ID, "Allow", event.MethodArn, principal.Context()), nil
}

// authorization finds the header in any letter case; HTTP/2 sends it in lower case. Two of them, in one spelling or in two, are no
// credential.
func authorization(event events.APIGatewayCustomAuthorizerRequestTypeRequest) string {
	var found []string
	for name, values := range event.MultiValueHeaders {
		if strings.EqualFold(name, "Authorization") {
			found = append(found, values...)
		}
	}
	if found == nil { // an event may have the single-value map alone
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
			Version:   "2012-10-17",
			Statement: []events.IAMPolicyStatement{{Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{wholeStage(methodARN)}}},
		},
		Context: context,
	}
}

// wholeStage widens arn:aws:execute-api:<region>:<account>:<api>/<stage>/<method>/<path> to everything of its stage.
func wholeStage(methodARN string) string {
	parts := strings.SplitN(methodARN, "/", 3)
	if len(parts) < 3 {
		return methodARN
	}
	return fmt.Sprintf("%s/%s/*", parts[0], parts[1])
}
