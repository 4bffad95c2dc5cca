package samtemplate

import (
	"regexp"
	"strconv"
	"time"
)

// Limits and defaults of an event source mapping. Source: docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html.
const (
	defaultBatch = 100
	mostBatch    = 10000
	mostWindow   = 300 // seconds
	mostRetries  = 10000
	leastAge     = 60 // seconds
	mostAge      = 604800
	mostLanes    = 10
)

// Of asynchronous calls and of schedules. Sources: docs.aws.amazon.com/lambda/latest/dg/invocation-async-configuring.html,
// docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html.
const (
	asyncRetries    = 2
	scheduleRetries = 185
)

func readStream(d *decoder, r *resolver, o *object) Stream {
	s := Stream{
		StartingPosition:      o.needText("StartingPosition"),
		BatchSize:             o.integer("BatchSize", defaultBatch, 1, mostBatch),
		BatchingWindow:        time.Duration(o.integer("MaximumBatchingWindowInSeconds", 0, 0, mostWindow)) * time.Second,
		RetryAttempts:         o.integer("MaximumRetryAttempts", -1, -1, mostRetries),
		Bisect:                o.boolean("BisectBatchOnFunctionError", false),
		ParallelizationFactor: o.integer("ParallelizationFactor", 1, 1, mostLanes),
		OnFailure:             readOnFailure(d, r, o),
	}
	if s.StartingPosition != "TRIM_HORIZON" && s.StartingPosition != "LATEST" {
		d.fail(o.n, "StartingPosition: %q is not known: only TRIM_HORIZON and LATEST", s.StartingPosition)
	}
	switch age := o.integer("MaximumRecordAgeInSeconds", -1, -1, mostAge); {
	case age == -1:
		s.RecordAge = -1
	case age < leastAge:
		d.fail(o.n, "MaximumRecordAgeInSeconds: %d is neither -1 nor from %d to %d", age, leastAge, mostAge)
	default:
		s.RecordAge = time.Duration(age) * time.Second
	}
	for _, typ := range o.texts("FunctionResponseTypes") {
		if typ != "ReportBatchItemFailures" {
			d.fail(o.n, "FunctionResponseTypes: %q is not known: only ReportBatchItemFailures", typ)
		}
		s.ReportFailures = true
	}
	if !o.boolean("Enabled", true) {
		d.fail(o.n, "Enabled: false is not known")
	}
	arn := o.needText("Stream")
	if table := r.byARN(typeTable, "StreamArn", arn); table != nil {
		s.Table = table.id
	} else {
		d.fail(o.n, "Stream: %q is no stream of a table of this template", arn)
	}
	return s
}

// readOnFailure gives the logical id of the queue in DestinationConfig; empty where there is none.
func readOnFailure(d *decoder, r *resolver, o *object) string {
	destinations := o.child("DestinationConfig")
	if len(destinations.n.keys) == 0 {
		return ""
	}
	failure := d.object(destinations.need("OnFailure"))
	destinations.done()
	failure.must("Type", "SQS")
	arn := failure.needText("Destination")
	failure.done()
	queue := r.byARN(typeQueue, "Arn", arn)
	if queue == nil {
		d.fail(failure.n, "Destination: %q is no queue of this template", arn)
		return ""
	}
	return queue.id
}

// readSchedule reads a schedule; what has no meaning where an event can always be handed over is not played.
func readSchedule(d *decoder, o *object, name string) Schedule {
	s := Schedule{Name: name, RetryAttempts: scheduleRetries}
	if given := o.text("Name"); given != "" {
		s.Name = given
	}
	every, ok := rate(o.needText("ScheduleExpression"))
	if !ok {
		d.fail(o.n, "ScheduleExpression: %q is no rate such as rate(1 minute) or rate(2 hours)", o.text("ScheduleExpression"))
	}
	s.Every = every
	if state := o.text("State"); state != "" && state != "ENABLED" {
		d.fail(o.n, "State: %q is not known: only ENABLED", state)
	}
	retries := o.child("RetryPolicy")
	s.RetryAttempts = retries.integer("MaximumRetryAttempts", scheduleRetries, 0, scheduleRetries)
	retries.notPlayed("MaximumEventAgeInSeconds")
	retries.done()
	if window := o.child("FlexibleTimeWindow"); len(window.n.keys) > 0 {
		window.must("Mode", "OFF")
		window.done()
	}
	o.notPlayed("DeadLetterConfig", "Description", "OmitName", "PermissionsBoundary", "RoleArn")
	return s
}

// rate reads rate(value unit). Source: docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html.
func rate(expression string) (time.Duration, bool) {
	match := regexp.MustCompile(`^rate\(([1-9][0-9]{0,4}) (minute|hour|day)s?\)$`).FindStringSubmatch(expression)
	if match == nil {
		return 0, false
	}
	value, err := strconv.Atoi(match[1])
	if err != nil {
		return 0, false
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[match[2]]
	return time.Duration(value) * unit, true
}

func readLogSubscription(d *decoder, r *resolver, o *object) LogSubscription {
	group := o.needText("LogGroupName")
	if found := r.resources[group]; found == nil || found.typ != typeLogGroup {
		d.fail(o.n, "LogGroupName: %q is no log group of this template", group)
	}
	if pattern, ok := o.optionalText("FilterPattern"); !ok || pattern != "" {
		d.fail(o.n, "FilterPattern: only the empty one is known")
	}
	return LogSubscription{LogGroup: group}
}

// readEventInvokeConfig reads what becomes of asynchronous calls that fail.
func readEventInvokeConfig(d *decoder, r *resolver, function *object, f *Function) {
	o := function.child("EventInvokeConfig")
	f.AsyncRetries = o.integer("MaximumRetryAttempts", asyncRetries, 0, asyncRetries)
	f.AsyncOnFailure = readOnFailure(d, r, o)
	o.notPlayed("MaximumEventAgeInSeconds")
	o.done()
}

// readQueue reads a queue's properties: one that orders its messages or hands them on is not known.
func readQueue(d *decoder, found *resource) string {
	o := d.object(found.properties)
	if o.boolean("FifoQueue", false) {
		d.fail(o.n, "FifoQueue: true is not known")
	}
	o.notPlayed("KmsDataKeyReusePeriodSeconds", "KmsMasterKeyId", "MessageRetentionPeriod", "SqsManagedSseEnabled", "Tags",
		"VisibilityTimeout")
	o.done()
	return found.id
}
