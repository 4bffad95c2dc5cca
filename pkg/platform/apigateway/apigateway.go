// Package apigateway contains what is known about a request in addition to the HTTP request: what API Gateway reports, and
// the reason of a change. It is in the request's context.
package apigateway

import (
	"context"
	"net/url"
)

// Request is what is known about a request in addition to the HTTP request.
type Request struct {
	// ID is the extended id of the request, the header x-amz-apigw-id of the response. A client cannot choose it, but it
	// can choose the other id of the request (API Gateway Developer Guide, "Variables for access logging").
	ID             string
	Authorizer     map[string]any    // the authorizer's context; empty if no authorizer was called
	PathParameters map[string]string // as the client sent them: percent-encoded
	Query          url.Values        // decoded
	Reason         string            // of a change, which its events record; "": none
}

type key struct{}

// WithRequest returns a copy of ctx that contains r. Package lambdahttp calls it with the values of the event. Only the
// reason is a value of a request header.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, key{}, r)
}

// RequestFrom returns the Request that ctx contains, or the zero Request.
func RequestFrom(ctx context.Context) Request {
	r, _ := ctx.Value(key{}).(Request)
	return r
}
