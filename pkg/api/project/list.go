package project

import (
	"net/http"

	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// listVersion is the version of the list's schema; there is only one (api/openapi.yaml).
const listVersion = 1

// response is projectSchema in api/openapi.yaml.
type response struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	Description  string  `json:"description,omitempty"` // a null would be an error of Unleash's Terraform provider
	Mode         string  `json:"mode"`
	FeatureCount int     `json:"featureCount"`
	CreatedAt    *string `json:"createdAt"`
}

// List serves GET /api/admin/projects.
func List(projects *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := projects.List(r.Context())
		if err != nil {
			return err
		}
		list := make([]response, len(all))
		for i, p := range all {
			list[i] = response{ID: p.ID, Name: p.ID, Mode: "open", FeatureCount: p.Features}
			if p.ID == toggle.DefaultProject {
				list[i].Name, list[i].Description = "Default", "Default project"
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version  int        `json:"version"`
			Projects []response `json:"projects"`
		}{listVersion, list})
	}
}
