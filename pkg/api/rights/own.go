package rights

import (
	"context"
	"net/http"

	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// OwnRoles serves GET /api/admin/user/roles.
func OwnRoles(rights *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		project := query.Text("projectId", maxName)
		if err := query.Err(); err != nil {
			return err
		}
		u, err := rights.users.Get(r.Context(), access.PrincipalFrom(r.Context()).UserID)
		if apierror.KindOf(err) == apierror.NotFound { // the account was deleted after the request was authenticated
			return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
		}
		if err != nil {
			return err
		}
		all, err := rights.own(r.Context(), u, project)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version int           `json:"version"`
			Roles   []projectRole `json:"roles"`
		}{1, all})
	}
}

// own returns the roles of the caller in a project or, without one, the root roles, also those by groups, and the roles
// in all projects.
func (s *Store) own(ctx context.Context, u user.User, projectID string) ([]projectRole, error) {
	all, err := s.roles.List(ctx)
	if err != nil {
		return nil, err
	}
	caller, found := access.PrincipalFrom(ctx), []projectRole{}
	add := func(project string, ids ...access.Role) {
		for _, r := range definitions(all, ids) {
			found = append(found, projectRole{role.NewResponse(r), project})
		}
	}
	if projectID != "" {
		project, err := access.VisibleProject(ctx, projectID)
		if err != nil {
			return nil, err
		}
		add(project.ID, rolesIn(caller, project)...)
		return found, nil
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return nil, err
	}
	root := []access.Role{u.Role}
	for _, g := range directory.MembersGroups(caller.Groups, nil) {
		root = append(root, g.RootRole)
	}
	add("", root...)
	projects, err := access.VisibleProjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		add(project.ID, rolesIn(caller, project)...)
	}
	return found, nil
}
