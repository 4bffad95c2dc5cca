package main_test

import (
	"strings"
	"testing"

	main "toggleadmin/cmd/toggleadmin"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func TestExplanation(t *testing.T) {
	t.Parallel()
	in := func(field string, values ...string) toggle.Constraint {
		return toggle.Constraint{ContextName: field, Operator: "IN", Values: values}
	}
	strategy := func(name, parameter, value string) toggle.Strategy {
		return toggle.Strategy{Name: name, Parameters: map[string]string{parameter: value}}
	}
	rollout := func(stickiness string) toggle.Strategy {
		s := strategy("flexibleRollout", "rollout", "25")
		s.Parameters["stickiness"] = stickiness
		return s
	}
	production := func(enabled bool, strategies ...toggle.Strategy) map[string]toggle.Environment {
		return map[string]toggle.Environment{"production": {Enabled: enabled, Strategies: strategies}}
	}
	on := func(strategies ...toggle.Strategy) toggle.Feature {
		return toggle.Feature{Environments: production(true, strategies...)}
	}
	child := func(parent toggle.Dependency) toggle.Feature {
		return toggle.Feature{Environments: production(true), Dependency: &parent}
	}
	const switchedOn = "switched on: yes\n"
	for _, row := range []struct {
		name    string
		feature toggle.Feature
		want    string
	}{
		{"switched off", toggle.Feature{}, "t is off in production\nswitched on: no"},
		{
			"a parent", child(toggle.Dependency{Feature: "p", Enabled: true}),
			"t is off in production\n" + switchedOn + "parent p is on: no",
		},
		{
			"a parent that must be off", child(toggle.Dependency{Feature: "p"}),
			"t is off in production\n" + switchedOn + "parent p is off: no",
		},
		{
			"variants of a parent",
			child(toggle.Dependency{Feature: "p", Enabled: true, Variants: []string{"a", "b"}}),
			"t is off in production\n" + switchedOn + "parent p is on with the variant a or b: no",
		},
		{
			"strategies",
			on(
				toggle.Strategy{
					Name: "default", Title: new("Nordic"), Constraints: []toggle.Constraint{in("country", "NO", "SE", "DK")},
				},
				toggle.Strategy{Name: "default", Disabled: true},
				toggle.Strategy{Name: "default", Variants: []toggle.Variant{{Name: "blue", Weight: 1000}}},
			),
			"t is on in production with the variant blue\n" + switchedOn +
				"strategy 1, default \"Nordic\": does not hold\n" +
				"  country is NO, SE or DK: no (absent)\n" +
				"strategy 2, default (disabled): does not hold\n" +
				"strategy 3, default: holds",
		},
		{
			"constraints",
			on(toggle.Strategy{Name: "default", Constraints: []toggle.Constraint{
				in("userId", "1", "2", "3", "4", "5", "6", "7"),
				{ContextName: "userId", Operator: "IN", Values: []string{"8"}, Inverted: true},
				{ContextName: "userId", Operator: "STR_CONTAINS", Values: []string{"x"}, CaseInsensitive: true},
				{ContextName: "empty", Operator: "NUM_GT", Value: "1", Inverted: true},
				{ContextName: "userId", Operator: "UNKNOWN", Value: "1"},
			}}),
			"t is off in production\n" + switchedOn +
				"strategy 1, default: does not hold\n" +
				"  userId is 1, 2, 3, 4, 5 or 2 more: yes (7)\n" +
				"  userId is not 8: yes (7)\n" +
				"  userId contains x in any letter case: no (7)\n" +
				"  empty is not greater than 1: yes (empty)\n" +
				"  userId UNKNOWN 1: no (7)",
		},
		{
			"segments",
			on(toggle.Strategy{Name: "default", Segments: []int64{1, 2}}),
			"t is off in production\n" + switchedOn +
				"strategy 1, default: does not hold\n" +
				"  segment Adults: no\n" +
				"    age is at least 18: no (absent)\n" +
				"  segment 2, which does not exist: no",
		},
		{
			"rollouts",
			on(
				rollout("userId"), rollout("tenant"), rollout("random"), strategy("flexibleRollout", "rollout", "many"),
			),
			"t is on in production\n" + switchedOn +
				"strategy 1, flexibleRollout: holds\n" +
				"  25 % by userId: yes (number 16)\n" +
				"strategy 2, flexibleRollout: does not hold\n" +
				"  25 % by tenant: no (absent)\n" +
				"strategy 3, flexibleRollout: does not hold\n" +
				"  25 % at random: no (number 100)\n" +
				"strategy 4, flexibleRollout: does not hold\n" +
				"  the parameters are valid: no",
		},
		{
			"lists",
			on(
				strategy("userWithId", "userIds", "8, 9"), strategy("remoteAddress", "IPs", "10.0.0.0/8"),
				strategy("applicationHostname", "hostNames", "web"),
			),
			"t is off in production\n" + switchedOn +
				"strategy 1, userWithId: does not hold\n" +
				"  userId is 8 or 9: no\n" +
				"strategy 2, remoteAddress: does not hold\n" +
				"  remoteAddress is in 10.0.0.0/8: no\n" +
				"strategy 3, applicationHostname: does not hold\n" +
				"  the host is web: no (absent)",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.feature.Name = "t"
			adult := toggle.Constraint{ContextName: "age", Operator: "NUM_GTE", Value: "18"}
			parentOn := row.feature.Dependency != nil && !row.feature.Dependency.Enabled
			parent := toggle.Feature{Name: "p", Environments: production(parentOn)}
			segments := []toggle.Segment{{ID: 1, Name: "Adults", Constraints: []toggle.Constraint{adult}}}
			engine := playground.NewEngine("production", []toggle.Feature{parent, row.feature}, segments)
			explanation := engine.Explain(row.feature, &evaluation.Context{
				Fields: map[string]string{"userId": "7", "empty": ""}, Random: func(n uint32) uint32 { return n - 1 },
			})
			assert.Equal(t, row.want, strings.Join(main.ExplanationOf("t", "production", explanation), "\n"))
		})
	}
}

func TestExplanationOfArchived(t *testing.T) {
	t.Parallel()
	got := main.ExplanationOf("t", "production", playground.Explanation{})
	assert.Equal(t, []string{"t is off in production", "archived: yes"}, got)
}
