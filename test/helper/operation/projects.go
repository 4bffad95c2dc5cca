package operation

import (
	"context"

	"toggleadmin/pkg/platform/access"
)

// withAccess returns a context with the principal and the projects of a request, as access.Require passes them to a
// handler. Without a principal in the context, the caller has the permission ADMIN.
func (s Set) withAccess(ctx context.Context) context.Context {
	projects := s.Projects
	if projects == nil {
		projects = everyProject{}
	}
	if access.PrincipalFrom(ctx).ID == "" {
		ctx = access.WithPrincipal(ctx, access.Principal{Permissions: []access.Permission{access.Admin}})
	}
	return access.WithProjects(ctx, projects)
}

// Viewer returns a context of a request by a user with the root role Viewer and without roles in projects.
func Viewer(ctx context.Context) context.Context {
	return access.WithPrincipal(ctx, access.UserPrincipal(9, access.RoleViewer))
}

// everyProject is a reader for which every project exists and is open.
type everyProject struct{ access.Reader }

// Project implements access.Reader.
func (everyProject) Project(_ context.Context, id string) (*access.Project, error) {
	return new(access.NewProject(id, id)), nil
}

// Projects implements access.Reader. It returns the default project alone.
func (everyProject) Projects(context.Context) ([]*access.Project, error) {
	return []*access.Project{new(access.ImplicitDefaultProject())}, nil
}
