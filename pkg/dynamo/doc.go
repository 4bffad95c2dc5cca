// Package dynamo makes the DynamoDB client that every store uses, and has the functions that stores share: attribute values, reads page
// by page, conditional writes and transactions.
//
// The client repeats an attempt that failed for a temporary reason until the context's deadline. If that does not help, the error is
// ErrUnavailable. Stores therefore never repeat a call, except after a lost race. Table keys and items belong to the stores.
package dynamo
