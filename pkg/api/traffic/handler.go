package traffic

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

// Recorder is the function that receives the access log from CloudWatch Logs: at least once, in any order, possibly
// weeks late. It is safe for concurrent use.
type Recorder struct {
	Store    *Store
	Paths    Paths
	Logger   *slog.Logger
	Now      func() time.Time
	Function string // name of the deployed function, the dimension of its metrics; empty: no metrics
}

// Summary is the function's response, for manual invocations.
type Summary struct {
	Events    int `json:"events"`
	Counted   int `json:"counted"`
	Duplicate int `json:"duplicate"`
	Uncounted int `json:"uncounted"`
	Malformed int `json:"malformed"`
}

// The errors that Lambda receives. It retries after either, and finally sends the delivery to the on-failure queue.
var (
	errUnreadable  = errors.New("the delivery cannot be read")
	errNotRecorded = errors.New("the delivery could not be recorded in time")
)

// Handle records one delivery and logs one line. Its events are counted now, duplicate (counted before), uncounted
// (requests of other paths) or malformed; malformed events make the line a warning. The cause of an error is only in
// the log.
func (r *Recorder) Handle(ctx context.Context, event events.CloudwatchLogsEvent) (Summary, error) {
	ctx, cancel := invocation.StopEarly(ctx, invocation.Margin) // to log the failure
	defer cancel()
	started := r.Now()
	batch, err := Decode(event.AWSLogs.Data, r.Paths)
	if err != nil {
		r.Logger.ErrorContext(ctx, "delivery not read", slog.Int("bytes", len(event.AWSLogs.Data)), logging.Cause(err))
		return Summary{}, errUnreadable
	}
	recorded, err := r.Store.Record(ctx, batch, started)
	now := r.Now()
	attributes := []slog.Attr{
		slog.String("batch", batch.ID), slog.Int("shard", batch.Shard), slog.Int("events", batch.Events),
		slog.Int("counted", recorded.Counted), slog.Int("duplicate", recorded.Duplicate),
		slog.Int("uncounted", batch.Uncounted),
		slog.Int("malformed", batch.Malformed), slog.Int("repeated", batch.Repeated), slog.Int("writes", recorded.Writes),
		slog.Float64("milliseconds", logging.Milliseconds(now.Sub(started))),
	}
	if err != nil {
		r.Logger.LogAttrs(ctx, slog.LevelError, "delivery not recorded", append(attributes, logging.Cause(err))...)
		return Summary{}, errNotRecorded
	}
	level := slog.LevelInfo
	if batch.Malformed > 0 { // the format of the access log has changed, or another source writes to the log group
		level = slog.LevelWarn
	}
	metrics := logging.Metrics("ToggleAdmin/Traffic", r.Function, now, attributes,
		logging.Metric{Name: "counted", Unit: "Count"},
		logging.Metric{Name: "duplicate", Unit: "Count"}, logging.Metric{Name: "malformed", Unit: "Count"})
	r.Logger.LogAttrs(ctx, level, "requests counted", append(attributes, metrics...)...)
	return Summary{
		Events: batch.Events, Counted: recorded.Counted, Duplicate: recorded.Duplicate, Uncounted: batch.Uncounted,
		Malformed: batch.Malformed,
	}, nil
}
