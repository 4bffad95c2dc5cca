// Package lambdahttp turns API Gateway's REST proxy event (payload 1.0) into a net/http request and the handler's answer back into the
// proxy response. It stands on github.com/awslabs/aws-lambda-go-api-proxy, which is archived and has defects; each is guarded here and
// has a test that fails without its guard. No other package imports that library, so it can be replaced in this one place.
//
// The one concept: New makes a lambda.Handler around a HandlerFunc, and that handler never returns a Lambda error. Every failure, a
// panic too, is an answer with the error object (pkg/apierror), with one log line that carries the same id.
//
// What a handler gets: the method, the headers, the body (at most MaxBody bytes, see Body), path parameters decoded exactly once (see
// PathParam) and what the gateway says about the request (see RequestOf). It does not get the query, which the API ignores, nor the raw
// path: its URL is the resource's template.
package lambdahttp
