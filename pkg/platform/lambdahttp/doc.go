// Package lambdahttp serves HTTP requests that Lambda functions get as events: New those of API Gateway (REST proxy
// events, payload 1.0), and FunctionURL those of function URLs (payload 2.0).
//
// Both call a HandlerFunc with the request that the client sent: method, URL, headers and a body of limited size. What API
// Gateway reports in addition, such as the authorizer's context, is in the request's context (package apigateway), and
// path parameters are path values. The lambda.Handler never returns an error for a request: every failure, including a
// panic, becomes the error object (WriteError), and one log line with the same id.
//
// The package uses github.com/awslabs/aws-lambda-go-api-proxy, which is archived and has known defects. It is the only
// package that imports that library. The guards against the defects are in event.go, functionurl.go and response.go; the
// tests have one of each.
package lambdahttp
