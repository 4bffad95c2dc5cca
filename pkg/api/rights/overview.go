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

// held is a permission in the overview.
type held struct {
	role.Permission

	Has bool `json:"hasPermission"`
}

// roleWithPermissions is a role in a project, with what it grants there.
type roleWithPermissions struct {
	projectRole

	Permissions []role.Permission `json:"permissions"`
}

// overview is userAccessOverviewSchema in api/openapi.yaml.
type overview struct {
	Overview struct {
		Root        []held `json:"root"`
		Project     []held `json:"project"`
		Environment []held `json:"environment"`
	} `json:"overview"`
	User         user.Response         `json:"user"`
	RootRole     role.Response         `json:"rootRole"`
	ProjectRoles []roleWithPermissions `json:"projectRoles"`
}

// maxName is the maximum number of characters of the name of a project or an environment.
const maxName = 100

// Overview serves GET /api/admin/user-admin/{id}/permissions, and the same path of service accounts. It is for Admins and
// for the account itself.
func Overview(rights *Store, kind user.Kind) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, ok := user.ParseID(r.PathValue("id"))
		caller := access.PrincipalFrom(r.Context())
		if caller.UserID == 0 || caller.UserID != id {
			if err := access.Check(r.Context(), access.Admin); err != nil {
				return err
			}
		}
		query := lambdahttp.NewQuery(r)
		project, environment := query.Text("project", maxName), query.Text("environment", maxName)
		if err := query.Err(); err != nil {
			return err
		}
		if environment != "" && project == "" {
			return apierror.New(apierror.Validation,
				"The `/query/project` property is required with `/query/environment`; you did not send it.")
		}
		if !ok {
			return noAccount(r, kind)
		}
		u, err := rights.users.Find(r.Context(), kind, id)
		if apierror.KindOf(err) == apierror.NotFound {
			return noAccount(r, kind)
		}
		if err != nil {
			return err
		}
		body, err := rights.overview(r.Context(), u, project, environment)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// noAccount returns the 404 for a path parameter id that is not the id of an account of the kind.
func noAccount(r *http.Request, kind user.Kind) error {
	if kind == user.ServiceAccount {
		return user.NoServiceAccount(r)
	}
	return user.NoPerson(r)
}

// overview returns what an account may do. Without a project or an environment, nothing is said about permissions in
// them.
func (s *Store) overview(ctx context.Context, u user.User, projectID, environment string) (overview, error) {
	principal, err := s.principal(ctx, u)
	if err != nil {
		return overview{}, err
	}
	all, err := s.roles.List(ctx)
	if err != nil {
		return overview{}, err
	}
	body := overview{User: user.NewResponse(u), ProjectRoles: []roleWithPermissions{}}
	body.Overview.Root, body.Overview.Project, body.Overview.Environment = []held{}, []held{}, []held{}
	for _, r := range definitions(all, []access.Role{u.Role}) {
		body.RootRole = role.NewResponse(r)
	}
	var project *access.Project
	if projectID != "" {
		if project, err = access.VisibleProject(ctx, projectID); err != nil {
			return overview{}, err
		}
		for _, r := range definitions(all, rolesIn(principal, project)) {
			body.ProjectRoles = append(body.ProjectRoles,
				roleWithPermissions{projectRole{role.NewResponse(r), project.ID}, role.NewPermissions(r)})
		}
	}
	if environment != "" {
		if _, err := s.environments.Get(ctx, environment); err != nil {
			return overview{}, err
		}
	}
	custom := access.NewCustomRoles(all...)
	for _, info := range access.Permissions() {
		has := held{role.NewPermission(info, ""), access.Decide(principal, info.Name, project, environment, custom)}
		if info.Name == access.ApproveChangeRequest {
			has.Has = access.MayApprove(principal, project, environment, custom)
		}
		switch {
		case !info.Decides:
		case info.Type == access.RootPermission:
			body.Overview.Root = append(body.Overview.Root, has)
		case project == nil:
		case info.Type == access.ProjectPermission:
			body.Overview.Project = append(body.Overview.Project, has)
		case environment != "":
			has.Environment = environment
			body.Overview.Environment = append(body.Overview.Environment, has)
		}
	}
	return body, nil
}
