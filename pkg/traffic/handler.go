package traffic

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/lambdahttp"
)

// Recorder is the function that receives the access log from CloudWatch Logs: at least once, in any order, possibly weeks late. It is safe
// for concurrent use.
type Recorder struct {
	Store    *Store
	Paths    Paths
	Logger   *slog.Logger
	Now      func() time.Time
	Function string // name of the deployed function, the dimension of its metrics; empty: no metrics
}

// Summary is the function's response, for callers that invoke it by hand.
type Summary struct {
	Events    int `json:"events"`
	Counted   int `json:"counted"`
	Duplicate int `json:"duplicate"`
	Uncounted int `json:"uncounted"`
	Malformed int `json:"malformed"`
}

// The errors that Lambda receives. It delivers again after either, and finally sends the delivery to the dead-letter queue.
var (
	errUnreadable  = errors.New("the delivery cannot be read")
	errNotRecorded = errors.New("the delivery could not be recorded in time")
)

// Handle records one delivery and logs one line. Its events are counted now, duplicate (counted before), uncounted (requests of other
// paths) or malformed; malformed events make the line a warning. The cause of an error is only in the log.
func (r *Recorder) Handle(ctx context.Context, event events.CloudwatchLogsEvent) (Summary, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-lambdahttp.DeadlineMargin)) // to log the failure
		defer cancel()
	}
	started := r.Now()
	batch, err := Decode(event.AWSLogs.Data, r.Paths)
	if err != nil {
		r.Logger.ErrorContext(ctx, "delivery not read", slog.Int("bytes", len(event.AWSLogs.Data)), slog.String("cause", truncate(err.Error())))
		return Summary{}, errUnreadable
	}
	recorded, err := r.Store.Record(ctx, batch, started)
	now := r.Now()
	attributes := []slog.Attr{
		slog.String("batch", batch.ID), slog.Int("shard", batch.Shard), slog.Int("events", batch.Events),
		slog.Int("counted", recorded.Counted), slog.Int("duplicate", recorded.Duplicate), slog.Int("uncounted", batch.Uncounted),
		slog.Int("malformed", batch.Malformed), slog.Int("repeated", batch.Repeated), slog.Int("writes", recorded.Writes),
		slog.Float64("milliseconds", float64(now.Sub(started).Microseconds())/1000),
	}
	if err != nil {
		r.Logger.LogAttrs(ctx, slog.LevelError, "delivery not recorded", append(attributes, slog.String("cause", truncate(err.Error())))...)
		return Summary{}, errNotRecorded
	}
	level := slog.LevelInfo
	if batch.Malformed > 0 { // the format of the access log has changed, or another source writes to the log group
		level = slog.LevelWarn
	}
	r.Logger.LogAttrs(ctx, level, "requests counted", append(attributes, r.metrics(now)...)...)
	return Summary{
		Events: batch.Events, Counted: recorded.Counted, Duplicate: recorded.Duplicate, Uncounted: batch.Uncounted, Malformed: batch.Malformed,
	}, nil
}

// metrics declares attributes of the log line as metrics, in the CloudWatch embedded metric format
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
func (r *Recorder) metrics(now time.Time) []slog.Attr {
	if r.Function == "" {
		return nil
	}
	type metric struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []metric
	}
	return []slog.Attr{
		slog.String("functionName", r.Function),
		slog.Any("_aws", struct { //nolint:sloglint // the name is part of the format
			Timestamp         int64
			CloudWatchMetrics []directive
		}{now.UnixMilli(), []directive{{
			Namespace: "ToggleAdmin/Traffic", Dimensions: [][]string{{"functionName"}},
			Metrics: []metric{{"counted", "Count"}, {"duplicate", "Count"}, {"malformed", "Count"}},
		}}}),
	}
}

// truncate limits the length of an error: some DynamoDB-compatible engines repeat the whole request in it.
func truncate(text string) string {
	const limit = 4096 // bytes
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}
