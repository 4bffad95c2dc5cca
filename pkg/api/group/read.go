package group

import (
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// List serves GET /api/admin/groups. Groups are listed without their members, because all of them could exceed the
// maximum size of a response.
func List(groups *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		projects, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		all, err := groups.List(r.Context())
		if err != nil {
			return err
		}
		list := make([]response, len(all))
		for i, g := range all {
			list[i] = newResponse(g, projects)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Groups []response `json:"groups"`
		}{list})
	}
}

// Get serves GET /api/admin/groups/{groupId}.
func Get(groups *Store, users *user.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		g, err := groups.Get(r.Context(), id)
		if err != nil {
			return err
		}
		body, err := withMembers(r.Context(), users, g)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etag(g))
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}
