// Package lambdahttp serves API Gateway REST proxy events (payload 1.0) with net/http handlers.
//
// New returns a lambda.Handler that calls a HandlerFunc with the request that the client sent: method, URL, headers,
// path values and a body of limited size. What API Gateway reports in addition, such as the authorizer's
// context, is in the request's context (package apigateway). The lambda.Handler never returns an error for a request: every
// failure, including a panic, becomes the error object (WriteError), and one log line with the same id.
//
// The package uses github.com/awslabs/aws-lambda-go-api-proxy, which is archived and has known defects. It is the only
// package that imports that library. The guards against the defects are in event.go and response.go; request_test.go and
// response_test.go test each.
package lambdahttp
