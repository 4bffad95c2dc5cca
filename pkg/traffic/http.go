package traffic

import (
	"fmt"
	"net/http"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/lambdahttp"
)

// report is trafficUsageDataSegmentedSchema.
type report struct {
	Period  string    `json:"period"`
	APIData []apiData `json:"apiData"`
}

type apiData struct {
	APIPath string `json:"apiPath"`
	Days    []day  `json:"days"`
}

type day struct {
	Day          string        `json:"day"`
	TrafficTypes []trafficType `json:"trafficTypes"`
}

type trafficType struct {
	Group string `json:"group"`
	Count int64  `json:"count"`
}

// Get serves GET /api/admin/metrics/traffic/{period}.
func Get(usage Reporter) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		period, err := lambdahttp.PathParam(r, "period")
		if err != nil {
			return lambdahttp.BadPathParam("period", period)
		}
		if !ValidPeriod(period) {
			return apierror.New(apierror.Validation, fmt.Sprintf(
				"The `/params/period` property must be a month such as 2026-11; you sent %q.", apierror.Echo(period)))
		}
		all, err := usage.Report(r.Context(), period)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, report{Period: period, APIData: segmented(all)})
	}
}

// segmented nests usage that is ordered by path and day.
func segmented(all []Usage) []apiData {
	paths := []apiData{}
	for _, u := range all {
		groups := groupsOf(u.Counts)
		if len(groups) == 0 {
			continue
		}
		if len(paths) == 0 || paths[len(paths)-1].APIPath != u.APIPath {
			paths = append(paths, apiData{APIPath: u.APIPath})
		}
		last := &paths[len(paths)-1]
		last.Days = append(last.Days, day{Day: datetime.Format(u.Day), TrafficTypes: groups})
	}
	return paths
}

// groupsOf names the groups, each only where it was counted.
func groupsOf(c Counts) []trafficType {
	var groups []trafficType
	for _, g := range []trafficType{
		{"successful-requests", c.Successful}, {"client-errors", c.ClientErrors}, {"server-errors", c.ServerErrors},
	} {
		if g.Count > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}
