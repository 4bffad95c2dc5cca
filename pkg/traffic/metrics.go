package traffic

import (
	"log/slog"
	"time"
)

// metrics makes metrics of the log line's own attributes, in CloudWatch's embedded metric format
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html): no call, no permission.
func (l *Log) metrics(now time.Time) []slog.Attr {
	if l.Function == "" {
		return nil
	}
	type metric struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []metric
	}
	return []slog.Attr{
		slog.String("functionName", l.Function),
		slog.Any("_aws", struct { //nolint:sloglint // the format's own name
			Timestamp         int64
			CloudWatchMetrics []directive
		}{now.UnixMilli(), []directive{{
			Namespace: "ToggleAdmin/Traffic", Dimensions: [][]string{{"functionName"}},
			Metrics: []metric{{"counted", "Count"}, {"duplicate", "Count"}, {"malformed", "Count"}},
		}}}),
	}
}
