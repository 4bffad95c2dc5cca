package user

import (
	"context"
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// own is meSchema in api/openapi.yaml.
type own struct {
	User        ownUser      `json:"user"`
	Permissions []permission `json:"permissions"`
}

type ownUser struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username,omitempty"`
	Email    string `json:"email,omitempty"`
	RootRole int64  `json:"rootRole"`
	IsAPI    bool   `json:"isAPI"` // always false
}

// permission is userPermissionSchema in api/openapi.yaml.
type permission struct {
	Permission  access.Permission `json:"permission"`
	Project     string            `json:"project,omitempty"`     // *: all that the caller sees; empty: of the type root
	Environment string            `json:"environment,omitempty"` // *: all; empty: not of the type environment
}

const (
	allEnvironments = "*" // of a project
	allProjects     = "*" // that the caller sees and that are not archived
)

// GetOwn serves GET /api/admin/user. The permissions are those with which the request was authorized.
func GetOwn(users *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		principal := access.PrincipalFrom(r.Context())
		u, err := users.Get(r.Context(), principal.UserID)
		if apierror.KindOf(err) == apierror.NotFound { // the account was deleted after the request was authenticated
			return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
		}
		if err != nil {
			return err
		}
		body := own{
			User:        ownUser{ID: u.ID, Name: u.Name, Username: u.Username, Email: u.Email, RootRole: int64(u.Role)},
			Permissions: make([]permission, len(principal.Permissions)),
		}
		for i, p := range principal.Permissions {
			body.Permissions[i] = permission{Permission: p}
		}
		if !principal.Has(access.Admin) { // which includes all others
			inProjects, err := permissionsInProjects(r.Context())
			if err != nil {
				return err
			}
			body.Permissions = append(body.Permissions, inProjects...)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// permissionsInProjects returns the caller's permissions in projects that are not archived. One that the caller has in all of
// them is listed once: otherwise an Editor of 500 open projects would get 7,000 elements.
func permissionsInProjects(ctx context.Context) ([]permission, error) {
	held, err := access.HeldInProjects(ctx)
	if err != nil {
		return nil, err
	}
	projects := map[access.RolePermission]int{} // the number of projects in which the caller has a permission
	for _, project := range held {
		for _, p := range project.Permissions {
			projects[p]++
		}
	}
	everywhere := func(p access.RolePermission) bool { return len(held) > 1 && projects[p] == len(held) }
	var common, others []permission
	for i, project := range held {
		for _, p := range project.Permissions {
			shown := permission{p.Permission, project.Project.ID, p.Environment}
			if info, _ := access.FindPermission(p.Permission); info.Type == access.EnvironmentPermission && p.Environment == "" {
				shown.Environment = allEnvironments
			}
			switch {
			case !everywhere(p):
				others = append(others, shown)
			case i == 0:
				shown.Project = allProjects
				common = append(common, shown)
			}
		}
	}
	return append(common, others...), nil
}
