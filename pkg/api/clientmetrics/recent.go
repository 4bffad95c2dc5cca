package clientmetrics

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// maxRecent is the maximum number of toggles of which a request reads the usage.
const maxRecent = 50

// recentUsage is how often a toggle was on and off in each of the last 24 hours, in all environments.
type recentUsage struct {
	Name string             `json:"name"`
	Yes  [recentHours]int64 `json:"yes"`
	No   [recentHours]int64 `json:"no"`
}

// ListRecent serves GET /api/admin/client-metrics/features.
func ListRecent(metrics *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		const parameter = "feature"
		q := lambdahttp.NewQuery(r)
		_, names := q.Values(parameter, "IS", "IS_ANY_OF")
		if !q.Has(parameter) {
			q.Reject(parameter, "must name toggles, as in IS_ANY_OF:new-checkout,dark-mode")
		} else if len(names) > maxRecent {
			q.Reject(parameter, fmt.Sprintf("must have at most %d values", maxRecent))
		}
		if err := q.Err(); err != nil {
			return err
		}
		now := metrics.now()
		records, err := metrics.Usage(r.Context(), slices.Compact(slices.Sorted(slices.Values(names))), now, recentHours)
		if err != nil {
			return err
		}
		from := since(now, recentHours)
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			header
			From     string        `json:"from"` // the start of the first hour
			Features []recentUsage `json:"features"`
		}{newHeader(), datetime.Format(from), sumPerHour(records, from)})
	}
}

// sumPerHour adds up the records of each toggle from an hour on. The toggles are ordered by name.
func sumPerHour(records []usagetable.Record, from time.Time) []recentUsage {
	sums := map[string]recentUsage{}
	for _, record := range records {
		sum := sums[record.Feature]
		total, i := record.Applications.Total(), int(record.Hour.Sub(from)/time.Hour)
		sum.Name = record.Feature
		sum.Yes[i] += total.Yes
		sum.No[i] += total.No
		sums[record.Feature] = sum
	}
	all := []recentUsage{}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, sums[name])
	}
	return all
}
