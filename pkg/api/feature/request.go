package feature

import (
	"net/http"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// ProjectOf returns the project of a request, which the requirement of the operation has found.
func ProjectOf(r *http.Request) string { return r.PathValue("projectId") }

// PathOf returns the project and the name of the toggle of a request, or a 404.
func PathOf(r *http.Request) (project, name string, err error) {
	project = ProjectOf(r)
	if name, err = lambdahttp.PathParam(r, "featureName"); err != nil {
		return "", "", NotFound(project, name)
	}
	return project, name, nil
}

// NameOf returns the name of the toggle of a request without a project, or a 404.
func NameOf(r *http.Request) (string, error) {
	name, err := lambdahttp.PathParam(r, "featureName")
	if err != nil {
		return "", NotFound("", name)
	}
	return name, nil
}

// NotFound returns the error if there is no toggle with the name in the project, or in any project if it is empty.
func NotFound(project, name string) error {
	if project == "" {
		return apierror.Errorf(apierror.NotFound, "There is no toggle with the name %q.", apierror.Echo(name))
	}
	return apierror.Errorf(apierror.NotFound, "There is no toggle with the name %q in the project %q.",
		apierror.Echo(name), project)
}

// ETag returns the entity tag of a toggle. It changes with everything that update-feature can overwrite.
func ETag(f toggle.Feature) string {
	return lambdahttp.ETag([]any{f.Type, f.Description, f.ImpressionData, f.Stale, f.Owner, f.Keep})
}

// EnvironmentOf reads the environment of a request. Its error is a 404 if there is none, or if the project of the request
// does not have it.
func EnvironmentOf(r *http.Request, features *Reader) (environment.Environment, error) {
	_, e, err := features.environments.InProject(r)
	return e, err
}

// Requested reads the toggle of a request. The kind of its error is NotFound if the project of the request has no such
// toggle.
func Requested(r *http.Request, features *Reader) (toggle.Feature, error) {
	project, name, err := PathOf(r)
	if err != nil {
		return toggle.Feature{}, err
	}
	return features.InProject(project).Get(r.Context(), name)
}

// StateOf reads the toggle and the environment of a request, and returns the state of the toggle in the environment.
func StateOf(r *http.Request, features *Reader) (
	f toggle.Feature, e environment.Environment, s toggle.Environment, err error,
) {
	if f, err = Requested(r, features); err != nil {
		return f, e, s, err
	}
	if e, err = EnvironmentOf(r, features); err != nil {
		return f, e, s, err
	}
	s = f.Environments[e.Name]
	if s.Strategies == nil {
		s.Strategies = []toggle.Strategy{}
	}
	return f, e, s, nil
}

// StateTag returns the entity tag of the state of a toggle in an environment: its switch and its strategies.
func StateTag(e toggle.Environment) string {
	return lambdahttp.ETag([]any{e.Enabled, append([]toggle.Strategy{}, e.Strategies...)})
}

// ChangeState changes the state of the toggle of a request in the environment of the request.
func ChangeState(
	r *http.Request, features *Store, change func(f toggle.Feature, environment string) (toggle.Feature, error),
) error {
	project, name, err := PathOf(r)
	if err != nil {
		return err
	}
	environment, err := EnvironmentOf(r, features.Reader)
	if err != nil {
		return err
	}
	_, err = features.InProject(project).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
		return change(f, environment.Name)
	})
	return err
}
