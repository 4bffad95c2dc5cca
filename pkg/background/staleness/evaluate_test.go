package staleness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/background/staleness"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// crowd is toggles whose calls take time and may fail. All of them are due until they are flipped. Tests run it with
// the clock of a bubble, which the engine does not have.
type crowd struct {
	staleness.Toggles

	takes   time.Duration
	fail    func(*crowd) error // nil: never
	refused string             // toggles whose names are lower cannot be written

	mu                   sync.Mutex
	toggles              map[string][]string // by type
	calls, running, most int
}

// newCrowd returns n toggles of the type release.
func newCrowd(n int) *crowd {
	c := &crowd{takes: time.Millisecond, toggles: map[string][]string{}}
	for i := range n {
		c.toggles["release"] = append(c.toggles["release"], fmt.Sprintf("toggle%04d", i))
	}
	return c
}

func (c *crowd) call(ctx context.Context) (err error) {
	c.mu.Lock()
	c.calls++
	c.running++
	c.most = max(c.most, c.running)
	if c.fail != nil {
		err = c.fail(c)
	}
	takes := c.takes
	c.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	c.running--
	c.mu.Unlock()
	return err
}

// Due implements staleness.Toggles.
func (c *crowd) Due(ctx context.Context, r stalenessindex.Range, after *toggle.Feature) (page stalenessindex.Page, err error) {
	if err := c.call(ctx); err != nil || r.PotentiallyStale {
		return stalenessindex.Page{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.toggles[r.Type] {
		if featuretable.Shard(name) != r.Shard || after != nil && name <= after.Name {
			continue
		}
		if page.Toggles = append(page.Toggles, toggle.Feature{Name: name}); len(page.Toggles) == 20 {
			page.Next = &toggle.Feature{Name: name}
			break
		}
	}
	return page, nil
}

// Flip implements staleness.Toggles.
func (c *crowd) Flip(ctx context.Context, r stalenessindex.Range, toggles []toggle.Feature) (stalenessindex.Flips, error) {
	if err := c.call(ctx); err != nil {
		return stalenessindex.Flips{}, err
	}
	var names []string
	for _, t := range toggles {
		if t.Name < c.refused {
			return stalenessindex.Flips{}, errors.New("refused: " + t.Name)
		}
		names = append(names, t.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.toggles[r.Type] = slices.DeleteFunc(c.toggles[r.Type], func(name string) bool {
		return slices.Contains(names, name)
	})
	return stalenessindex.Flips{Done: len(names)}, nil
}

// sameLifetime is types that all have the same lifetime.
type sameLifetime struct{ staleness.Types }

func (sameLifetime) Get(_ context.Context, id string) (toggle.Type, error) {
	return lifetime(id), nil
}

func lifetime(id string) toggle.Type {
	return toggle.Type{ID: id, LifetimeDays: new(int64(7))}
}

func (c *crowd) evaluate(ctx context.Context, types ...string) []staleness.Result {
	return (&staleness.Evaluator{Toggles: c, Types: sameLifetime{}, Now: time.Now, Pause: dynamo.Pause}).Evaluate(ctx,
		types)
}

var errThrottled, errBroken = &smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException"}, errors.New("broken")

// The number of concurrent calls is limited. A type with many toggles does not delay another.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1000)
		c.toggles["other"] = []string{"alone"}
		all := c.evaluate(t.Context(), "release", "other")
		r, other := all[0], all[1]
		if r.Flagged != 1000 || r.Read != 1000 || r.Writes != 64 || r.Left != 0 ||
			c.most > staleness.Concurrency+staleness.FlipConcurrency {
			t.Errorf("%d concurrent calls, %+v", c.most, r)
		}
		if r.Took < 64/staleness.FlipConcurrency*time.Millisecond || r.Took > 20*time.Millisecond ||
			r.LastFlip.Sub(r.Now) > r.Took {
			t.Errorf("took %s", r.Took)
		}
		if other.Flagged != 1 || other.LastFlip.Sub(other.Now) > r.Took/2 {
			t.Errorf("%s, %+v", r.Took, other)
		}
	})
}

func TestEvaluateStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"slow": nil, "throttled": errThrottled, "failing": errBroken} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const n, timeout = 10_000, 10 * time.Second
				c := newCrowd(n)
				c.takes, c.fail = 400*time.Millisecond, func(*crowd) error { return failure }
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				r := c.evaluate(ctx, "release")[0]
				if r.Took > timeout-time.Second || name != "failing" && r.Took < timeout-2*time.Second ||
					r.Left == 0 || (r.Err != nil) != (name == "failing") || c.running != 0 {
					t.Errorf("%d calls still run, %+v", c.running, r)
				}
				if name != "slow" {
					return
				}
				again := c.evaluate(t.Context(), "release")[0]
				if r.Flagged < n/4 || r.Flagged+again.Flagged != n || again.Read != again.Flagged || again.Left != 0 {
					t.Errorf("%+v, then %+v", r, again)
				}
			})
		})
	}
}

// Single failures do not end a run. A run ends early if all calls fail.
func TestFailures(t *testing.T) {
	t.Parallel()
	fails := func(err error, when func(*crowd) bool) func(*crowd) error {
		return func(c *crowd) error {
			if when(c) {
				return err
			}
			return nil
		}
	}
	for name, tt := range map[string]struct {
		fail    func(*crowd) error
		refused string
		flagged int
		calls   int // maximum
	}{
		"throttled": {fails(errThrottled, func(c *crowd) bool { return c.running > 4 }), "", 1000, 3144},
		"no response": {func(c *crowd) error {
			c.takes = time.Millisecond
			if c.calls == 1 {
				c.takes = time.Hour
			}
			return nil
		}, "", 1000, 145},
		"every 20th call": {fails(errBroken, func(c *crowd) bool { return c.calls%20 == 0 }), "", 1000, 1200},
		"an outage of a quarter of a second": {fails(errBroken, func(*crowd) bool {
			// The clock of a bubble starts at this time.
			elapsed := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
			return elapsed > 2*time.Millisecond && elapsed < time.Second/4
		}), "", 1000, 1400},
		"every call":        {fails(errBroken, func(*crowd) bool { return true }), "", 0, 32*12 + 32},
		"one toggle":        {nil, "toggle0001", 999, 1200},
		"toggles of a page": {nil, "toggle0020", 980, 1400},
		"all toggles":       {nil, "toggles", 0, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(1000)
				c.fail, c.refused = tt.fail, tt.refused
				r := c.evaluate(t.Context(), "release")[0]
				complete := tt.flagged == 1000
				if r.Flagged != tt.flagged || (r.Throttled > 0) != (name == "throttled") ||
					(r.Retried > 0) == (name == "throttled") || (r.Err == nil) != complete || (r.Left == 0) != complete {
					t.Errorf("%+v", r)
				}
				if c.calls > tt.calls || tt.refused == "" && r.Took > 3*time.Second/2 {
					t.Errorf("%d calls, %s", c.calls, r.Took)
				}
				if name == "one toggle" &&
					(r.Left != 1 || r.Err.Error() != "refused: toggle0000" || r.Retried != 11) {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}
