// Package authorizer is the Lambda authorizer of the API. It authenticates credentials.
//
// It does not authorize. A valid credential results in an Allow for the whole stage, because API Gateway caches a
// policy and uses it for other methods too. Everything else results in a Deny for the principal "anonymous", which the
// API's ACCESS_DENIED response turns into a 401. If DynamoDB fails, the authorizer returns an error, which is a 500 and
// never a 401. The functions authorize the principal (package access).
package authorizer
