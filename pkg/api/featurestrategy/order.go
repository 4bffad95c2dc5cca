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
	schema := jsonbody.MustCompile(orderSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		orders, err := schema.ReadArray(r, differentStrategies)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return feature.ChangeState(r, features, func(f *toggle.Feature, environment string) error {
			e := f.Environments[environment]
			if err := preconditions.Check(feature.StateTag(e)); err != nil {
				return err
			}
			e.Strategies = slices.Clone(e.Strategies)
			for i, order := range orders {
				id := order.Text("id")
				index := e.Strategy(id)
				if index < 0 {
					return apierror.Invalid(apierror.At(fmt.Sprintf("/body/%d/id", i),
						"must be the id of a strategy of the toggle in the environment").Sent(id))
				}
				value, _ := order.Int("sortOrder")
				e.Strategies[index].SortOrder = int32(value) //nolint:gosec // the schema limits it
			}
			f.SetEnvironment(environment, e)
			return nil
		})
	}
}

// differentStrategies is the rule that no strategy is in the body twice.
func differentStrategies(orders []jsonbody.Object) []apierror.Detail {
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
