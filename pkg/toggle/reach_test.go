package toggle_test

import (
	"testing"

	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func TestReach(t *testing.T) {
	t.Parallel()
	rollout := func(percentage, stickiness string) toggle.Strategy {
		return toggle.Strategy{Name: toggle.StrategyFlexibleRollout, Parameters: map[string]string{
			toggle.ParameterRollout: percentage, toggle.ParameterStickiness: stickiness,
		}}
	}
	disabled, inSegment := rollout("100", "default"), rollout("25", "default")
	disabled.Disabled, inSegment.Segments = true, []int64{7}
	gradual := toggle.Strategy{Name: toggle.StrategyGradualRolloutRandom, Parameters: map[string]string{
		toggle.ParameterPercentage: "5",
	}}
	all := toggle.Strategy{Name: toggle.StrategyDefault}
	for name, test := range map[string]struct {
		strategies []toggle.Strategy
		want       toggle.Reach
	}{
		"none":                    {nil, toggle.Reach{}},
		"disabled":                {[]toggle.Strategy{disabled}, toggle.Reach{}},
		"everybody":               {[]toggle.Strategy{all}, toggle.Reach{Strategies: 1, Percentage: new(100)}},
		"everybody and a part":    {[]toggle.Strategy{all, inSegment}, toggle.Reach{Strategies: 2, Percentage: new(100)}},
		"a part and everybody":    {[]toggle.Strategy{inSegment, all}, toggle.Reach{Strategies: 2, Percentage: new(100)}},
		"a rollout":               {[]toggle.Strategy{rollout("25", "userId"), disabled}, toggle.Reach{Strategies: 1, Percentage: new(25)}},
		"a gradual rollout":       {[]toggle.Strategy{gradual}, toggle.Reach{Strategies: 1, Percentage: new(5)}},
		"nobody":                  {[]toggle.Strategy{rollout("0", "default")}, toggle.Reach{Strategies: 1, Percentage: new(0)}},
		"those with a field":      {[]toggle.Strategy{rollout("100", "userId")}, toggle.Reach{Strategies: 1}},
		"a segment":               {[]toggle.Strategy{inSegment}, toggle.Reach{Strategies: 1}},
		"several":                 {[]toggle.Strategy{rollout("25", "default"), gradual}, toggle.Reach{Strategies: 2}},
		"a rollout and a segment": {[]toggle.Strategy{rollout("25", "default"), inSegment}, toggle.Reach{Strategies: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, toggle.Environment{Strategies: test.strategies}.Reach())
		})
	}
}
