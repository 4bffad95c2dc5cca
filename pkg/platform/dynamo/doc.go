// Package dynamo creates the DynamoDB client that every store uses, and contains the functions that stores share:
// attribute values, reads page by page, conditional writes and transactions.
//
// The client retries an attempt that failed for a temporary reason until the context's deadline, or until its retry
// quota is used up. Then the error is ErrUnavailable. Stores therefore never retry a call, except after a lost race.
// The stores define table keys and items.
package dynamo
