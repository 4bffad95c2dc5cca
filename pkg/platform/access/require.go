package access

import (
	"context"
	"net/http"
	"slices"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
)

// Requirement is what an operation requires of the caller of a request, whose context contains the principal and the
// projects. It returns the error for the client, or nil.
type Requirement func(*http.Request) error

// Has requires a permission of the type root.
func Has(permission Permission) Requirement {
	return func(r *http.Request) error { return Check(r.Context(), permission) }
}

// IsAnyone requires a valid credential.
func IsAnyone(*http.Request) error { return nil }

// IsUser requires a credential that identifies a user.
func IsUser(r *http.Request) error {
	if PrincipalFrom(r.Context()).UserID == 0 {
		return apierror.New(apierror.NoAccess, "You need a token that identifies a user to perform this operation.")
	}
	return nil
}

// IsUserOr401 is IsUser for an operation for which api/openapi.yaml declares no 403.
func IsUserOr401(r *http.Request) error {
	if PrincipalFrom(r.Context()).UserID == 0 {
		return apierror.New(apierror.AuthenticationRequired, "This operation requires a token that identifies a user.")
	}
	return nil
}

// SeesProject requires that the project of the path exists and is visible.
func SeesProject(r *http.Request) error {
	_, err := VisibleProject(r.Context(), pathValue(r, "projectId"))
	return err
}

// IsUserInProject requires a credential that identifies a user, and that the project of the path exists and is visible.
func IsUserInProject(r *http.Request) error {
	if err := IsUser(r); err != nil {
		return err
	}
	return SeesProject(r)
}

// InProject requires a permission in the project of the path. A project that does not exist or is not visible is a 404.
func InProject(permission Permission) Requirement {
	return func(r *http.Request) error {
		return CheckProject(r.Context(), pathValue(r, "projectId"), permission)
	}
}

// InEnvironment requires a permission in the project and the environment of the path, as InProject does.
func InEnvironment(permission Permission) Requirement {
	return func(r *http.Request) error {
		return CheckEnvironment(r.Context(), pathValue(r, "projectId"), pathValue(r, "environment"), permission)
	}
}

// pathValue returns a path parameter, or the text that the client sent if it is invalid.
func pathValue(r *http.Request, name string) string {
	if value := r.PathValue(name); value != "" {
		return value
	}
	return apigateway.RequestFrom(r.Context()).PathParameters[name]
}

// Check returns nil if the caller has a permission of the type root. The kind of its error is NoAccess.
func Check(ctx context.Context, permission Permission) error {
	if PrincipalFrom(ctx).Has(permission) {
		return nil
	}
	return apierror.Errorf(apierror.NoAccess, "You need the %q permission to perform this operation.", permission)
}

// CheckProject returns nil if the caller has a permission in a project. The kind of its error is NotFound, as that of
// VisibleProject, or NoAccess.
func CheckProject(ctx context.Context, id string, permission Permission) error {
	may, err := MayInProject(ctx, id, permission)
	if err != nil || may {
		return err
	}
	return apierror.Errorf(apierror.NoAccess, "You need the %q permission in the project %q to perform this operation.",
		permission, id)
}

// CheckEnvironment is CheckProject for a permission of the type environment.
func CheckEnvironment(ctx context.Context, project, environment string, permission Permission) error {
	may, err := mayIn(ctx, project, environment, permission)
	if err != nil || may {
		return err
	}
	return apierror.Errorf(apierror.NoAccess,
		"You need the %q permission in the environment %q of the project %q to perform this operation.", permission,
		apierror.Echo(environment), project)
}

// MayInProject reports whether the caller has a permission in a project. The kind of its error is NotFound, as that of
// VisibleProject.
func MayInProject(ctx context.Context, id string, permission Permission) (bool, error) {
	return mayIn(ctx, id, "", permission)
}

func mayIn(ctx context.Context, id, environment string, permission Permission) (bool, error) {
	project, err := VisibleProject(ctx, id)
	if err != nil {
		return false, err
	}
	return May(ctx, project, environment, permission)
}

// May reports whether the caller has a permission in a project that was read. Nobody but Admins has one in a project that
// does not exist, which is nil.
func May(ctx context.Context, project *Project, environment string, permission Permission) (bool, error) {
	p := PrincipalFrom(ctx)
	if project == nil || p.Has(Admin) {
		return Decide(p, permission, project, environment, nil), nil
	}
	custom, err := projectsFrom(ctx).CustomRoles(ctx, project.CustomRolesOf(p))
	if err != nil {
		return false, err
	}
	return Decide(p, permission, project, environment, custom), nil
}

// VisibleProject returns a project that the caller sees. The kind of its error is NotFound if there is none with the id.
func VisibleProject(ctx context.Context, id string) (*Project, error) {
	project, err := projectsFrom(ctx).Project(ctx, id)
	if err != nil {
		return nil, err
	}
	if project == nil || !project.IsVisible(PrincipalFrom(ctx)) {
		return nil, ProjectNotFound(id)
	}
	return project, nil
}

// Sees reports whether the caller sees what belongs to a project. It reads the project, unless the caller sees all.
func Sees(ctx context.Context, id string) (bool, error) {
	if PrincipalFrom(ctx).Has(Admin) {
		return true, nil
	}
	_, err := VisibleProject(ctx, id)
	if apierror.KindOf(err) == apierror.NotFound {
		return false, nil
	}
	return err == nil, err
}

// SeesAll reports whether the caller sees all projects that exist.
func SeesAll(ctx context.Context) (bool, error) {
	p := PrincipalFrom(ctx)
	if p.Has(Admin) {
		return true, nil
	}
	all, err := projectsFrom(ctx).Projects(ctx)
	return !slices.ContainsFunc(all, func(project *Project) bool { return !project.IsVisible(p) }), err
}

// AsOperator returns a copy of ctx in which all projects are visible. It is for what has access to the tables.
func AsOperator(ctx context.Context) context.Context {
	return WithPrincipal(ctx, Principal{Permissions: []Permission{Admin}})
}

// ProjectNotFound returns the error if there is no project with an id, or the caller does not see it.
func ProjectNotFound(id string) error {
	return apierror.Errorf(apierror.NotFound, "There is no project with the id %q.", apierror.Echo(id))
}

// Visibility returns a function that reports whether the caller sees a project. It reads all projects, unless the caller
// sees all of them.
func Visibility(ctx context.Context) (func(project string) bool, error) {
	if PrincipalFrom(ctx).Has(Admin) {
		return func(string) bool { return true }, nil
	}
	all, err := VisibleProjects(ctx)
	if err != nil {
		return nil, err
	}
	visible := make(map[string]bool, len(all))
	for _, project := range all {
		visible[project.ID] = true
	}
	return func(project string) bool { return visible[project] }, nil
}

// VisibleProjects returns all projects that the caller sees, ordered by id.
func VisibleProjects(ctx context.Context) ([]*Project, error) {
	all, err := projectsFrom(ctx).Projects(ctx)
	if err != nil {
		return nil, err
	}
	p := PrincipalFrom(ctx)
	return slices.DeleteFunc(all, func(project *Project) bool { return !project.IsVisible(p) }), nil
}

// HeldInProject is what a principal may do in a project.
type HeldInProject struct {
	Project     *Project
	Permissions []RolePermission // as Held returns them
}

// HeldInProjects returns what the caller may do in each project that the caller sees, with archived ones, ordered by the id
// of the project.
func HeldInProjects(ctx context.Context) ([]HeldInProject, error) {
	projects, err := VisibleProjects(ctx)
	if err != nil {
		return nil, err
	}
	p := PrincipalFrom(ctx)
	var roles []Role
	for _, project := range projects {
		roles = append(roles, project.CustomRolesOf(p)...)
	}
	slices.Sort(roles)
	custom, err := projectsFrom(ctx).CustomRoles(ctx, slices.Compact(roles))
	if err != nil {
		return nil, err
	}
	var all []HeldInProject
	for _, project := range projects {
		all = append(all, HeldInProject{project, Held(p, project, custom)})
	}
	return all, nil
}

// Reader reads projects and roles, consistently.
type Reader interface {
	// Project returns nil if there is no project with the id.
	Project(ctx context.Context, id string) (*Project, error)
	// Projects returns all projects, ordered by id.
	Projects(ctx context.Context) ([]*Project, error)
	// CustomRoles returns the custom roles with the ids that exist.
	CustomRoles(ctx context.Context, ids []Role) (CustomRoles, error)
}

type projectsKey struct{}

// WithProjects returns a copy of ctx in which requirements and handlers find the projects. A project is read once.
func WithProjects(ctx context.Context, projects Reader) context.Context {
	return context.WithValue(ctx, projectsKey{}, &requestReader{Reader: projects, read: map[string]*Project{}})
}

func projectsFrom(ctx context.Context) Reader {
	if projects, ok := ctx.Value(projectsKey{}).(*requestReader); ok {
		return projects
	}
	return noReader{}
}

// Handler is lambdahttp.HandlerFunc, whose package this package does not import.
type Handler = func(http.ResponseWriter, *http.Request) error

// Require calls next if the principal of the request meets a requirement. A request without an authorizer's context has
// no valid credential.
func Require(requirement Requirement, projects Reader, next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, ok := parsePrincipal(apigateway.RequestFrom(r.Context()).Authorizer)
		if !ok {
			return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
		}
		r = r.WithContext(WithProjects(WithPrincipal(r.Context(), p), projects))
		if err := requirement(r); err != nil {
			return err
		}
		return next(w, r)
	}
}
