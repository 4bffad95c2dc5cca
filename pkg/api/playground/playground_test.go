package playground_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// seed decides what is random in the tests.
func seed() *strings.Reader { return strings.NewReader(strings.Repeat("seed", 8)) }

// inE returns the state of a toggle in the environment e.
func inE(enabled bool, strategies ...toggle.Strategy) map[string]toggle.Environment {
	return map[string]toggle.Environment{"e": {Enabled: enabled, Strategies: strategies}}
}

// explain evaluates the toggle t in the environment e.
func explain(t *testing.T, fields playground.Fields, f toggle.Feature, others ...toggle.Feature) playground.Result {
	t.Helper()
	f.Name, f.Project = "t", "p"
	engine := playground.NewEngine("e", append(others, f), []toggle.Segment{
		{ID: 1, Name: "Adults", Constraints: []toggle.Constraint{{ContextName: "age", Operator: "NUM_GTE", Value: "18"}}},
	})
	ctx, err := fields.Context(now(), seed())
	assert.OK(t, err)
	return playground.NewResult(f, "e", fields, engine.Explain(f, ctx))
}

// A result has the reason at each level.
func TestResult(t *testing.T) {
	t.Parallel()
	country := toggle.Constraint{ContextName: "country", Operator: "IN", Values: []string{"NO", "SE"}}
	blue := toggle.Variant{
		Name: "blue", Weight: 1000, WeightType: "variable", Stickiness: "userId",
		Payload: &toggle.Payload{Type: "json", Value: "{}"},
	}
	result := explain(t, playground.Fields{"userId": "7", "age": "41"}, toggle.Feature{
		Environments: inE(true,
			toggle.Strategy{
				ID: "1", Name: "default", Title: new("Nordic"), Parameters: map[string]string{},
				Constraints: []toggle.Constraint{country}, Segments: []int64{1},
			},
			toggle.Strategy{
				ID: "2", Name: "flexibleRollout", Variants: []toggle.Variant{blue},
				Parameters: map[string]string{"rollout": "50", "stickiness": "userId", "groupId": "t"},
			},
		),
	})
	assert.JSON(t, "testdata/result.json", result)
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	var (
		on       = toggle.Strategy{Name: "default"}
		disabled = toggle.Strategy{Name: "default", Disabled: true}
		host     = toggle.Strategy{Name: "applicationHostname", Parameters: map[string]string{"hostNames": "a"}}
		norway   = []toggle.Constraint{{ContextName: "country", Operator: "IN", Values: []string{"NO"}}}
		never    = toggle.Strategy{Name: "default", Constraints: norway}
		hostNo   = toggle.Strategy{Name: "applicationHostname", Constraints: norway}
		hostAge  = toggle.Strategy{Name: "applicationHostname", Segments: []int64{1}}
		hidden   = toggle.Strategy{Name: "default", Segments: []int64{2}}
		neither  = toggle.Strategy{Name: "default", Segments: []int64{2}, Constraints: norway}
		rollout  = toggle.Strategy{
			Name: "flexibleRollout", Parameters: map[string]string{"rollout": "50", "stickiness": "tenant"},
		}
	)
	const (
		holds      = `{"enabled":true,"evaluationStatus":"complete"}`
		holdsNot   = `{"enabled":false,"evaluationStatus":"complete"}`
		isDisabled = `{"enabled":false,"evaluationStatus":"unevaluated"}`
		isUnknown  = `{"enabled":"unknown","evaluationStatus":"incomplete"}`
	)
	for _, row := range []struct {
		name       string
		strategies []toggle.Strategy
		want       string // of all strategies
		each       []string
	}{
		{"none", nil, `false`, nil},
		{"one holds", []toggle.Strategy{never, on}, `true`, []string{holdsNot, holds}},
		{"none holds", []toggle.Strategy{never}, `false`, []string{holdsNot}},
		{"a disabled one", []toggle.Strategy{never, disabled}, `false`, []string{holdsNot, isDisabled}},
		{"a host", []toggle.Strategy{never, host}, `"unknown"`, []string{holdsNot, isUnknown}},
		{"a host, and one holds", []toggle.Strategy{host, on}, `true`, []string{isUnknown, holds}},
		{
			"a host, but a constraint does not hold", []toggle.Strategy{hostNo}, `false`,
			[]string{`{"enabled":false,"evaluationStatus":"incomplete"}`},
		},
		{
			"a host, but a segment does not hold", []toggle.Strategy{hostAge}, `false`,
			[]string{`{"enabled":false,"evaluationStatus":"incomplete"}`},
		},
		{"a segment that the caller does not see", []toggle.Strategy{hidden}, `"unknown"`, []string{isUnknown}},
		{
			"such a segment, but a constraint does not hold", []toggle.Strategy{neither}, `false`,
			[]string{`{"enabled":false,"evaluationStatus":"incomplete"}`},
		},
		{
			"a rollout without its field", []toggle.Strategy{rollout}, `false`,
			[]string{`{"enabled":false,"evaluationStatus":"complete","rollout":50}`},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			result := explain(t, playground.Fields{}, toggle.Feature{Environments: inE(false, row.strategies...)})
			assert.Equal(t, row.want, toJSON(t, result.Strategies.Result))
			for i, want := range row.each {
				assert.Equal(t, want, toJSON(t, result.Strategies.Data[i].Result))
			}
		})
	}
}

// A toggle is on if it is switched on, its dependency holds, and a strategy holds.
func TestIsEnabled(t *testing.T) {
	t.Parallel()
	const disabled = `{"name":"disabled","enabled":false,"feature_enabled":%}`
	dependency := &toggle.Dependency{Feature: "parent", Enabled: true}
	for _, row := range []struct {
		name                 string
		switchedOn, parentOn bool
		enabled, unsatisfied bool
	}{
		{"on", true, true, true, false},
		{"off", false, true, false, false},
		{"parent off", true, false, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			result := explain(t, playground.Fields{},
				toggle.Feature{Environments: inE(row.switchedOn, toggle.Strategy{Name: "default"}), Dependency: dependency},
				toggle.Feature{Name: "parent", Environments: inE(row.parentOn)})
			got := []bool{result.IsEnabled, result.IsEnabledInCurrentEnvironment, result.HasUnsatisfiedDependency}
			assert.Equal(t, []bool{row.enabled, row.switchedOn, row.unsatisfied}, got)
			variant := strings.Replace(disabled, "%", toJSON(t, row.enabled), 1)
			assert.Equal(t, variant, toJSON(t, result.Variant))
		})
	}
}

// A disabled strategy, which applications do not get, is evaluated at its place in the list. It decides nothing.
func TestDisabledStrategy(t *testing.T) {
	t.Parallel()
	result := explain(t, playground.Fields{"age": "41"}, toggle.Feature{Environments: inE(true,
		toggle.Strategy{ID: "1", Name: "default", Disabled: true, Segments: []int64{1}},
		toggle.Strategy{ID: "2", Name: "default"},
	)})
	data := result.Strategies.Data
	assert.Equal(t, "1 unevaluated false, 2 complete true", fmt.Sprintf("%s %s %v, %s %s %v",
		data[0].ID, data[0].Result.EvaluationStatus, data[0].Result.Enabled,
		data[1].ID, data[1].Result.EvaluationStatus, data[1].Result.Enabled))
	assert.Equal(t, "Adults", data[0].Segments[0].Name)
	assert.Equal(t, true, data[0].Segments[0].Result)
}

// A toggle whose parent has none of the variants that it demands is delivered as off. Its switch is still on.
func TestSwitchOfChild(t *testing.T) {
	t.Parallel()
	dependency := &toggle.Dependency{Feature: "parent", Enabled: true, Variants: []string{"gone"}}
	result := explain(t, playground.Fields{},
		toggle.Feature{Environments: inE(true, toggle.Strategy{Name: "default"}), Dependency: dependency},
		toggle.Feature{Name: "parent", Environments: inE(true, toggle.Strategy{Name: "default"})})
	got := []bool{result.IsEnabled, result.IsEnabledInCurrentEnvironment, result.HasUnsatisfiedDependency}
	assert.Equal(t, []bool{false, true, true}, got)
}

// The same random source gives the same results.
func TestRandom(t *testing.T) {
	t.Parallel()
	var numbers []uint32
	for range 2 {
		ctx, err := playground.Fields{}.Context(now(), seed())
		assert.OK(t, err)
		numbers = append(numbers, ctx.Random(1_000_000))
	}
	assert.Equal(t, numbers[0], numbers[1])
	_, err := playground.Fields{}.Context(now(), strings.NewReader("short"))
	if err == nil {
		t.Error("a random source that ends early is accepted")
	}
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	assert.OK(t, err)
	return string(text)
}
