// Package auth is the authorization of the API: tokens, principals, and the permissions that each operation requires (contract section 3).
//
// The authorizer (package authorizer) looks a token up and passes a Principal to the functions in the request context of API Gateway, never in
// a header. Require checks the principal against the permission table before the handler of the operation runs.
package auth
