package lambdahttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"toggleadmin/pkg/platform/apierror"
)

// Gateway is what API Gateway reports about a request in addition to the HTTP request.
type Gateway struct {
	// RequestID is the extended id of the request, the header x-amz-apigw-id of the response. A client cannot choose it,
	// but it can choose the other id of the request (API Gateway Developer Guide, "Variables for access logging").
	RequestID      string
	Authorizer     map[string]any    // the authorizer's context; empty if no authorizer was called
	PathParameters map[string]string // as the client sent them: percent-encoded
	Query          url.Values        // decoded
}

type gatewayKey struct{}

// WithGateway returns a copy of ctx that contains g. New calls it with the values of the event, never with values of
// request headers.
func WithGateway(ctx context.Context, g Gateway) context.Context {
	return context.WithValue(ctx, gatewayKey{}, g)
}

// GatewayFrom returns the Gateway that ctx contains, or the zero Gateway.
func GatewayFrom(ctx context.Context) Gateway {
	g, _ := ctx.Value(gatewayKey{}).(Gateway)
	return g
}

// ErrPathParam reports a path parameter that is missing, has a broken escape, is not UTF-8, or is too long.
var ErrPathParam = errors.New("invalid path parameter")

// PathParam returns r.PathValue(name). If there is none, it returns ErrPathParam and the text that the client sent.
func PathParam(r *http.Request, name string) (string, error) {
	if value := r.PathValue(name); value != "" {
		return value, nil
	}
	return GatewayFrom(r.Context()).PathParameters[name], ErrPathParam
}

// BadPathParam returns the 400 error for a path parameter for which PathParam returned ErrPathParam and the text sent.
func BadPathParam(name, sent string) error {
	return apierror.Errorf(apierror.Validation,
		"The `/params/%s` property must be UTF-8, percent-encoded and at most %d characters long; you sent %q.", name,
		maxPathValue, apierror.Echo(sent))
}
