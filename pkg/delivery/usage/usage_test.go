package usage_test

import (
	"math"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/test/helper/assert"
)

// The counts of a toggle are the sum over its applications. A sum does not change what it adds up.
func TestTally(t *testing.T) {
	t.Parallel()
	tally := usage.NewTally()
	first := usage.Counts{Yes: 2, Variants: map[string]int64{"red": 2}}
	tally.Add("banner", "shop", first)
	tally.Add("banner", "shop", usage.Counts{Yes: 1, No: 4, Variants: map[string]int64{"red": 1, "blue": 3}})
	tally.Add("banner", "blog", usage.Counts{No: 7})
	assert.Equal(t, usage.Counts{Yes: 3, No: 4, Variants: map[string]int64{"red": 3, "blue": 3}},
		tally.Features["banner"]["shop"])
	assert.Equal(t, usage.Counts{Yes: 3, No: 11, Variants: map[string]int64{"red": 3, "blue": 3}},
		tally.Features["banner"].Total())
	assert.Equal(t, usage.Counts{Yes: 2, Variants: map[string]int64{"red": 2}}, first)
}

// A sum that is too large is the largest number.
func TestLargeSum(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64
	one := usage.Counts{Yes: 1, No: 1, Variants: map[string]int64{"red": 1}}
	all := usage.Counts{Yes: most, No: most - 1, Variants: map[string]int64{"red": most}}
	assert.Equal(t, usage.Counts{Yes: most, No: most, Variants: map[string]int64{"red": most}}, all.Plus(one))
}

// Of an instance that two processes heard from, the later report wins, in either order. It keeps an SDK that only the
// earlier one names.
func TestPresence(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 8, 30, 0, 0, time.UTC)
	early := usage.Presence{"shop": {
		Projects: []string{"web"},
		Instances: map[string]usage.Instance{
			"1": {SDK: "old:1", SeenAt: at}, "2": {SDK: "old:1", SeenAt: at}, "3": {SDK: "old:1", SeenAt: at},
		},
	}}
	late := usage.Presence{"shop": {
		Projects:   []string{"app", "web"},
		Strategies: []string{"default"},
		Instances: map[string]usage.Instance{
			"1": {SDK: "new:2", SeenAt: at.Add(time.Minute)}, "3": {SeenAt: at.Add(time.Minute)},
		},
	}}
	for _, order := range [][]usage.Presence{{early, late}, {late, early}} {
		sum := usage.Presence{}
		sum.Merge(order[0])
		sum.Merge(order[1])
		assert.Equal(t, usage.Presence{"shop": {
			Projects:   []string{"app", "web"},
			Strategies: []string{"default"},
			Instances: map[string]usage.Instance{
				"1": {SDK: "new:2", SeenAt: at.Add(time.Minute)},
				"2": {SDK: "old:1", SeenAt: at},
				"3": {SDK: "old:1", SeenAt: at.Add(time.Minute)},
			},
		}}, sum)
		assert.Equal(t, at.Add(time.Minute), sum["shop"].SeenAt())
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	sum := usage.Requests{"/ofrep": {Successful: 1}}
	sum.Merge(usage.Requests{"/ofrep": {Successful: 2, ServerErrors: 1}, "/edge": {ClientErrors: 3}})
	assert.Equal(t, usage.Requests{"/ofrep": {Successful: 3, ServerErrors: 1}, "/edge": {ClientErrors: 3}}, sum)
}
