// Package featurestrategy serves the operations on the strategies of a toggle in an environment.
package featurestrategy

import (
	"math"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

const maxSortOrder = math.MaxInt32

// maxBody is the size limit of the body of a change of a strategy, in bytes: one that fills the state, with
// white space.
const maxBody = 400_000

// Create serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies. newID returns the id of
// a new strategy.
func Create(features *feature.Store, newID func() string) lambdahttp.HandlerFunc {
	schema := CreateSchema()
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		id := newID()
		return writeStrategy(w, r, features, func(f toggle.Feature, environment string) (toggle.Feature, string, error) {
			f, err := Added(f, environment, id, body)
			return f, id, err
		})
	}
}

// CreateSchema returns the schema of the body of Create.
func CreateSchema() *jsonbody.Schema { return jsonbody.MustCompile(createSchema) }

// CreateSchemaText returns the JSON text of CreateSchema.
func CreateSchemaText() []byte { return slices.Clone(createSchema) }

// UpdateSchema returns the schema of the body of Update.
func UpdateSchema() *jsonbody.Schema { return jsonbody.MustCompile(updateSchema) }

// Added returns a toggle with another strategy in an environment, which has an id and the properties of a body of Create.
// The kind of its error is Validation.
func Added(f toggle.Feature, environment, id string, body jsonbody.Object) (toggle.Feature, error) {
	e := f.Environments[environment]
	s, err := readStrategy(body, toggle.Strategy{ID: id, SortOrder: NextSortOrder(e)}, f.Name)
	if err != nil {
		return f, err
	}
	if err := Add(&e, s); err != nil {
		return f, err
	}
	f.SetEnvironment(environment, e)
	return f, nil
}

// Updated returns a toggle with the properties of a body of Update in a strategy. The kind of its error is NotFound if
// there is no such strategy, and Validation.
func Updated(f toggle.Feature, environment, id string, body jsonbody.Object) (toggle.Feature, error) {
	i, err := indexOf(f, environment, id)
	if err != nil {
		return f, err
	}
	e := f.Environments[environment]
	next, err := readStrategy(body, e.Strategies[i], f.Name)
	if err != nil {
		return f, err
	}
	e.Strategies = slices.Clone(e.Strategies)
	e.Strategies[i] = next
	e.Enabled = e.Enabled && e.HasEnabledStrategies()
	f.SetEnvironment(environment, e)
	return f, nil
}

// Deleted returns a toggle without a strategy. The kind of its error is NotFound if there is no such strategy.
func Deleted(f toggle.Feature, environment, id string) (toggle.Feature, error) {
	i, err := indexOf(f, environment, id)
	if err != nil {
		return f, err
	}
	e := f.Environments[environment]
	e.Strategies = slices.Delete(slices.Clone(e.Strategies), i, i+1)
	e.Enabled = e.Enabled && e.HasEnabledStrategies()
	f.SetEnvironment(environment, e)
	return f, nil
}

// Update serves PUT
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}. With
// `If-None-Match: *` it restores a deleted strategy, with its id.
func Update(features *feature.Store) lambdahttp.HandlerFunc {
	schema := UpdateSchema()
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return writeStrategy(w, r, features, func(f toggle.Feature, environment string) (toggle.Feature, string, error) {
			id, i, err := strategyOf(r, f, environment)
			if apierror.KindOf(err) == apierror.NotFound && preconditions.Creates() {
				f, err = restored(r, f, environment, id, body)
				return f, id, err
			}
			if err != nil {
				return f, "", err
			}
			if err := preconditions.Check(lambdahttp.ETag(f.Environments[environment].Strategies[i])); err != nil {
				return f, "", err
			}
			f, err = Updated(f, environment, id, body)
			return f, id, err
		})
	}
}

// restored returns a toggle with a strategy that has the id of one that was deleted.
func restored(
	r *http.Request, f toggle.Feature, environment, id string, body jsonbody.Object,
) (toggle.Feature, error) {
	if err := access.CheckEnvironment(r.Context(), f.Project, environment, access.CreateStrategy); err != nil {
		return f, err
	}
	if !toggle.IsNewStrategyID(id) {
		return f, apierror.Invalid(apierror.At("/params/strategyId", "must be the id of a deleted strategy").Sent(id))
	}
	for name, e := range f.Environments {
		if e.Strategy(id) >= 0 {
			return f, apierror.Errorf(apierror.Conflict, "The strategy %q belongs to the environment %q.", id,
				apierror.Echo(name))
		}
	}
	if !body.Has("name") {
		return f, apierror.Invalid(apierror.Missing("/body/name"))
	}
	return Added(f, environment, id, body)
}

// writeStrategy changes a strategy of the toggle of a request, and responds with it. change returns its id.
func writeStrategy(
	w http.ResponseWriter, r *http.Request, features *feature.Store,
	change func(f toggle.Feature, environment string) (next toggle.Feature, id string, err error),
) error {
	project, name, err := feature.PathOf(r)
	if err != nil {
		return err
	}
	environment, err := feature.EnvironmentOf(r, features.Reader)
	if err != nil {
		return err
	}
	id := ""
	f, err := features.InProject(project).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
		next, changed, err := change(f, environment.Name)
		if err != nil {
			return f, err
		}
		id = changed
		return next, features.CheckSegments(r.Context(), f, next)
	})
	if err != nil {
		return err
	}
	e := f.Environments[environment.Name]
	return lambdahttp.WriteJSON(w, http.StatusOK, e.Strategies[e.Strategy(id)])
}

// Delete serves DELETE
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}.
func Delete(features *feature.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return feature.ChangeState(r, features, func(f toggle.Feature, environment string) (toggle.Feature, error) {
			id, i, err := strategyOf(r, f, environment)
			if err != nil {
				return f, err
			}
			if err := preconditions.Check(lambdahttp.ETag(f.Environments[environment].Strategies[i])); err != nil {
				return f, err
			}
			return Deleted(f, environment, id)
		})
	}
}

// Add adds a strategy to an environment, or returns a 400 if there are too many.
func Add(e *toggle.Environment, s toggle.Strategy) error {
	if len(e.Strategies) >= toggle.MaxStrategies {
		return apierror.Errorf(apierror.Validation,
			"Failed to create strategy. You can't create more than the established limit of %d. "+
				"Delete a strategy first.", toggle.MaxStrategies)
	}
	e.Strategies = append(slices.Clone(e.Strategies), s)
	return nil
}

// NextSortOrder returns the highest sort order of the strategies of an environment plus 1; 0: there are none.
func NextSortOrder(e toggle.Environment) int32 {
	if len(e.Strategies) == 0 {
		return 0
	}
	highest := int64(e.Strategies[len(e.Strategies)-1].SortOrder)
	return int32(min(highest+1, maxSortOrder)) //nolint:gosec // it is at most maxSortOrder
}
