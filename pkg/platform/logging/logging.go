// Package logging has attributes of log lines: truncated error texts, and metrics in the CloudWatch embedded metric
// format.
package logging

import (
	"log/slog"
	"slices"
	"time"
)

// Milliseconds returns a duration in milliseconds, with three decimal places.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

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

// Metrics declares attributes of a log line as metrics of a function, in the CloudWatch embedded metric format
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html), and
// adds their dimension, the attribute functionName. It omits metrics whose attribute is absent or 0, because each is
// billed for every hour with data. Metrics returns nothing if no metric is left or function is empty.
func Metrics(namespace, function string, now time.Time, line []slog.Attr, metrics ...Metric) []slog.Attr {
	var present []Metric
	for _, m := range metrics {
		if slices.ContainsFunc(line, func(a slog.Attr) bool { return a.Key == m.Name && a.Value.Any() != int64(0) }) {
			present = append(present, m)
		}
	}
	if function == "" || len(present) == 0 {
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
		}{now.UnixMilli(), []directive{{namespace, [][]string{{"functionName"}}, present}}}),
	}
}
