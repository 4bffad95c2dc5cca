package role

import (
	"net/http"
	"slices"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// maxFilter is the maximum number of characters of the names of a permission and an environment.
const maxFilter = 100

// List serves GET /api/admin/roles: all roles or, with permission, those that have it, with environment also there.
func List(roles *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		permission, environment := access.Permission(query.Text("permission", maxFilter)), query.Text("environment", maxFilter)
		if _, ok := access.FindPermission(permission); !ok && query.Has("permission") {
			query.Reject("permission", "must be the name of a permission")
		}
		if err := query.Err(); err != nil {
			return err
		}
		if environment != "" && permission == "" {
			return apierror.New(apierror.Validation,
				"The `/query/permission` property is required with `/query/environment`; you did not send it.")
		}
		all, err := roles.List(r.Context())
		if err != nil {
			return err
		}
		if permission != "" {
			all = slices.DeleteFunc(all, func(r access.RoleDefinition) bool { return !r.Grants(permission, environment) })
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
