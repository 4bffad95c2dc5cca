// Package logging has attributes of log lines: truncated error texts, and metrics in the CloudWatch embedded metric format.
package logging

import (
	"log/slog"
	"time"
)

// Cause returns the attribute "cause" with the text of err.
func Cause(err error) slog.Attr { return slog.String("cause", Truncate(err.Error())) }

// Truncate limits the length of a text. Some DynamoDB-compatible engines repeat the whole request in an error.
func Truncate(text string) string {
	const limit = 4096 // bytes
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}

// Metric is the name and the unit of an attribute that is a metric.
type Metric struct{ Name, Unit string }

// Metrics declares attributes of the same log line as metrics of a function, in the CloudWatch embedded metric format
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html). Each set of dimensions
// names attributes of the line; Metrics adds the attribute functionName. Metrics returns nothing if function is empty.
func Metrics(namespace, function string, now time.Time, dimensions [][]string, metrics []Metric) []slog.Attr {
	if function == "" {
		return nil
	}
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []Metric
	}
	return []slog.Attr{
		slog.String("functionName", function),
		slog.Any("_aws", struct { //nolint:sloglint // the name is part of the format
			Timestamp         int64
			CloudWatchMetrics []directive
		}{now.UnixMilli(), []directive{{namespace, dimensions, metrics}}}),
	}
}
