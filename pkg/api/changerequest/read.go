package changerequest

import (
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Get serves GET /api/admin/projects/{projectId}/change-requests/{id}.
func Get(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := idOf(r, "id")
		if err != nil {
			return err
		}
		found, err := requests.Get(r.Context(), r.PathValue("projectId"), id)
		if err != nil {
			return err
		}
		return respond(w, r, requests, users, found)
	}
}
