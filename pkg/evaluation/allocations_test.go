//go:build !race

// The race detector empties pools at random, also that of regular expressions.

package evaluation_test

import (
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// An evaluation allocates no memory, whatever the operators are and whether they can evaluate the fields. Only an address
// that is malformed makes an error.
func TestAllocations(t *testing.T) {
	constraints := []toggle.Constraint{
		{ContextName: "currentTime", Operator: toggle.OperatorDateAfter, Value: "2026-11-20T11:00:00Z"},
		{ContextName: "remoteAddress", Operator: toggle.OperatorInCIDR, Values: []string{"192.0.2.0/24"}},
	}
	for _, operator := range evaluation.Operators() {
		if operator != toggle.OperatorInCIDR {
			constraints = append(constraints, toggle.Constraint{
				ContextName: "f", Operator: operator, Values: []string{"x"}, Value: valueOf(operator), CaseInsensitive: true,
			})
		}
	}
	var strategies []evaluation.Strategy
	for _, constraint := range constraints {
		unknown := evaluation.Strategy{Name: "nope", Constraints: []toggle.Constraint{constraint}}
		strategies = append(strategies, unknown)
	}
	engine := engineOf(append(strategies, evaluation.Strategy{
		Name:       "flexibleRollout",
		Parameters: map[string]string{"rollout": "100"},
		Variants:   numberedVariants(3),
	})...)
	for _, value := range []string{"Ærlig", "5", "1.2.4-rc.1", "2026-11-20T11:00:00Z"} {
		fields := map[string]string{"userId": "u1", "remoteAddress": "192.0.2.7", "f": value}
		ctx := &evaluation.Context{Fields: fields, Now: now, Random: noRandom}
		allocations := testing.AllocsPerRun(10, func() {
			engine.Enabled("t", ctx)
			engine.Evaluate("t", ctx)
		})
		if allocations != 0 {
			t.Errorf("%q: %f allocations", value, allocations)
		}
	}
}

// valueOf returns a value that an operator can evaluate.
func valueOf(operator toggle.Operator) string {
	for _, value := range []string{"7", "1.2.3", "2026-11-20T12:00:00Z"} {
		if evaluation.CheckValue(operator, value) == nil {
			return value
		}
	}
	return ""
}
