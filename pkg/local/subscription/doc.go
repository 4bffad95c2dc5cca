// Package subscription plays a CloudWatch Logs subscription of the API's access log: lines become batches, batches events of AWS's form,
// and a function is called with each as with any asynchronous event.
//
// The one concept is the spool: Append writes a line to a file before the request is answered, so that killing the program loses no line of
// an answered request. A batch is a range of a spool file. It is noted before it is first delivered and until it is done: a restart delivers
// what is open, the same lines in the same batch, and goes on behind it. So every line is delivered at least once, and a function that knows
// a batch again counts it once.
//
// A line costs its request one write of some hundred bytes to a file that is not forced to the disk: a power cut may lose lines.
//
//	behaviour                                                | source                                    | test
//	the event: base64 of gzip of JSON, its members           | lambda: services-cloudwatchlogs           | TestEvent
//	ids of 56 digits, unique, the same when delivered again  | seen; choice                              | TestEvent
//	one log stream for each spool file                       | choice: AWS has several                   | TestRotation
//	lines wait a second for others                           | choice: usually some on AWS               | TestBatchesByTime
//	at most 10,000 lines and 1 MB in a batch                 | logs: API PutLogEvents                    | TestBatchesBySize
//	a failing batch holds up no other; tries, queue          | lambda: invocation-async                  | TestAFailingBatchIsTriedAgain
//	an open batch is delivered again as it was               | choice                                    | TestRestart
//	half a line at the end is none                           | choice                                    | TestHalfALine
//	a file shorter than what is noted of it is done          | choice                                    | TestAFileThatIsShorter
//	lines that cannot be written are missing: said, counted  | choice                                    | TestLinesThatCannotBeWritten
//	spool files go when their batches are done               | choice                                    | TestRotation
//
// Not played: filter patterns, several log streams at once, control messages, delays of minutes, the 24 hours of CloudWatch's own tries,
// retention.
package subscription
