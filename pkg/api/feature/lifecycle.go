package feature

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// GetLifecycle serves GET /api/admin/projects/{projectId}/features/{featureName}/lifecycle.
func GetLifecycle(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := Requested(r, features)
		if err != nil {
			return err
		}
		project, err := access.VisibleProject(r.Context(), f.Project)
		if err != nil {
			return err
		}
		known := Resources{projects: map[string]*access.Project{f.Project: project}}
		if known.Environments, err = features.environments.List(r.Context()); err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, lifecyclesOf(f, known.productionOf(f), features.now()))
	}
}
