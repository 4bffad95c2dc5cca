package role

import (
	"net/http"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// List serves GET /api/admin/roles.
func List(roles *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := roles.List(r.Context())
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version int        `json:"version"`
			Roles   []Response `json:"roles"`
		}{1, NewResponses(all)})
	}
}

// Get serves GET /api/admin/roles/{roleId}.
func Get(roles *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		found, err := roles.Get(r.Context(), id)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etag(found))
		return lambdahttp.WriteJSON(w, http.StatusOK, newWithPermissions(found))
	}
}

// environmentPermissions are the permissions of the type environment, for one environment.
type environmentPermissions struct {
	Name        string       `json:"name"`
	Permissions []Permission `json:"permissions"`
}

// Permissions serves GET /api/admin/permissions. It lists the permissions that custom roles can have and operations
// require.
func Permissions(environments *environment.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := environments.List(r.Context())
		if err != nil {
			return err
		}
		root, project, perEnvironment := []Permission{}, []Permission{}, make([]environmentPermissions, len(all))
		for i, e := range all {
			perEnvironment[i] = environmentPermissions{e.Name, []Permission{}}
		}
		for _, info := range access.Permissions() {
			switch {
			case !info.Decides || info.Name == access.Admin:
			case info.Type == access.RootPermission:
				root = append(root, NewPermission(info, ""))
			case info.Type == access.ProjectPermission:
				project = append(project, NewPermission(info, ""))
			default:
				for i := range perEnvironment {
					in := &perEnvironment[i]
					in.Permissions = append(in.Permissions, NewPermission(info, in.Name))
				}
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, map[string]any{
			"version": 1,
			"permissions": map[string]any{
				"root":         root,
				"project":      project,
				"environments": perEnvironment,
			},
		})
	}
}
