// Package eventsource plays Lambda's event source mapping of a DynamoDB stream: it reads the engine's stream, makes batches of AWS's form
// and calls the function with them, in order, until each record is done or given up.
//
// The one concept: a record is done when the function has taken it or it was given up, and the checkpoint is the last record before which
// all are done. A restart goes on behind the checkpoint, so each record is delivered at least once. A lane is an order: records of one item
// are in one lane, a lane has one call at a time, and a failing batch holds up its lane alone.
//
// The stream is read every 150 ms, and at once when Nudge says that somebody has written.
//
// # What is played, and what is not
//
// Sources: lambda: is a page of the Lambda Developer Guide, ddb: one of the DynamoDB Developer Guide; "inferred" follows from other
// behaviour; "choice" is what no source settles, or what is ours alone. The last column is the test.
//
//	behaviour                                                   | source                                 | test
//	-- records
//	the event's members, attribute values of all types          | ddb: Streams.Lambda; API Record        | TestEvent
//	sequence numbers of 21 digits and more, eventID unique      | choice: AWS's look like that           | TestEvent
//	a write that changes nothing makes no record                | ddb: Streams; the engine makes one     | TestEngine
//	each record once, in order, sequence numbers as numbers     | ddb: Streams                           | TestRecordsAreReadOnce
//	TRIM_HORIZON begins with the oldest record                  | lambda: services-ddb-params            | TestEngine
//	LATEST begins with what comes                               | lambda: services-ddb-params            | TestLatest
//	a shard is read when its parent is done                     | lambda: with-ddb                       | TestParentsFirst
//	trimmed records are skipped; an expired iterator renewed    | ddb: API GetRecords                    | TestStreamErrors
//	-- batches
//	at most BatchSize records; what is there goes at once       | lambda: with-ddb                       | TestBatchSize
//	MaximumBatchingWindowInSeconds waits for more               | lambda: with-ddb                       | TestBatchingWindow
//	at most 6 MB                                                | lambda: with-ddb                       | TestBatchBytes
//	ParallelizationFactor lanes, each item in one               | lambda: services-ddb-params            | TestLanes
//	-- answers
//	without ReportBatchItemFailures an answer is a success      | lambda: services-ddb-batchfailurereporting | TestAnswers
//	null, {}, no or an empty list: success                      | lambda: services-ddb-batchfailurereporting | TestAnswers
//	the lowest number is the checkpoint, all from there again   | lambda: services-ddb-batchfailurereporting | TestAnswers
//	empty, null, missing or unknown identifier: the whole batch | lambda: services-ddb-batchfailurereporting | TestAnswers
//	-- errors
//	the batch again, MaximumRetryAttempts times; -1: for ever   | lambda: services-dynamodb-errors       | TestRetries
//	waits of 0.2 s, doubled up to 30 s                          | choice                                 | TestRetries
//	records above MaximumRecordAgeInSeconds are given up        | lambda: services-dynamodb-errors       | TestRecordAge
//	bisecting: halves, at no retry's expense                    | lambda: services-dynamodb-errors       | TestBisect
//	bisecting: at the number that the function reports          | lambda: services-ddb-batchfailurereporting | TestBisectAtTheReportedNumber
//	bisecting: halves where it reports the first record         | inferred                               | TestBisectAtTheReportedNumber
//	what is given up: metadata to the on-failure queue          | lambda: services-dynamodb-errors       | TestOnFailure
//	the condition RecordAgeExceeded                             | choice                                 | TestOnFailure
//	-- checkpoints
//	a restart goes on behind what is done                       | choice                                 | TestEngine
//	of several lanes the slowest counts                         | choice                                 | TestLanes
//	a call that the end of the program cuts short is repeated   | choice                                 | TestStopInTheMiddle
//
// Not played: FilterCriteria, tumbling windows, AT_TIMESTAMP, destinations other than queues, the 24 hours after which a stream forgets,
// duplicates without an error, more than one batch per lane at once. A reader waits for its slowest lane once that has a page of records
// to do. With LATEST, what is written while nothing runs is missed until the first checkpoint.
package eventsource
