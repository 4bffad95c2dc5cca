package featurestrategy

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed order.schema.json
var orderSchema []byte

// SetOrder serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/set-sort-order.
func SetOrder(features *feature.Store) lambdahttp.HandlerFunc {
	schema := OrderSchema()
	return func(_ http.ResponseWriter, r *http.Request) error {
		orders, err := schema.ReadArray(r, DifferentStrategies)
		if err != nil {
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
			return Reordered(f, environment, orders)
		})
	}
}

// OrderSchema returns the schema of the body of SetOrder. DifferentStrategies is a rule for it.
func OrderSchema() *jsonbody.Schema { return jsonbody.MustCompile(orderSchema) }

// Reordered returns a toggle with another order of its strategies in an environment. Orders are the elements of the body
// of SetOrder. The kind of its error is Validation if there is no strategy with an id.
func Reordered(f toggle.Feature, environment string, orders []jsonbody.Object) (toggle.Feature, error) {
	e := f.Environments[environment]
	e.Strategies = slices.Clone(e.Strategies)
	for i, order := range orders {
		id := order.Text("id")
		index := e.Strategy(id)
		if index < 0 {
			return f, apierror.Invalid(apierror.At(fmt.Sprintf("/body/%d/id", i),
				"must be the id of a strategy of the toggle in the environment").Sent(id))
		}
		value, _ := order.Int("sortOrder")
		e.Strategies[index].SortOrder = int32(value) //nolint:gosec // the schema limits it
	}
	f.SetEnvironment(environment, e)
	return f, nil
}

// DifferentStrategies is the rule that no strategy is in the body twice.
func DifferentStrategies(orders []jsonbody.Object) []apierror.Detail {
	first := map[string]int{}
	for i, order := range orders {
		id, sent := order.TextOK("id")
		if !sent {
			continue
		}
		if before, repeated := first[id]; repeated {
			return []apierror.Detail{
				apierror.At(fmt.Sprintf("/body/%d/id", i), "must not be that of `/body/%d`", before).Sent(id),
			}
		}
		first[id] = i
	}
	return nil
}
