package environment

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// InProject returns the project and the environment of the path of a request. The kind of its error is NotFound if the
// caller does not see the project, if there is no environment, or if the project does not have it.
func (s *Store) InProject(r *http.Request) (*access.Project, Environment, error) {
	p, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
	if err != nil {
		return nil, Environment{}, err
	}
	name, err := lambdahttp.PathParam(r, "environment")
	if err != nil {
		return nil, Environment{}, NotFound(name)
	}
	e, err := s.Get(r.Context(), name)
	if err != nil {
		return nil, Environment{}, err
	}
	return p, e, CheckProject(p, name)
}

// CheckProject returns an error of the kind NotFound if a project does not have an environment that exists.
func CheckProject(p *access.Project, name string) error {
	if p.HasEnvironment(name) {
		return nil
	}
	return apierror.Errorf(apierror.NotFound, "The project %q has no environment with the name %q.", p.ID,
		apierror.Echo(name))
}
