package feature

import (
	"net/http"
	"slices"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// TurnOn serves POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on. newID
// returns the id of a new strategy.
func TurnOn(features *Store, newID func() string) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		activate := activates(q)
		if err := q.Err(); err != nil {
			return err
		}
		preconditions := lambdahttp.PreconditionsOf(r)
		return changeEnvironment(r, features, func(f *toggle.Feature, environment string) error {
			if err := preconditions.Check(environmentTag(f.Environments[environment])); err != nil {
				return err
			}
			return turnOn(f, environment, activate, newID)
		})
	}
}

// Switch returns a toggle as it is after it has been turned on or off in an environment, as TurnOn and TurnOff do. The
// kind of its error is Conflict if the toggle is archived and must be turned on.
func Switch(f toggle.Feature, environment string, on bool, newID func() string) (toggle.Feature, error) {
	if !on {
		turnOff(&f, environment)
		return f, nil
	}
	err := turnOn(&f, environment, false, newID)
	return f, err
}

// activates returns the parameter that says whether disabled strategies are enabled instead of creating one.
func activates(q *lambdahttp.Query) bool {
	return q.OneOf("shouldActivateDisabledStrategies", "false", "true") == "true"
}

// TurnOff serves POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off.
func TurnOff(features *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		preconditions := lambdahttp.PreconditionsOf(r)
		return changeEnvironment(r, features, func(f *toggle.Feature, environment string) error {
			if err := preconditions.Check(environmentTag(f.Environments[environment])); err != nil {
				return err
			}
			turnOff(f, environment)
			return nil
		})
	}
}

// turnOn turns a toggle on in an environment. If no strategy is enabled there, it enables the disabled ones if activate
// is true, and otherwise adds a strategy that holds for everybody.
func turnOn(f *toggle.Feature, environment string, activate bool, newID func() string) error {
	if f.Archived {
		return apierror.Errorf(apierror.Conflict, "The toggle %q is archived. Revive it before you turn it on.",
			apierror.Echo(f.Name))
	}
	e := f.Environments[environment]
	if e.Enabled {
		return nil
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
		if err := addStrategy(&e, toggle.Strategy{
			ID:         newID(),
			Name:       toggle.StrategyFlexibleRollout,
			SortOrder:  nextSortOrder(e),
			Parameters: toggle.DefaultParameters(toggle.StrategyFlexibleRollout, f.Name),
		}); err != nil {
			return err
		}
	}
	f.SetEnvironment(environment, e)
	return nil
}

func turnOff(f *toggle.Feature, environment string) {
	e := f.Environments[environment]
	e.Enabled = false
	f.SetEnvironment(environment, e)
}

// addStrategy adds a strategy to an environment, or returns a 400 if there are too many.
func addStrategy(e *toggle.Environment, s toggle.Strategy) error {
	if len(e.Strategies) >= toggle.MaxStrategies {
		return apierror.Errorf(apierror.Validation,
			"Failed to create strategy. You can't create more than the established limit of %d. "+
				"Delete a strategy first.", toggle.MaxStrategies)
	}
	e.Strategies = append(slices.Clone(e.Strategies), s)
	return nil
}

// nextSortOrder returns the highest sort order of the strategies of an environment plus 1; 0: there are none.
func nextSortOrder(e toggle.Environment) int32 {
	if len(e.Strategies) == 0 {
		return 0
	}
	highest := int64(e.Strategies[len(e.Strategies)-1].SortOrder)
	return int32(min(highest+1, maxSortOrder)) //nolint:gosec // it is at most maxSortOrder
}

// changeEnvironment changes the state of the toggle of a request in the environment of the request.
func changeEnvironment(
	r *http.Request, features *Store, change func(f *toggle.Feature, environment string) error,
) error {
	project, name, err := path(r)
	if err != nil {
		return err
	}
	environment, err := environmentOf(r, features.Reader)
	if err != nil {
		return err
	}
	_, err = features.InProject(project).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
		err := change(&f, environment.Name)
		return f, err
	})
	return err
}
