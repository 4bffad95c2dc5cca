// Package trigger invokes the functions of the local service that the API does not invoke: for records of a DynamoDB
// stream, for messages of a queue, on a schedule and for lines of the API's access log.
//
// Every event is delivered at least once, even if the program is killed. A stream continues after its checkpoint, the
// sequence number of the last record that is done. An access log is a folder of files. Each file is one batch: it is
// delivered, with the same events each time, until the function has processed it or the event is discarded, and then
// deleted. Files are not synced to the disk, so a power failure can lose the last lines.
//
// A function that fails is invoked again, as often as the template says. Then the event is discarded: its on-failure
// record is appended to the file of the template's queue, DATA_DIR/queues/<LogicalId>.jsonl.
//
// Sources in the table: "lambda" is a page of the Lambda Developer Guide (without "services-"), "ddb" of the DynamoDB
// Developer Guide, "scheduler" of the EventBridge Scheduler User Guide. A choice is behavior that no source specifies, or
// that is specific to the local service.
//
//	behavior                                        | source
//	-- streams
//	AWS's form, in order, from TRIM_HORIZON         | lambda: with-ddb
//	at most BatchSize records for each invocation   | lambda: ddb-params
//	FilterCriteria: kinds of records are skipped    | lambda: invocation-eventfiltering
//	a write that changes nothing has no record      | ddb: Streams; unlike the engine
//	delivery continues after the checkpoint         | choice
//	no batchItemFailures: the batch is done         | lambda: ddb-batchfailurereporting
//	the lowest itemIdentifier is the checkpoint     | lambda: ddb-batchfailurereporting
//	an empty or unknown itemIdentifier is a failure | lambda: ddb-batchfailurereporting
//	an interrupted invocation is repeated           | choice
//	a stream that cannot be read is read later      | choice
//	a checkpoint that is not valid is a missing one | choice
//	-- queues
//	AWS's form                                      | observed on AWS
//	at most BatchSize messages for each invocation  | lambda: sqs-configure
//	what is not in batchItemFailures is deleted     | lambda: sqs-errorhandling
//	the function fails: nothing is deleted          | lambda: sqs-errorhandling
//	-- schedules
//	one invocation at the start and in each period  | choice
//	the event                                       | observed on AWS
//	invocations may overlap                         | scheduler: asynchronous invocation
//	-- access log
//	the event: base64 of gzip of JSON               | lambda: cloudwatchlogs
//	one batch for each second                       | choice
//	the same events and identifiers after a restart | choice
//	an incomplete last line is ignored              | choice
//	a line that cannot be written is reported       | choice
//	-- failures
//	MaximumRetryAttempts; -1: without a limit       | lambda: dynamodb-errors
//	retries are counted for each batch              | lambda: dynamodb-errors
//	waits of 0.5 s, doubled up to 30 s              | choice; AWS: up to 2 minutes
//	record of a stream: the batch's metadata        | lambda: dynamodb-errors
//	record of an asynchronous invocation: its event | lambda: invocation-async
//	without a record in the queue, it is not done   | choice
//	-- templates
//	settings that are not supported                 | choice
//
// New rejects a template with subscriptions to other log groups, and with queues that are not the target of a rule.
// Package samtemplate rejects streams without ReportBatchItemFailures, StartingPosition LATEST, batching windows,
// filters of anything but eventName, and cron expressions. These settings have no effect:
//
//   - ParallelizationFactor and BisectBatchOnFunctionError: one batch is processed at a time, and fails as a whole.
//   - MaximumRecordAgeInSeconds and MaximumEventAgeInSeconds: records and events do not expire, because a development
//     machine can be off for days.
//   - RetryPolicy of a schedule: it is for events that cannot be handed over to Lambda.
//
// Of a stream, only the last shard is read.
package trigger
