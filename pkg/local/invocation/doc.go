// Package invocation calls functions beside the API: as Lambda does for event source mappings (Call) and for asynchronous events (Async).
//
// The one concept: a call has a deadline, an id of its own and an outcome, which somebody is told of. Abort ends all of them at once, and
// such a call counts as not made: whoever asked for it asks again after the next start.
//
//	behaviour                                           | source                                | test
//	deadline, function ARN, invocation id in context    | lambda: golang-context                | TestCall
//	error, panic and timeout are the function's errors  | lambda: golang-exceptions             | TestFaults
//	asynchronous: two more tries, after 1 and 2 minutes | lambda: invocation-async-error-handling | TestAsyncRetries
//	then its record goes to the on-failure queue        | lambda: invocation-async-retain-records | TestAsyncOnFailure
//	a wait that ends with the program leaves it undone  | choice                                | TestAsyncStops
//
// Not played: throttling and its six hours of retries, MaximumEventAgeInSeconds (tries end within minutes), duplicates of asynchronous
// events without an error, reserved concurrency.
package invocation
