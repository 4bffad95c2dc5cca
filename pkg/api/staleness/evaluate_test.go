package staleness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/staleness"
	"toggleadmin/pkg/platform/dynamo"
)

// crowd is toggles whose calls take time and may fail. All of them are due until they are flipped. Tests run it with
// the clock of a bubble, which the engine does not have.
type crowd struct {
	staleness.Toggles

	takes   time.Duration
	fail    func(call, running int) error // nil: never
	refused []string                      // toggles that cannot be written

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

func (c *crowd) call(ctx context.Context) error {
	c.mu.Lock()
	c.calls++
	c.running++
	c.most = max(c.most, c.running)
	var err error
	if c.fail != nil {
		err = c.fail(c.calls, c.running)
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
func (c *crowd) Due(ctx context.Context, r feature.Range, after *feature.Feature) (page feature.Page, err error) {
	if err := c.call(ctx); err != nil || r.PotentiallyStale {
		return feature.Page{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.toggles[r.Type] {
		if feature.Shard(name) != r.Shard || after != nil && name <= after.Name {
			continue
		}
		if page.Toggles = append(page.Toggles, feature.Feature{Name: name}); len(page.Toggles) == 20 {
			page.Next = &feature.Feature{Name: name}
			break
		}
	}
	return page, nil
}

// Flip implements staleness.Toggles.
func (c *crowd) Flip(ctx context.Context, r feature.Range, toggles []feature.Feature) (flips feature.Flips, err error) {
	if err := c.call(ctx); err != nil {
		return feature.Flips{}, err
	}
	for _, t := range toggles {
		if slices.Contains(c.refused, t.Name) {
			return feature.Flips{}, errors.New("refused: " + t.Name)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range toggles {
		before := len(c.toggles[r.Type])
		c.toggles[r.Type] = slices.DeleteFunc(c.toggles[r.Type], func(name string) bool { return name == t.Name })
		flips.Done += before - len(c.toggles[r.Type])
	}
	flips.Overtaken = len(toggles) - flips.Done
	return flips, nil
}

// sameLifetime is types that all have the same lifetime.
type sameLifetime struct{ staleness.Types }

func (sameLifetime) Get(_ context.Context, id string) (featuretype.FeatureType, error) {
	return lifetime(id), nil
}

func lifetime(id string) featuretype.FeatureType {
	return featuretype.FeatureType{ID: id, LifetimeDays: new(int64(7))}
}

func (c *crowd) evaluate(ctx context.Context, types ...string) []staleness.Result {
	return (&staleness.Evaluator{Toggles: c, Types: sameLifetime{}, Now: time.Now, Pause: dynamo.Pause}).Evaluate(ctx,
		types)
}

func throttled() error {
	return &smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException"}
}

var errBroken = errors.New("broken")

func TestConcurrencyIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1000)
		r := c.evaluate(t.Context(), "release")[0]
		if r.Flagged != 1000 || r.Read != 1000 || r.Writes != 64 || r.Left != 0 || c.most != staleness.Concurrency {
			t.Errorf("%d concurrent calls, %+v", c.most, r)
		}
		if r.Took < (80+64)/staleness.Concurrency*time.Millisecond || r.Took > 20*time.Millisecond ||
			r.LastFlip.Sub(r.Now) > r.Took {
			t.Errorf("took %s", r.Took)
		}
	})
}

// A table that accepts only four concurrent calls does not make a run fail.
func TestThrottling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1000)
		c.fail = func(_, running int) error {
			if running > 4 {
				return throttled()
			}
			return nil
		}
		r := c.evaluate(t.Context(), "release")[0]
		if r.Flagged != 1000 || r.Left != 0 || r.Err != nil || r.Throttled == 0 || r.Retried != 0 {
			t.Errorf("%+v", r)
		}
		if r.Throttled > 3000 {
			t.Errorf("%d of %d calls were throttled", r.Throttled, c.calls)
		}
	})
}

func TestEvaluateStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(call, running int) error{
		"slow":             nil,
		"always throttled": func(int, int) error { return throttled() },
		"always failing":   func(int, int) error { return errBroken },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const n, timeout = 10_000, 10 * time.Second
				c := newCrowd(n)
				c.takes, c.fail = 400*time.Millisecond, fail
				started := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				r := c.evaluate(ctx, "release")[0]
				if took := time.Since(started); took > timeout-time.Second || name != "always failing" &&
					took < timeout-2*time.Second {
					t.Errorf("it took %s", took)
				}
				if r.Left == 0 || (r.Err != nil) != (name == "always failing") || c.running != 0 {
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

func TestCallWithoutResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(3)
		c.fail = func(call, _ int) error {
			if c.takes = time.Millisecond; call == 1 {
				c.takes = time.Hour
			}
			return nil
		}
		if r := c.evaluate(t.Context(), "release")[0]; r.Flagged != 3 || r.Retried != 1 || r.Err != nil ||
			r.Took > 1500*time.Millisecond {
			t.Errorf("%+v", r)
		}
	})
}

// Single failures do not end a run. A run ends early if all calls fail.
func TestFailures(t *testing.T) {
	t.Parallel()
	all := func(n int) (names []string) { return newCrowd(n).toggles["release"] }
	for name, tt := range map[string]struct {
		fail    func(call, running int) error
		refused []string
		flagged int
		calls   int // maximum
	}{
		"every 20th call": {func(call, _ int) error {
			if call%20 == 0 {
				return errBroken
			}
			return nil
		}, nil, 1000, 1200},
		"an outage of a quarter of a second": {func(int, int) error {
			// The clock of a bubble starts at this time.
			if elapsed := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); elapsed > 2*time.Millisecond &&
				elapsed < time.Second/4 {
				return errBroken
			}
			return nil
		}, nil, 1000, 1400},
		"every call":        {func(int, int) error { return errBroken }, nil, 0, 32*12 + 32},
		"one toggle":        {nil, all(1000)[:1], 999, 1200},
		"toggles of a page": {nil, all(20), 980, 1400},
		"all toggles":       {nil, all(1000), 0, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(1000)
				c.fail, c.refused = tt.fail, tt.refused
				r := c.evaluate(t.Context(), "release")[0]
				if r.Flagged != tt.flagged || r.Retried == 0 || c.calls > tt.calls {
					t.Errorf("%d calls, %+v", c.calls, r)
				}
				if complete := tt.flagged == 1000; (r.Err == nil) != complete || (r.Left == 0) != complete {
					t.Errorf("%+v", r)
				}
				if len(tt.refused) == 1 && (r.Left != 1 || !strings.Contains(r.Err.Error(), tt.refused[0]) || r.Retried != 11) {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// A type with many toggles does not delay another.
func TestTypesShareTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(2000)
		c.toggles["other"] = []string{"alone"}
		all := c.evaluate(t.Context(), "release", "other")
		if took := all[1].LastFlip.Sub(all[1].Now); all[1].Flagged != 1 || took > all[0].Took/2 || all[0].Flagged != 2000 {
			t.Errorf("after %s: %+v", took, all)
		}
	})
}
