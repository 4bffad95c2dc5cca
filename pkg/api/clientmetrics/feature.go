package clientmetrics

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

// header begins the responses about a toggle.
type header struct {
	Version  int    `json:"version"`
	Maturity string `json:"maturity"`
}

func newHeader() header { return header{Version: 1, Maturity: "stable"} }

// environmentUsage is the usage of a toggle in an environment in the running hour.
type environmentUsage struct {
	Environment string `json:"environment"`
	Timestamp   string `json:"timestamp"` // the start of the hour
	Yes         int64  `json:"yes"`
	No          int64  `json:"no"`
}

// featureUsage is featureUsageSchema in api/openapi.yaml.
type featureUsage struct {
	header
	FeatureName      string             `json:"featureName"`
	LastHourUsage    []environmentUsage `json:"lastHourUsage"`
	SeenApplications []string           `json:"seenApplications"`
}

// nameOf returns the path parameter name of a request, or a 400. Any name is valid: it can be one of a toggle that was
// deleted.
func nameOf(r *http.Request) (string, error) {
	name, err := lambdahttp.PathParam(r, "name")
	if err != nil {
		return "", lambdahttp.BadPathParam("name", name)
	}
	return name, nil
}

// Get serves GET /api/admin/client-metrics/features/{name}.
func Get(metrics *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := nameOf(r)
		if err != nil {
			return err
		}
		now := metrics.now()
		records, err := metrics.Usage(r.Context(), []string{name}, now, recentHours)
		if err != nil {
			return err
		}
		response := featureUsage{header: newHeader(), FeatureName: name, LastHourUsage: []environmentUsage{}}
		applications := map[string]bool{}
		for _, record := range records { // ordered by hour, then by environment
			for application := range record.Applications {
				applications[application] = true
			}
			if record.Hour.Equal(usage.HourOf(now)) {
				total := record.Applications.Total()
				response.LastHourUsage = append(response.LastHourUsage,
					environmentUsage{record.Environment, datetime.Format(record.Hour), total.Yes, total.No})
			}
		}
		response.SeenApplications = slices.AppendSeq([]string{}, maps.Keys(applications))
		slices.Sort(response.SeenApplications)
		return lambdahttp.WriteJSON(w, http.StatusOK, response)
	}
}

const (
	maxHours = int(usagetable.RecordsKept / time.Hour)
	// maxList is the maximum size of a list in Lambda's response, in bytes. Lambda's limit is 6 MB.
	maxList = 5_000_000
)

// hourUsage is the usage of a toggle by an application in an environment and hour.
type hourUsage struct {
	FeatureName string           `json:"featureName"`
	AppName     string           `json:"appName"`
	Environment string           `json:"environment"`
	Timestamp   string           `json:"timestamp"` // the start of the hour
	Yes         int64            `json:"yes"`
	No          int64            `json:"no"`
	Variants    map[string]int64 `json:"variants,omitzero"` // nil in an hour without reports
}

// List serves GET /api/admin/client-metrics/features/{name}/raw.
func List(metrics *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := nameOf(r)
		if err != nil {
			return err
		}
		q := lambdahttp.NewQuery(r)
		hours := q.Number("hoursBack", recentHours, 1, maxHours)
		if err := q.Err(); err != nil {
			return err
		}
		now := metrics.now()
		records, err := metrics.Usage(r.Context(), []string{name}, now, hours)
		if err != nil {
			return err
		}
		tooLarge := func(applications, size int) error {
			fits := int(int64(hours) * maxList / int64(size))
			q.Reject("hoursBack", fmt.Sprintf("must be about %d or less, because %d applications and environments used "+
				"the toggle, and the list would be too large", max(fits, 1), applications))
			return q.Err()
		}
		list := byHour(name, records, now.Add(time.Hour), 1) // an hour without reports
		size, err := jsonbody.SizeInResponse(list)
		if err != nil {
			return err
		}
		if size*hours > maxList { // do not build a list that can be larger than the memory
			return tooLarge(len(list), size*hours)
		}
		body := struct {
			header
			Data []hourUsage `json:"data"`
		}{newHeader(), byHour(name, records, since(now, hours), hours)}
		if size, err = jsonbody.SizeInResponse(body); err != nil {
			return err
		}
		if size > maxList {
			return tooLarge(len(list), size)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// key is an application in an environment.
type key struct{ environment, application string }

// byHour returns one entry for each hour, environment and application, in this order, of all environments and
// applications in the records.
func byHour(name string, records []usagetable.Record, first time.Time, hours int) []hourUsage {
	counted := map[time.Time]map[key]usage.Counts{}
	known := map[key]bool{}
	for _, record := range records {
		if counted[record.Hour] == nil {
			counted[record.Hour] = map[key]usage.Counts{}
		}
		for application, counts := range record.Applications {
			k := key{record.Environment, application}
			counted[record.Hour][k] = counts
			known[k] = true
		}
	}
	keys := slices.SortedFunc(maps.Keys(known), key.compare)
	data := make([]hourUsage, 0, hours*len(keys))
	for i := range hours {
		hour := first.Add(time.Duration(i) * time.Hour)
		for _, k := range keys {
			entry := hourUsage{
				FeatureName: name, AppName: k.application, Environment: k.environment, Timestamp: datetime.Format(hour),
			}
			if counts, ok := counted[hour][k]; ok {
				entry.Yes, entry.No, entry.Variants = counts.Yes, counts.No, map[string]int64{}
				maps.Copy(entry.Variants, counts.Variants)
			}
			data = append(data, entry)
		}
	}
	return data
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.environment, other.environment), cmp.Compare(k.application, other.application))
}
