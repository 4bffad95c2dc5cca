// Package traffic counts the requests of the API per resource path and day, and reports them by month (contract section
// 4.6).
//
// The access log of API Gateway is the source: CloudWatch Logs delivers its lines in batches, at least once, to
// functions/record-traffic. One transaction adds a batch to the counters of its paths and days and writes a marker of
// the batch, so that a repeated delivery is not counted again. The key of the marker is the SHA-256 of the log stream
// and the sorted IDs of the lines. Markers expire after 30 days, later than any repetition. A batch with more than 99
// paths and days is several transactions, each with its own marker.
//
// API Gateway writes variables into a line without escaping them, and cuts a line after 1,024 bytes. Therefore the
// format has no variable whose text a client can choose, such as the HTTP method, which X-HTTP-Method-Override sets.
//
// An item accepts 100 transactions of 10 ms per second, and 10,000 requests per second to one path are 100 batches per
// second with 100 lines each. Therefore each path and day has several items, selected by the log stream. The items of a
// month are one partition, which accepts 1,000 write units per second, two for each item.
package traffic

import (
	"cmp"
	"slices"
	"time"
)

// Counts are requests by status.
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

// tally adds requests up by path and day.
type tally map[pathAndDay]Counts

type pathAndDay struct {
	path string
	day  time.Time
}

func (t tally) add(at pathAndDay, c Counts) {
	sum := t[at]
	sum.Successful += c.Successful
	sum.ClientErrors += c.ClientErrors
	sum.ServerErrors += c.ServerErrors
	t[at] = sum
}

// usage returns the sums, ordered by path, then day.
func (t tally) usage() []Usage {
	all := make([]Usage, 0, len(t))
	for at, counts := range t {
		all = append(all, Usage{APIPath: at.path, Day: at.day, Counts: counts})
	}
	slices.SortFunc(all, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(a.APIPath, b.APIPath), a.Day.Compare(b.Day))
	})
	return all
}
