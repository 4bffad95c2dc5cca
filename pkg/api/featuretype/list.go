package featuretype

import (
	"net/http"

	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// listVersion is the version of the list's schema; there is only one (api/openapi.yaml).
const listVersion = 1

// List serves GET /api/admin/feature-types.
func List(types *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := types.List(r.Context())
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etag(all))
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version int           `json:"version"`
			Types   []toggle.Type `json:"types"`
		}{listVersion, append([]toggle.Type{}, all...)}) // an empty list is not null
	}
}

// etag returns the entity tag of the lifetimes of all types.
func etag(all []toggle.Type) string {
	lifetimes := map[string]*int64{}
	for _, t := range all {
		lifetimes[t.ID] = t.LifetimeDays
	}
	return lambdahttp.ETag(lifetimes)
}
