// Package auth decides who may do what: it has the tokens, the principals and the permission table of the operations (contract section 3).
//
// The authorizer (package authorizer) looks a token up and passes a Principal to the functions in the request context of API Gateway, never in
// a header. Require checks the principal against the permission table before the handler of the operation runs.
package auth
