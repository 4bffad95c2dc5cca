// Package dynamo is the DynamoDB client that every store uses, and the few functions that every store needs: attribute values in and
// out, condition failures, transactions that meet contention.
//
// The one concept: a call either succeeds, or fails its condition (see FailedCondition and Transact), or is a fault below, which is
// an *apierror.Error of kind Unavailable that the caller returns as it is. Faults are retried here until the context's deadline, so a
// store never retries them itself.
//
// What is not here: table names, keys and items, which belong to the store of their noun.
package dynamo
