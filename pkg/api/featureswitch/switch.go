// Package featureswitch turns toggles on and off in an environment, one or several at a time.
package featureswitch

import (
	"net/http"
	"slices"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Get serves GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}.
func Get(features *feature.Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, e, s, err := feature.StateOf(r, features)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", feature.StateTag(s))
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Name        string            `json:"name"`
			Environment string            `json:"environment"`
			Enabled     bool              `json:"enabled"`
			Type        string            `json:"type"`
			Strategies  []toggle.Strategy `json:"strategies"`
		}{f.Name, e.Name, s.Enabled, e.Type, s.Strategies})
	}
}

// TurnOn serves POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on. newID
// returns the id of a new strategy.
func TurnOn(features *feature.Store, newID func() string) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		activate := activates(q)
		if err := q.Err(); err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return feature.ChangeState(r, features, func(f toggle.Feature, environment string) (toggle.Feature, error) {
			if err := preconditions.Check(feature.StateTag(f.Environments[environment])); err != nil {
				return f, err
			}
			return On(f, environment, activate, newID)
		})
	}
}

// activates returns the parameter that says whether disabled strategies are enabled instead of creating one.
func activates(q *lambdahttp.Query) bool {
	return q.OneOf("shouldActivateDisabledStrategies", "false", "true") == "true"
}

// TurnOff serves POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off.
func TurnOff(features *feature.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return feature.ChangeState(r, features, func(f toggle.Feature, environment string) (toggle.Feature, error) {
			if err := preconditions.Check(feature.StateTag(f.Environments[environment])); err != nil {
				return f, err
			}
			return Off(f, environment), nil
		})
	}
}

// On returns a toggle as it is after it has been turned on in an environment. If no strategy is enabled there, it enables
// the disabled ones if activate is true, and otherwise adds a strategy that holds for everybody. The kind of its error is
// Conflict if the toggle is archived.
func On(f toggle.Feature, environment string, activate bool, newID func() string) (toggle.Feature, error) {
	if f.Archived {
		return f, apierror.Errorf(apierror.Conflict, "The toggle %q is archived. Revive it before you turn it on.",
			apierror.Echo(f.Name))
	}
	e := f.Environments[environment]
	if e.Enabled {
		return f, nil
	}
	e.Enabled = true
	e.Strategies = slices.Clone(e.Strategies)
	switch {
	case e.HasEnabledStrategies():
	case activate && len(e.Strategies) > 0:
		for i := range e.Strategies {
			e.Strategies[i].Disabled = false
		}
	default:
		if err := featurestrategy.Add(&e, toggle.Strategy{
			ID:         newID(),
			Name:       toggle.StrategyFlexibleRollout,
			SortOrder:  featurestrategy.NextSortOrder(e),
			Parameters: toggle.DefaultParameters(toggle.StrategyFlexibleRollout, f.Name),
		}); err != nil {
			return f, err
		}
	}
	f.SetEnvironment(environment, e)
	return f, nil
}

// Off returns a toggle as it is after it has been turned off in an environment.
func Off(f toggle.Feature, environment string) toggle.Feature {
	e := f.Environments[environment]
	e.Enabled = false
	f.SetEnvironment(environment, e)
	return f
}
