package clientmetrics

import (
	"maps"
	"net/http"
	"slices"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// unknownFeature is a name that no toggle has. Its JSON is an item of unknownFlagsSchema in api/openapi.yaml.
type unknownFeature struct {
	Name       string          `json:"name"`
	LastSeenAt string          `json:"lastSeenAt"`
	Reports    []unknownReport `json:"reports"` // ordered by application
}

// unknownReport is which application used the name.
type unknownReport struct {
	AppName      string               `json:"appName"`
	Environments []unknownEnvironment `json:"environments"` // ordered by name
}

type unknownEnvironment struct {
	Environment string `json:"environment"`
	SeenAt      string `json:"seenAt"`
}

// ListUnknown serves GET /api/admin/metrics/unknown-flags.
func ListUnknown(metrics *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		unknown, err := metrics.Unknown(r.Context())
		if err != nil {
			return err
		}
		list := []unknownFeature{}
		for _, name := range slices.Sorted(maps.Keys(unknown)) {
			u := unknown[name]
			feature := unknownFeature{Name: name, LastSeenAt: datetime.Format(u.SeenAt())}
			for _, application := range slices.Sorted(maps.Keys(u.Reports)) {
				report := unknownReport{AppName: application}
				for _, environment := range slices.Sorted(maps.Keys(u.Reports[application])) {
					at := u.Reports[application][environment]
					report.Environments = append(report.Environments, unknownEnvironment{environment, datetime.Format(at)})
				}
				feature.Reports = append(feature.Reports, report)
			}
			list = append(list, feature)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			UnknownFlags []unknownFeature `json:"unknownFlags"`
		}{list})
	}
}
