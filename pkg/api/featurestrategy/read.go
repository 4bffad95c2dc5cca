package featurestrategy

import (
	"net/http"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// List serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies.
func List(features *feature.Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		_, _, s, err := feature.StateOf(r, features)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, s.Strategies)
	}
}

// Get serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}.
func Get(features *feature.Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, e, s, err := feature.StateOf(r, features)
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
	index, err = indexOf(f, environment, id)
	return id, index, err
}

// indexOf returns the index of a strategy in an environment. Its error is a 404.
func indexOf(f toggle.Feature, environment, id string) (int, error) {
	index := f.Environments[environment].Strategy(id)
	if index < 0 {
		return -1, noStrategy(f.Name, environment, id)
	}
	return index, nil
}

// noStrategy returns the error if a toggle has no strategy with an id in an environment.
func noStrategy(feature, environment, id string) error {
	return apierror.Errorf(apierror.NotFound, "The toggle %q has no strategy with the id %q in the environment %q.",
		apierror.Echo(feature), apierror.Echo(id), apierror.Echo(environment))
}
