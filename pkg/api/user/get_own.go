package user

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

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

	AccountType string `json:"accountType"`
}

// permission is userPermissionSchema in api/openapi.yaml.
type permission struct {
	Permission  access.Permission `json:"permission"`
	Project     string            `json:"project,omitempty"`     // *: all without an element noBase; empty: of the type root
	Environment string            `json:"environment,omitempty"` // *: all; empty: not of the type environment
}

const (
	allEnvironments = "*" // of a project
	allProjects     = "*" // that the caller sees, unless they have the permission noBase

	// noBase is in place of a permission: those with the project * do not count in the project.
	noBase = access.Permission("NONE")
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
			User: ownUser{
				ID: u.ID, Name: u.Name, Username: u.Username, Email: u.Email, RootRole: int64(u.Role), AccountType: u.accountType(),
			},
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

// permissionsInProjects returns the caller's permissions in projects: those of the base with the project *, and how each
// project differs from it. Otherwise an Editor of 500 projects would get 7,000 elements.
func permissionsInProjects(ctx context.Context) (list []permission, err error) {
	held, err := access.HeldInProjects(ctx)
	if err != nil {
		return nil, err
	}
	common := base(held)
	for _, p := range common {
		list = append(list, shown(p, allProjects))
	}
	for _, project := range held {
		id, permissions := project.Project.ID, project.Permissions
		if includes(permissions, common) {
			permissions = without(permissions, common)
		} else {
			list = append(list, permission{Permission: noBase, Project: id})
		}
		for _, p := range permissions {
			list = append(list, shown(p, id))
		}
	}
	return list, nil
}

func shown(p access.RolePermission, project string) permission {
	shown := permission{p.Permission, project, p.Environment}
	if info, _ := access.FindPermission(p.Permission); info.Type == access.EnvironmentPermission && p.Environment == "" {
		shown.Environment = allEnvironments
	}
	return shown
}

// base returns what the caller may do in several projects, if it makes the list of permissions shorter: the choice that
// makes it the shortest.
func base(held []access.HeldInProject) (base []access.RolePermission) {
	projects := map[string]int{} // their number, by what the caller may do in them
	sets := map[string][]access.RolePermission{}
	shortest := 0
	for _, project := range held {
		set := fmt.Sprint(project.Permissions)
		projects[set]++
		sets[set] = project.Permissions
		shortest += len(project.Permissions)
	}
	for _, candidate := range slices.Sorted(maps.Keys(sets)) {
		if projects[candidate] == 1 {
			continue
		}
		common := sets[candidate]
		length := len(common)
		for set, number := range projects {
			if permissions := sets[set]; includes(permissions, common) {
				length += number * (len(permissions) - len(common))
			} else {
				length += number * (1 + len(permissions))
			}
		}
		if length < shortest {
			base, shortest = common, length
		}
	}
	return base
}

// includes reports whether all contains each of some.
func includes(all, some []access.RolePermission) bool { return len(without(some, all)) == 0 }

// without returns the elements of all that are not in others.
func without(all, others []access.RolePermission) []access.RolePermission {
	return slices.DeleteFunc(slices.Clone(all), func(p access.RolePermission) bool { return slices.Contains(others, p) })
}
