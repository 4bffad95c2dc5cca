package usage_test

import (
	"math"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/test/assert"
)

// The usage of an hour is the sum of the tallies of all processes.
func TestTally(t *testing.T) {
	t.Parallel()
	a, b := usage.NewTally(), usage.NewTally()
	a.Add("banner", "shop", usage.Counts{Yes: 2, Variants: map[string]int64{"red": 2}})
	a.AddUnknown("removed", "shop", 1)
	b.Add("banner", "shop", usage.Counts{Yes: 1, No: 4, Variants: map[string]int64{"red": 1, "blue": 3}})
	b.Add("banner", "blog", usage.Counts{No: 7})
	b.AddUnknown("removed", "shop", 2)
	sum := usage.NewTally()
	sum.Merge(a)
	sum.Merge(b)
	want := usage.Tally{
		Features: map[string]usage.ByApplication{"banner": {
			"shop": {Yes: 3, No: 4, Variants: map[string]int64{"red": 3, "blue": 3}},
			"blog": {No: 7},
		}},
		Unknown: map[string]map[string]int64{"removed": {"shop": 3}},
	}
	assert.Equal(t, want, sum)
	assert.Equal(t, usage.Counts{Yes: 3, No: 11, Variants: map[string]int64{"red": 3, "blue": 3}},
		sum.Features["banner"].Total())
	assert.Equal(t, usage.Counts{Yes: 2, Variants: map[string]int64{"red": 2}}, a.Features["banner"]["shop"])
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
