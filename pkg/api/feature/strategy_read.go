package feature

import (
	"net/http"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// environmentOf reads the environment of a request. Its error is a 404 if there is none.
func environmentOf(r *http.Request, features *Reader) (environment.Environment, error) {
	name, err := lambdahttp.PathParam(r, "environment")
	if err != nil {
		return environment.Environment{}, environment.NotFound(name)
	}
	return features.environments.Get(r.Context(), name)
}

// state reads the toggle and the environment of a request, and returns the state of the toggle in the environment.
func state(r *http.Request, features *Reader) (
	f toggle.Feature, e environment.Environment, s toggle.Environment, err error,
) {
	project, name, err := path(r)
	if err != nil {
		return f, e, s, err
	}
	if f, err = features.InProject(project).Get(r.Context(), name); err != nil {
		return f, e, s, err
	}
	if e, err = environmentOf(r, features); err != nil {
		return f, e, s, err
	}
	s = f.Environments[e.Name]
	if s.Strategies == nil {
		s.Strategies = []toggle.Strategy{}
	}
	return f, e, s, nil
}

// environmentTag returns the entity tag of the state of a toggle in an environment: its switch and its strategies.
func environmentTag(e toggle.Environment) string {
	return lambdahttp.ETag([]any{e.Enabled, append([]toggle.Strategy{}, e.Strategies...)})
}

// GetEnvironment serves GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}.
func GetEnvironment(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, e, s, err := state(r, features)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", environmentTag(s))
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Name        string            `json:"name"`
			Environment string            `json:"environment"`
			Enabled     bool              `json:"enabled"`
			Type        string            `json:"type"`
			Strategies  []toggle.Strategy `json:"strategies"`
		}{f.Name, e.Name, s.Enabled, e.Type, s.Strategies})
	}
}

// ListStrategies serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies.
func ListStrategies(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		_, _, s, err := state(r, features)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, s.Strategies)
	}
}

// GetStrategy serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}.
func GetStrategy(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, e, s, err := state(r, features)
		if err != nil {
			return err
		}
		_, i, err := strategyOf(r, f, e.Name)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", lambdahttp.ETag(s.Strategies[i]))
		return lambdahttp.WriteJSON(w, http.StatusOK, s.Strategies[i])
	}
}

// strategyOf returns the id of the strategy of a request, and its index in the environment. Its error is a 404.
func strategyOf(r *http.Request, f toggle.Feature, environment string) (id string, index int, err error) {
	id, err = lambdahttp.PathParam(r, "strategyId")
	if err != nil {
		return id, -1, noStrategy(f.Name, environment, id)
	}
	index = f.Environments[environment].Strategy(id)
	if index < 0 {
		return id, -1, noStrategy(f.Name, environment, id)
	}
	return id, index, nil
}

// noStrategy returns the error if a toggle has no strategy with an id in an environment.
func noStrategy(feature, environment, id string) error {
	return apierror.Errorf(apierror.NotFound, "The toggle %q has no strategy with the id %q in the environment %q.",
		apierror.Echo(feature), apierror.Echo(id), apierror.Echo(environment))
}
