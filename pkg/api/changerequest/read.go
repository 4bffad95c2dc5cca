package changerequest

import (
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Get serves GET /api/admin/projects/{projectId}/change-requests/{id}.
func Get(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return onRequest(nil, func(w http.ResponseWriter, r *http.Request, in input) error {
		found, err := requests.Get(r.Context(), in.project, in.id)
		if err != nil {
			return err
		}
		return respond(w, r, requests, users, found)
	})
}
