// Package auth is who may do what: tokens, principals, and the one table operation → what it needs.
//
// The one concept: a Principal is what the authorizer says about a credential. It travels from the authorizer to a function in the
// request context that API Gateway keeps (never in a header), and Require holds it against the table before the operation's handler
// runs. Contract, section 3.
//
// What is not here: looking a token up, which is the authorizer's work alone (pkg/authorizer).
package auth
