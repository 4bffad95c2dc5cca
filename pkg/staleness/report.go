package staleness

import (
	"context"
	"log/slog"
	"time"

	"toggleadmin/pkg/datetime"
)

// What starts a run.
const (
	onStream   = "stream"
	onSchedule = "schedule"
)

// Report writes the log: one line for each type that a run had something to do for, which is its metrics too.
type Report struct {
	Logger   *slog.Logger
	Function string // the deployed function's name, which its metrics are told apart by; empty: no metrics
}

// outcome writes a type's line: Info, Warn where something is left, Error where a call was given up for a fault. A sweep that found a type's flags
// as they should be says nothing but at the level Debug. changed is when the lifetime was changed, if that started the run.
func (r Report) outcome(ctx context.Context, trigger string, o *Outcome, changed time.Time) {
	attributes := []slog.Attr{slog.String("trigger", trigger), slog.String("featureType", o.Type.ID)}
	if o.Type.LifetimeDays != nil {
		attributes = append(attributes, slog.Int64("lifetimeDays", *o.Type.LifetimeDays))
	}
	if cutoff := Cutoff(o.Type.LifetimeDays, o.Now); cutoff != nil {
		attributes = append(attributes, slog.String("cutoff", datetime.Format(*cutoff)))
	}
	attributes = append(attributes,
		slog.Int("flagged", o.Flagged), slog.Int("unflagged", o.Unflagged), slog.Int("left", o.Left), slog.Int("overtaken", o.Overtaken),
		slog.Int("read", o.Read), slog.Int("pages", o.Pages), slog.Int("writes", o.Writes),
		slog.Int("throttled", o.Throttled), slog.Int("retried", o.Retried), slog.Float64("milliseconds", milliseconds(o.Took)))
	lagged := !changed.IsZero() && !o.LastFlip.IsZero()
	if lagged {
		attributes = append(attributes, slog.Float64("lagMilliseconds", milliseconds(max(o.LastFlip.Sub(changed), 0))))
	}
	level := slog.LevelInfo
	switch {
	case o.Err != nil:
		level = slog.LevelError
		attributes = append(attributes, slog.String("cause", cut(o.Err.Error())))
	case o.Left > 0:
		level = slog.LevelWarn
	case trigger == onSchedule && o.Read == 0:
		level = slog.LevelDebug
	}
	r.Logger.LogAttrs(ctx, level, "toggles re-evaluated", append(attributes, r.metrics(o.Now.Add(o.Took), lagged)...)...)
}

// metrics makes metrics of the line's own attributes, in CloudWatch's embedded metric format
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html): no call, no permission.
func (r Report) metrics(now time.Time, lagged bool) []slog.Attr {
	if r.Function == "" {
		return nil
	}
	type metric struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []metric
	}
	metrics := []metric{{"flagged", "Count"}, {"unflagged", "Count"}, {"left", "Count"}, {"overtaken", "Count"}, {"throttled", "Count"}}
	if lagged {
		metrics = append(metrics, metric{"lagMilliseconds", "Milliseconds"})
	}
	return []slog.Attr{
		slog.String("functionName", r.Function),
		slog.Any("_aws", struct { //nolint:sloglint // the format's own name
			Timestamp         int64
			CloudWatchMetrics []directive
		}{now.UnixMilli(), []directive{{
			Namespace: "ToggleAdmin/Staleness", Dimensions: [][]string{{"functionName"}, {"functionName", "featureType"}}, Metrics: metrics,
		}}}),
	}
}

// unreadable says that a type, or all of them, could not be read.
func (r Report) unreadable(ctx context.Context, trigger, featureType string, err error) {
	attributes := []slog.Attr{slog.String("trigger", trigger), slog.String("cause", cut(err.Error()))}
	if featureType != "" {
		attributes = append(attributes, slog.String("featureType", featureType))
	}
	r.Logger.LogAttrs(ctx, slog.LevelError, "feature types not read", attributes...)
}

// deleted says why a type's toggles lose their flags.
func (r Report) deleted(ctx context.Context, featureType string) {
	r.Logger.LogAttrs(ctx, slog.LevelInfo, "feature type deleted: none of its toggles stays flagged",
		slog.String("trigger", onStream), slog.String("featureType", featureType))
}

// malformed says that a record has no type's key.
func (r Report) malformed(ctx context.Context, eventID string) {
	r.Logger.LogAttrs(ctx, slog.LevelError, "record without a feature type", slog.String("eventId", cut(eventID)))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cut keeps a text to a length that a log line bears: some DynamoDB-compatible engines echo the whole request in an error.
func cut(text string) string {
	const most = 4096 // bytes
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
