package traffic

import (
	"net/http"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// The response body, trafficUsageDataSegmentedSchema in api/openapi.yaml.
type (
	report struct {
		Period  string    `json:"period"`
		APIData []apiData `json:"apiData"`
	}
	apiData struct {
		APIPath string `json:"apiPath"`
		Days    []day  `json:"days"`
	}
	day struct {
		Day          string        `json:"day"`
		TrafficTypes []trafficType `json:"trafficTypes"`
	}
	trafficType struct {
		Group string `json:"group"`
		Count int64  `json:"count"`
	}
)

// Get serves GET /api/admin/metrics/traffic/{period}.
func Get(store *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		period, err := lambdahttp.PathParam(r, "period")
		if err != nil {
			return lambdahttp.BadPathParam("period", period)
		}
		if !validPeriod(period) {
			return apierror.Invalid(apierror.At("/params/period", "must be a month such as 2026-11").Sent(period))
		}
		usage, err := store.Report(r.Context(), period)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, report{Period: period, APIData: newAPIData(usage)})
	}
}

// validPeriod reports whether text is a month, YYYY-MM, of the years 0001 to 9999.
func validPeriod(text string) bool {
	month, err := time.Parse("2006-01", text)
	return err == nil && len(text) == len("2006-01") && month.Year() >= 1
}

// newAPIData groups usage, which is ordered by path and day, by path.
func newAPIData(usage []Usage) []apiData {
	paths := []apiData{}
	for _, u := range usage {
		var types []trafficType
		for _, t := range []trafficType{
			{"successful-requests", u.Counts.Successful}, {"client-errors", u.Counts.ClientErrors},
			{"server-errors", u.Counts.ServerErrors},
		} {
			if t.Count > 0 {
				types = append(types, t)
			}
		}
		if types == nil {
			continue
		}
		if len(paths) == 0 || paths[len(paths)-1].APIPath != u.APIPath {
			paths = append(paths, apiData{APIPath: u.APIPath})
		}
		last := &paths[len(paths)-1]
		last.Days = append(last.Days, day{Day: datetime.Format(u.Day), TrafficTypes: types})
	}
	return paths
}
