// Package calls_test counts what a request costs: the DynamoDB calls of the authorizer and of the function, and the read and write units
// that DynamoDB charges for them, per operation and case, over real HTTP. The counts are the floor of the design: authorizer 1, plus one
// conditional write of seenAt at most once a minute and PAT; 4.1 1; 4.2 1; 4.3 1; 4.4 1 per MB; 4.5 2 without contention; 4.6 1; 4.7 2 at
// most; and nothing for what can be refused without looking. The functions beside the API are counted the same way, invoked as Lambda
// does: a delivery of the access log, a stream record, a sweep.
//
// Units by DynamoDB's rules (Developer Guide, "DynamoDB read and write operations"): a consistent read is 1 unit per 4 KB begun, of each
// item of a GetItem or BatchGetItem (one that is not there is charged as the smallest), of a whole page of a Query or Scan; a write is 1
// unit per KB begun of the larger of the item before and after; in a transaction each action is charged twice. A read of an index is
// eventually consistent, half of it; a write that changes an index key is two more. 1 KB is 1,024 bytes, and
// an item's size is that of its attributes' names and values. Our items are far below 1 KB, but a service account with 100 tokens
// (below 4 KB) and what the tests make larger on purpose.
//
// A call that failed reports no units; DynamoDB charges a failed condition like the write.
package calls_test
