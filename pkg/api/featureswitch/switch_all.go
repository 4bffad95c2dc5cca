package featureswitch

import (
	_ "embed"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed switch-all.schema.json
var switchAllSchema []byte

// TurnOnAll serves POST /api/admin/projects/{projectId}/bulk_features/environments/{environment}/on. newID returns the
// id of a new strategy.
func TurnOnAll(features *feature.Store, newID func() string) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(switchAllSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		q := lambdahttp.NewQuery(r)
		activate := activates(q)
		if err := q.Err(); err != nil {
			return err
		}
		return switchAll(r, features, body.Texts("features"), func(f toggle.Feature, environment string) (toggle.Feature, error) {
			return On(f, environment, activate, newID)
		})
	}
}

// TurnOffAll serves POST /api/admin/projects/{projectId}/bulk_features/environments/{environment}/off.
func TurnOffAll(features *feature.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(switchAllSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		return switchAll(r, features, body.Texts("features"), func(f toggle.Feature, environment string) (toggle.Feature, error) {
			return Off(f, environment), nil
		})
	}
}

// switchAll changes the state of toggles of the project of a request in the environment of the request: all of them, or
// none.
func switchAll(
	r *http.Request, features *feature.Store, names []string,
	change func(f toggle.Feature, environment string) (toggle.Feature, error),
) error {
	environment, err := feature.EnvironmentOf(r, features.Reader)
	if err != nil {
		return err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	preconditions, err := lambdahttp.PreconditionsOf(r)
	if err != nil {
		return err
	}
	failed := preconditions.Check(lambdahttp.NoETag)
	inProject := features.InProject(feature.ProjectOf(r))
	_, err = inProject.UpdateAll(r.Context(), names, func(f toggle.Feature) (toggle.Feature, error) {
		if failed != nil {
			return f, failed
		}
		return change(f, environment.Name)
	})
	return err // nil: 200 without a body
}
