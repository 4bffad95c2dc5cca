// Package access is the authorization of the API: tokens, principals, roles and permissions, and what operations
// require (contract section 3).
//
// The authorizer (package authorizer) looks a token up and passes a Principal to the functions in the request context
// of API Gateway, never in a header. Each operation's constructor calls Require, which checks the principal before the
// handler runs.
package access
