package evaluation_test

import (
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	var (
		country = toggle.Constraint{ContextName: "country", Operator: "IN", Values: []string{"NO", "SE"}}
		adult   = toggle.Constraint{ContextName: "age", Operator: "NUM_GTE", Value: "18"}
		newYear = toggle.Constraint{ContextName: "currentTime", Operator: "DATE_AFTER", Value: "2027-01-01T00:00:00Z"}

		testers = evaluation.Strategy{Name: "userWithId", Parameters: map[string]string{"userIds": "u1"}}
		later   = evaluation.Strategy{Name: "default", Constraints: []toggle.Constraint{newYear}}
		quarter = evaluation.Strategy{
			Name: "flexibleRollout", Constraints: []toggle.Constraint{country}, Segments: []int64{1, 2},
			Parameters: map[string]string{"rollout": "25", "stickiness": "tenant", "groupId": "t1"},
		}
		random = evaluation.Strategy{
			Name: "flexibleRollout", Segments: []int64{1},
			Parameters: map[string]string{"rollout": "34", "stickiness": "random"},
			Variants:   []toggle.Variant{{Name: "a", Weight: 1000}},
		}
		everyone = evaluation.Strategy{Name: "default"}
		parent   = toggle.Dependency{Feature: "parent", Enabled: true}
	)
	engine := evaluation.New(evaluation.Document{
		Features: []evaluation.Feature{
			{
				Name: "t", Enabled: true, Dependencies: []toggle.Dependency{parent},
				Strategies: []evaluation.Strategy{testers, later, quarter, random, everyone},
			},
			{Name: "parent", Enabled: true},
		},
		Segments: []toggle.Segment{{ID: 1, Name: "Adults", Constraints: []toggle.Constraint{adult}}},
	})
	ctx := &evaluation.Context{
		Fields: map[string]string{"tenant": "u1", "age": "41"},
		Now:    now,
		Random: func(n uint32) uint32 { return n / 3 },
	}
	adults := evaluation.SegmentExplanation{
		ID: 1, Known: true, Name: "Adults", Holds: true,
		Constraints: []evaluation.ConstraintExplanation{{Constraint: adult, Holds: true, ContextValue: new("41")}},
	}
	none := []evaluation.ConstraintExplanation{}
	assert.Equal(t, evaluation.Explanation{
		Result:       evaluation.Result{Enabled: true, Variant: &random.Variants[0], Reason: evaluation.Split},
		Known:        true,
		SwitchedOn:   true,
		Dependencies: []evaluation.DependencyExplanation{{Dependency: parent, Holds: true}},
		Strategies: []evaluation.StrategyExplanation{
			{Strategy: testers, Constraints: none, Targets: true},
			{
				Strategy: later, RuleHolds: true,
				Constraints: []evaluation.ConstraintExplanation{
					{Constraint: newYear, ContextValue: new("2026-11-20T12:00:00Z")},
				},
			},
			{
				Strategy:    quarter,
				Constraints: []evaluation.ConstraintExplanation{{Constraint: country}},
				Segments:    []evaluation.SegmentExplanation{adults, {ID: 2}},
				Rollout:     &evaluation.RolloutExplanation{Percentage: 25, Field: "tenant", Number: 60},
			},
			{
				Strategy: random, Holds: true, Targets: true, RuleHolds: true,
				Constraints: none,
				Segments:    []evaluation.SegmentExplanation{adults},
				Rollout:     &evaluation.RolloutExplanation{Percentage: 34, Number: 34},
				Variant:     &random.Variants[0],
			},
			{Strategy: everyone, Holds: true, Targets: true, RuleHolds: true, Constraints: none},
		},
		Decisive: 3,
	}, engine.Explain("t", ctx))
}

// The first strategy that holds is decisive.
func TestDecisive(t *testing.T) {
	t.Parallel()
	on, off := evaluation.Strategy{Name: "default"}, evaluation.Strategy{Name: "nope"}
	for _, test := range []struct {
		strategies []evaluation.Strategy
		want       int
	}{
		{nil, -1},
		{[]evaluation.Strategy{off}, -1},
		{[]evaluation.Strategy{on, on}, 0},
		{[]evaluation.Strategy{off, on, on}, 1},
	} {
		explanation := engineOf(test.strategies...).Explain("t", &evaluation.Context{Random: noRandom})
		assert.Equal(t, test.want, explanation.Decisive)
	}
}

// A toggle that is off has an explanation of its strategies too.
func TestExplainOff(t *testing.T) {
	t.Parallel()
	strategy := evaluation.Strategy{
		Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "tenant"},
	}
	engine := evaluation.New(evaluation.Document{Features: []evaluation.Feature{
		{Name: "t", Strategies: []evaluation.Strategy{strategy, {Name: "default"}}},
	}})
	explanation := engine.Explain("t", &evaluation.Context{Random: noRandom})
	assert.Equal(t, evaluation.Result{Reason: evaluation.SwitchedOff}, explanation.Result)
	assert.Equal(t, 1, explanation.Decisive)
	want := &evaluation.RolloutExplanation{Percentage: 100, Field: "tenant", Number: 0} // the field is absent
	assert.Equal(t, want, explanation.Strategies[0].Rollout)
}

// A variant that is chosen at random is that of the result, and that of its strategy.
func TestExplainRandomVariant(t *testing.T) {
	t.Parallel()
	strategy := evaluation.Strategy{
		Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "random"},
		Variants: []toggle.Variant{{Name: "a", Weight: 500}, {Name: "b", Weight: 500}},
	}
	engine := evaluation.New(evaluation.Document{Features: []evaluation.Feature{
		{Name: "t", Enabled: true, Strategies: []evaluation.Strategy{strategy}},
	}})
	draws := uint32(0)
	alternate := func(n uint32) uint32 {
		draws++
		return draws % 2 * (n - 1)
	}
	explanation := engine.Explain("t", &evaluation.Context{Random: alternate})
	assert.Equal(t, explanation.Variant, explanation.Strategies[0].Variant)
}
