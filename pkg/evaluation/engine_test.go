package evaluation_test

import (
	"fmt"
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// The numbers are those of Unleash's Node.js SDK (unleash-client 6.12).
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		group, id string
		rollout   uint32 // of 100
		variant   string // of 1,000
	}{
		{"gr1", "123", 73, "796"},
		{"groupX", "999", 25, "260"},
		{"AB12A", "122", 23, "613"},
		{"t1", "u1", 60, "303"},
		{"æ", "ø", 59, "595"},
		{"", "", 31, "632"},
	} {
		engine := engineOf(evaluation.Strategy{
			Name:       "flexibleRollout",
			Parameters: map[string]string{"groupId": test.group, "rollout": "100", "stickiness": "userId"},
			Variants:   numberedVariants(1000),
		})
		ctx := &evaluation.Context{Fields: map[string]string{"userId": test.id}, Random: noRandom}
		explanation := engine.Explain("t", ctx)
		if got := explanation.Strategies[0].Rollout.Number; got != test.rollout {
			t.Errorf("%s:%s: rollout %d, want %d", test.group, test.id, got, test.rollout)
		}
		if got := explanation.Variant.Name; got != test.variant {
			t.Errorf("%s:%s: variant %s, want %s", test.group, test.id, got, test.variant)
		}
	}
}

// numberedVariants returns variants with equal weights, whose names are the numbers from 1 on.
func numberedVariants(n int) []toggle.Variant {
	variants := make([]toggle.Variant, n)
	for i := range variants {
		variants[i] = toggle.Variant{Name: fmt.Sprint(i + 1), Weight: 1}
	}
	return variants
}

func TestTypesOfStrategies(t *testing.T) {
	t.Parallel()
	type text = map[string]string
	const least, greatest = 0, 99 // random numbers below 100
	for _, test := range []struct {
		name       string
		parameters text
		fields     text
		random     uint32
		want       bool
	}{
		{"default", nil, nil, 0, true},
		{"nope", nil, nil, 0, false},

		// The number of u2 in the group t is 91, and that of s2 is 47.
		{"flexibleRollout", text{"rollout": "91"}, text{"userId": "u2", "sessionId": "s2"}, greatest, true},
		{"flexibleRollout", text{"rollout": "90"}, text{"userId": "u2", "sessionId": "s2"}, least, false},
		{"flexibleRollout", text{"rollout": "47"}, text{"sessionId": "s2"}, greatest, true},
		{"flexibleRollout", text{"rollout": "46"}, text{"sessionId": "s2"}, least, false},
		{"flexibleRollout", text{"rollout": "47", "stickiness": "sessionId"}, text{"userId": "u2", "sessionId": "s2"}, greatest, true},
		{"flexibleRollout", text{"rollout": "47", "stickiness": "tenant"}, text{"tenant": "s2"}, greatest, true},
		{"flexibleRollout", text{"rollout": "46", "stickiness": "tenant"}, text{"tenant": "s2"}, least, false},
		{"flexibleRollout", text{"rollout": "100", "stickiness": "tenant"}, text{"userId": "u2"}, least, false},
		{"flexibleRollout", text{"rollout": "60", "groupId": "t1"}, text{"userId": "u1"}, greatest, true},
		{"flexibleRollout", text{"rollout": "100"}, nil, greatest, true},
		{"flexibleRollout", text{"rollout": "99"}, nil, greatest, false},
		{"flexibleRollout", text{"rollout": "1", "stickiness": "random"}, text{"userId": "u1"}, least, true},
		{"flexibleRollout", text{"rollout": "0"}, nil, least, false},
		{"flexibleRollout", text{"rollout": "150"}, nil, least, false},
		{"flexibleRollout", text{"rollout": "12.5"}, nil, least, false},
		{"flexibleRollout", nil, nil, least, false},

		{"gradualRolloutUserId", text{"percentage": "60", "groupId": "t1"}, text{"userId": "u1"}, least, true},
		{"gradualRolloutUserId", text{"percentage": "59", "groupId": "t1"}, text{"userId": "u1"}, least, false},
		{"gradualRolloutUserId", text{"percentage": "100", "groupId": "t1"}, text{"sessionId": "u1"}, least, false},
		{"gradualRolloutUserId", text{"percentage": "100"}, text{"userId": "u1"}, least, false},
		{"gradualRolloutSessionId", text{"percentage": "60", "groupId": "t1"}, text{"sessionId": "u1"}, least, true},
		{"gradualRolloutSessionId", text{"percentage": "59", "groupId": "t1"}, text{"sessionId": "u1"}, least, false},
		{"gradualRolloutRandom", text{"percentage": "100"}, text{"userId": "u1"}, greatest, true},
		{"gradualRolloutRandom", text{"percentage": "99"}, text{"userId": "u1"}, greatest, false},

		{"userWithId", text{"userIds": "a, b ,c"}, text{"userId": "b"}, 0, true},
		{"userWithId", text{"userIds": "a,b"}, text{"userId": "a,b"}, 0, false},
		{"userWithId", text{"userIds": "a"}, nil, 0, false},
		{"userWithId", nil, text{"userId": ""}, 0, false},

		{"remoteAddress", text{"IPs": "nowhere, 192.0.2.0/24"}, text{"remoteAddress": "192.0.2.7"}, 0, true},
		{"remoteAddress", text{"IPs": "192.0.2.7"}, text{"remoteAddress": "192.0.2.8"}, 0, false},
		{"remoteAddress", text{"IPs": "192.0.2.7"}, nil, 0, false},

		{"applicationHostname", text{"hostNames": "web-1, WEB-2"}, nil, 0, true},
		{"applicationHostname", text{"hostNames": "web-1"}, nil, 0, false},
		{"applicationHostname", nil, nil, 0, false},
	} {
		ctx := &evaluation.Context{
			Fields:   test.fields,
			Random:   func(uint32) uint32 { return test.random },
			HostName: "Web-2",
		}
		engine := engineOf(evaluation.Strategy{Name: test.name, Parameters: test.parameters})
		if got := engine.Enabled("t", ctx); got != test.want {
			t.Errorf("%s %v with %v: %t", test.name, test.parameters, test.fields, got)
		}
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	two := []toggle.Variant{{Name: "a", Weight: 500}, {Name: "b", Weight: 500}}
	none := []toggle.Variant{{Name: "a"}, {Name: "b"}}
	old := []evaluation.FeatureVariant{{
		Variant:   toggle.Variant{Name: "old", Weight: 1},
		Overrides: []evaluation.Override{{ContextName: "country", Values: []string{"SE", "NO"}}},
	}, {
		Variant: toggle.Variant{Name: "older", Weight: 999},
	}}
	for _, test := range []struct {
		name       string
		variants   []toggle.Variant // of the strategy
		old        []evaluation.FeatureVariant
		stickiness string
		fields     map[string]string
		random     uint32
		want       string
	}{
		{"no variants", nil, nil, "default", nil, 0, ""},
		{"weights of 0", none, nil, "default", nil, 0, ""},
		{"lower half", two, nil, "default", map[string]string{"userId": "u1"}, 999, "a"},
		{"upper half", two, nil, "default", map[string]string{"userId": "u4"}, 0, "b"},
		{"session", two, nil, "default", map[string]string{"sessionId": "u4"}, 0, "b"},
		{"nothing to stick to", two, nil, "default", nil, 500, "b"},
		{"random", two, nil, "random", map[string]string{"userId": "u4"}, 499, "a"},
		{"variants of the strategy first", two, old, "random", map[string]string{"country": "NO"}, 0, "a"},
		{"variants of the toggle", nil, old, "random", nil, 1, "older"},
		{"override", nil, old, "random", map[string]string{"country": "NO"}, 1, "old"},
	} {
		engine := evaluation.New(evaluation.Document{Features: []evaluation.Feature{{
			Name:     "t",
			Enabled:  true,
			Variants: test.old,
			Strategies: []evaluation.Strategy{{
				Name:       "flexibleRollout",
				Parameters: map[string]string{"rollout": "100", "groupId": "t1", "stickiness": test.stickiness},
				Variants:   test.variants,
			}},
		}}})
		ctx := &evaluation.Context{Fields: test.fields, Random: func(n uint32) uint32 { return min(test.random, n-1) }}
		result := engine.Evaluate("t", ctx)
		got := ""
		if result.Variant != nil {
			got = result.Variant.Name
		}
		if !result.Enabled || got != test.want {
			t.Errorf("%s: %t, %q, want %q", test.name, result.Enabled, got, test.want)
		}
	}
}

func TestSwitchAndStrategies(t *testing.T) {
	t.Parallel()
	on := evaluation.Strategy{Name: "default"}
	off := evaluation.Strategy{Name: "nope"}
	missing := evaluation.Strategy{Name: "default", Segments: []int64{7}}
	for _, test := range []struct {
		name       string
		enabled    bool
		strategies []evaluation.Strategy
		want       bool
	}{
		{"off", false, []evaluation.Strategy{on}, false},
		{"no strategies", true, nil, true},
		{"one of them holds", true, []evaluation.Strategy{off, on}, true},
		{"none holds", true, []evaluation.Strategy{off, off}, false},
		{"a segment is missing", true, []evaluation.Strategy{missing}, false},
	} {
		engine := evaluation.New(evaluation.Document{
			Features: []evaluation.Feature{{Name: "t", Enabled: test.enabled, Strategies: test.strategies}},
		})
		ctx := &evaluation.Context{Random: noRandom}
		if got := engine.Enabled("t", ctx); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	parent := func(enabled bool, variants ...string) toggle.Dependency {
		return toggle.Dependency{Feature: "on", Enabled: enabled, Variants: variants}
	}
	strategy := evaluation.Strategy{
		Name:       "flexibleRollout",
		Parameters: map[string]string{"rollout": "100"},
		Variants:   []toggle.Variant{{Name: "a", Weight: 1000}},
	}
	elsewhere := strategy
	elsewhere.Constraints = []toggle.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"u2"}}}
	for _, test := range []struct {
		name       string
		dependency toggle.Dependency
		want       bool
	}{
		{"must be on", parent(true), true},
		{"must be off", parent(false), false},
		{"has the variant", parent(true, "x", "a"), true},
		{"has another variant", parent(true, "x"), false},
		{"off", toggle.Dependency{Feature: "off", Enabled: true}, false},
		{"off, as it must be", toggle.Dependency{Feature: "off", Variants: []string{"x"}}, true},
		{"no variant in the context", toggle.Dependency{Feature: "some", Enabled: true, Variants: []string{"x", "a"}}, true},
		{"no such variant", toggle.Dependency{Feature: "some", Enabled: true, Variants: []string{"x"}}, false},
		{"no variants", toggle.Dependency{Feature: "plain", Enabled: true, Variants: []string{"x"}}, false},
		{"unknown", toggle.Dependency{Feature: "unknown"}, false},
		{"itself", toggle.Dependency{Feature: "child"}, false},
		{"a grandparent", toggle.Dependency{Feature: "other child", Enabled: true}, false},
	} {
		engine := evaluation.New(evaluation.Document{Features: []evaluation.Feature{
			{Name: "child", Enabled: true, Dependencies: []toggle.Dependency{test.dependency}},
			{Name: "on", Enabled: true, Strategies: []evaluation.Strategy{strategy}},
			{Name: "off", Strategies: []evaluation.Strategy{strategy}},
			{Name: "plain", Enabled: true},
			{Name: "some", Enabled: true, Strategies: []evaluation.Strategy{elsewhere, {Name: "default"}}},
			{Name: "other child", Enabled: true, Dependencies: []toggle.Dependency{parent(true)}},
		}})
		ctx := &evaluation.Context{Fields: map[string]string{"userId": "u1"}, Random: noRandom}
		if got := engine.Enabled("child", ctx); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func TestUnknownToggle(t *testing.T) {
	t.Parallel()
	engine := engineOf()
	ctx := &evaluation.Context{Random: noRandom}
	assert.Equal(t, false, engine.Enabled("unknown", ctx))
	assert.Equal(t, evaluation.Result{}, engine.Evaluate("unknown", ctx))
	assert.Equal(t, evaluation.Explanation{Decisive: -1}, engine.Explain("unknown", ctx))
}

// The reason of a result is what decided it. Its explanation has the same.
func TestReason(t *testing.T) {
	t.Parallel()
	in := func(country string) toggle.Constraint {
		return toggle.Constraint{ContextName: "country", Operator: toggle.OperatorIn, Values: []string{country}}
	}
	// rollout returns a rollout in which the user u1 has the number 60.
	rollout := func(percentage string, constraints ...toggle.Constraint) evaluation.Strategy {
		return evaluation.Strategy{
			Name: "flexibleRollout", Parameters: map[string]string{"rollout": percentage, "groupId": "t1"},
			Constraints: constraints,
		}
	}
	withSegment := func(id int64, s evaluation.Strategy) evaluation.Strategy {
		s.Segments = []int64{id}
		return s
	}
	variants := rollout("100", in("NO"))
	variants.Variants = numberedVariants(1)
	everyone := evaluation.Strategy{Name: "default"}
	users := evaluation.Strategy{Name: "userWithId", Parameters: map[string]string{"userIds": "u1"}}
	const norway, sweden = 1, 2 // segments
	for _, test := range []struct {
		name       string
		strategies []evaluation.Strategy
		enabled    bool
		want       evaluation.Reason
	}{
		{"no strategy", nil, true, evaluation.Static},
		{"everyone", []evaluation.Strategy{everyone}, true, evaluation.Static},
		{"rollout to all", []evaluation.Strategy{rollout("100")}, true, evaluation.Static},
		{"second of two", []evaluation.Strategy{rollout("100", in("SE")), everyone}, true, evaluation.Static},
		{"constraint", []evaluation.Strategy{rollout("100", in("NO"))}, true, evaluation.Targeting},
		{"other constraint", []evaluation.Strategy{rollout("100", in("SE"))}, false, evaluation.Targeting},
		{"segment", []evaluation.Strategy{withSegment(norway, everyone)}, true, evaluation.Targeting},
		{"users", []evaluation.Strategy{users}, true, evaluation.Targeting},
		{"variant", []evaluation.Strategy{variants}, true, evaluation.Split},
		{"rollout", []evaluation.Strategy{rollout("60", in("NO"))}, true, evaluation.Split},
		{"users after a rollout", []evaluation.Strategy{rollout("59", in("NO")), users}, true, evaluation.Targeting},
		{"excluded by a rollout", []evaluation.Strategy{rollout("59", in("NO"))}, false, evaluation.Split},
		{"and by a constraint", []evaluation.Strategy{rollout("59", in("SE"))}, false, evaluation.Targeting},
		{"and by a segment", []evaluation.Strategy{withSegment(sweden, rollout("59"))}, false, evaluation.Targeting},
		{"unknown segment", []evaluation.Strategy{withSegment(3, rollout("59"))}, false, evaluation.Targeting},
		{"malformed rollout", []evaluation.Strategy{rollout("x")}, false, evaluation.Targeting},
	} {
		engine := evaluation.New(evaluation.Document{
			Features: []evaluation.Feature{
				{Name: "parent", Enabled: true},
				{Name: "toggle", Enabled: true, Strategies: test.strategies},
				{Name: "switched off", Strategies: test.strategies},
				{Name: "child", Enabled: true, Strategies: test.strategies,
					Dependencies: []toggle.Dependency{{Feature: "parent", Enabled: true}}},
				{Name: "child of what is on", Enabled: true, Strategies: test.strategies,
					Dependencies: []toggle.Dependency{{Feature: "parent", Enabled: false}}},
			},
			Segments: []toggle.Segment{
				{ID: norway, Constraints: []toggle.Constraint{in("NO")}},
				{ID: sweden, Constraints: []toggle.Constraint{in("SE")}},
			},
		})
		ofChild := test.want
		if ofChild == evaluation.Static {
			ofChild = evaluation.Targeting
		}
		for name, want := range map[string]evaluation.Result{
			"toggle":              {Enabled: test.enabled, Reason: test.want},
			"switched off":        {Reason: evaluation.SwitchedOff},
			"child":               {Enabled: test.enabled, Reason: ofChild},
			"child of what is on": {Reason: evaluation.Targeting},
		} {
			ctx := &evaluation.Context{Fields: map[string]string{"country": "NO", "userId": "u1"}, Random: noRandom}
			got := engine.Evaluate(name, ctx)
			if got.Enabled != want.Enabled || got.Reason != want.Reason {
				t.Errorf("%s, %s: %v, want %v", test.name, name, got, want)
			}
			assert.Equal(t, got, engine.Explain(name, ctx).Result)
		}
	}
}
