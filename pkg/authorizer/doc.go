// Package authorizer says who a credential stands for: the Lambda authorizer of the API.
//
// The one concept: it only authenticates. A valid credential gets an Allow for the whole stage (API Gateway caches a policy, not an
// answer, so one for the called method alone would refuse the next call), anything else a Deny for the principal "anonymous", which
// the API's ACCESS_DENIED response turns into the 401. A fault below is an error, hence 500, never a 401. What a principal may do is
// decided by the functions (pkg/auth).
//
// API tokens and PATs are two schemes of the Authenticator; another kind of credential is one more.
package authorizer
