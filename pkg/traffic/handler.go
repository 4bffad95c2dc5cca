package traffic

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Recorder counts batches.
type Recorder interface {
	// Record counts the requests of a batch, all that were not counted before. After an error any part of the batch may have been counted:
	// the same batch again counts the rest.
	Record(ctx context.Context, b *Batch) (Recorded, error)
}

// Recorded is what became of a batch's requests.
type Recorded struct {
	Counted   int // now
	Duplicate int // counted before, by an earlier delivery
	Writes    int // transactions
}

// Log is the access log, as CloudWatch Logs delivers it: at least once, in any order, up to weeks late. It is safe for concurrent use.
type Log struct {
	Recorder Recorder
	Paths    Paths
	Logger   *slog.Logger
	Now      func() time.Time
	Function string // the deployed function's name, which its metrics are told apart by; empty: no metrics
}

// Summary is the function's answer. Only whoever invokes it by hand reads it.
type Summary struct {
	Events    int `json:"events"`
	Counted   int `json:"counted"`
	Duplicate int `json:"duplicate"`
	Uncounted int `json:"uncounted"`
	Malformed int `json:"malformed"`
}

// deadlineMargin is what is left of the invocation's time to say that the last attempt was given up.
const deadlineMargin = 500 * time.Millisecond

// What Lambda gets to know of a failure. It delivers again after either; the queue of failures gets what never succeeds.
var (
	errUnreadable  = errors.New("the delivery cannot be read")
	errNotRecorded = errors.New("the delivery could not be recorded in time")
)

// Deliver is the Lambda handler. It writes one line for each delivery: its events are counted now, duplicate (counted before), uncounted or
// malformed, which makes the line a Warn. The cause of a failure is in the log only.
func (l *Log) Deliver(ctx context.Context, event events.CloudwatchLogsEvent) (Summary, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-deadlineMargin))
		defer cancel()
	}
	started := l.Now()
	batch, err := Decode(event.AWSLogs.Data, l.Paths)
	if err != nil {
		l.Logger.ErrorContext(ctx, "delivery not read", slog.Int("bytes", len(event.AWSLogs.Data)), slog.String("cause", cut(err.Error())))
		return Summary{}, errUnreadable
	}
	recorded, err := l.Recorder.Record(ctx, batch)
	now := l.Now()
	attributes := []slog.Attr{
		slog.String("batch", batch.ID), slog.Int("shard", batch.Shard), slog.Int("events", batch.Events),
		slog.Int("counted", recorded.Counted), slog.Int("duplicate", recorded.Duplicate), slog.Int("uncounted", batch.Uncounted),
		slog.Int("malformed", batch.Malformed), slog.Int("repeated", batch.Repeated), slog.Int("writes", recorded.Writes),
		slog.Float64("milliseconds", float64(now.Sub(started).Microseconds())/1000),
	}
	if err != nil {
		l.Logger.LogAttrs(ctx, slog.LevelError, "delivery not recorded", append(attributes, slog.String("cause", cut(err.Error())))...)
		return Summary{}, errNotRecorded
	}
	level := slog.LevelInfo
	if batch.Malformed > 0 { // the log's format is not what this package reads, or somebody else writes to it
		level = slog.LevelWarn
	}
	l.Logger.LogAttrs(ctx, level, "requests counted", append(attributes, l.metrics(now)...)...)
	return Summary{
		Events: batch.Events, Counted: recorded.Counted, Duplicate: recorded.Duplicate, Uncounted: batch.Uncounted, Malformed: batch.Malformed,
	}, nil
}

// cut keeps a cause to a length that a log line bears: some DynamoDB-compatible engines echo the whole request in an error.
func cut(text string) string {
	const most = 4096 // bytes
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
