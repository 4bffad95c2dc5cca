// Package traffic is the usage of the API per resource path and day (4.6).
//
// The one concept: usage is counted per path, day and shard, a counter for each group of statuses; a report of a month adds the shards
// up. What fills the counters is the gateway's access log, not the requests: its lines arrive in batches, at least once, and a batch leaves
// a marker in the transaction that counts it, so that it counts once.
//
// What is not here: the line's format and the paths that are counted, which are template.yaml's.
package traffic

import (
	"context"
	"time"
)

// Counts are requests by group of status.
type Counts struct {
	Successful   int64 // 2xx and 3xx
	ClientErrors int64 // 4xx
	ServerErrors int64 // 5xx
}

// Usage is the requests of one resource path on one day.
type Usage struct {
	APIPath string
	Day     time.Time // midnight UTC
	Counts  Counts
}

// Reporter gives the usage of a period (YYYY-MM), ordered by path, then day.
type Reporter interface {
	Report(ctx context.Context, period string) ([]Usage, error)
}

// ValidPeriod says whether text is a month, YYYY-MM with the years 0001 to 9999.
func ValidPeriod(text string) bool {
	const layout = "2006-01"
	t, err := time.Parse(layout, text)
	return err == nil && len(text) == len(layout) && t.Year() >= 1
}
