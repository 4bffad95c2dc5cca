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

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
	"toggleadmin/test/memory"
)

// crowd is many toggles of the type release, all due, whose calls take a time and may fail.
type crowd struct {
	*memory.Memory
	takes  time.Duration
	fault  func(call int, running int) error // nil: none
	poison []string                          // toggles that cannot be written

	mu      sync.Mutex
	calls   int
	running int
	most    int
}

func newCrowd(t *testing.T, n int) *crowd {
	t.Helper()
	c := &crowd{Memory: memory.New(memory.Hooks{})}
	for i := range n {
		f := feature.Feature{Name: fmt.Sprint("toggle", i), Type: "release", CreatedAt: noon().AddDate(0, 0, -8)}
		if err := c.Features.Create(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func release() featuretype.FeatureType {
	return featuretype.FeatureType{ID: "release", LifetimeDays: new(int64(7))}
}

func (c *crowd) call(ctx context.Context) error {
	c.mu.Lock()
	c.calls++
	c.running++
	c.most = max(c.most, c.running)
	err := error(nil)
	if c.fault != nil {
		err = c.fault(c.calls, c.running)
	}
	takes := c.takes
	c.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	return err
}

// Due implements staleness.Toggles.
func (c *crowd) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error) {
	if err := c.call(ctx); err != nil {
		return feature.Page{}, err
	}
	return c.Features.Due(ctx, r, after)
}

// Flip implements staleness.Toggles.
func (c *crowd) Flip(ctx context.Context, r feature.Range, t feature.Indexed) (bool, error) {
	if err := c.call(ctx); err != nil {
		return false, err
	}
	if slices.Contains(c.poison, t.Name) {
		return false, errors.New("refused: " + t.Name)
	}
	return c.Features.Flip(ctx, r, t)
}

func (c *crowd) evaluator() *staleness.Evaluator {
	return &staleness.Evaluator{Toggles: c, Now: noon, Pause: func(ctx context.Context, attempt int) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(attempt) * 10 * time.Millisecond):
			return nil
		}
	}}
}

func throttled() error {
	return apierror.NewUnavailable(&smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException"})
}

func evaluate(ctx context.Context, c *crowd, types ...featuretype.FeatureType) staleness.Outcome {
	return c.evaluator().Evaluate(ctx, types)[0]
}

func TestEverythingThatIsDueIsFlipped(t *testing.T) {
	t.Parallel()
	const n = 500
	c := newCrowd(t, n)
	o := evaluate(t.Context(), c, release())
	if o.Flagged != n || o.Read != n || o.Writes != n || o.Left != 0 || o.Err != nil {
		t.Errorf("%+v", o)
	}
	if o := evaluate(t.Context(), c, release()); o.Read != 0 || o.Writes != 0 || o.Pages != 2*feature.Shards {
		t.Errorf("again: %+v", o)
	}
	if o := evaluate(t.Context(), c, featuretype.FeatureType{ID: "release"}); o.Unflagged != n || o.Left != 0 {
		t.Errorf("without a lifetime: %+v", o)
	}
	if o := evaluate(t.Context(), c, featuretype.FeatureType{ID: "release"}); o.Pages != feature.Shards || o.Read != 0 {
		t.Errorf("again without a lifetime: %+v", o)
	}
}

// Time passes by itself in these: a bubble's clock.

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 1000)
		c.takes = time.Millisecond
		if o := evaluate(t.Context(), c, release()); o.Flagged != 1000 || c.most != staleness.Concurrency {
			t.Errorf("%d at once, %+v", c.most, o)
		}
	})
}

// A table that bears four calls at once gets about four, and everything is done.
func TestThrottlingSlowsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, bears = 1000, 4
		c := newCrowd(t, n)
		c.takes = time.Millisecond
		c.fault = func(_, running int) error {
			if running > bears {
				return throttled()
			}
			return nil
		}
		o := evaluate(t.Context(), c, release())
		if o.Flagged != n || o.Left != 0 || o.Err != nil || o.Throttled == 0 || o.Retried != 0 {
			t.Errorf("%+v", o)
		}
		if o.Throttled > n/2 {
			t.Errorf("%d of %d calls were refused", o.Throttled, c.calls)
		}
	})
}

// Calls that were under way together and are all refused say one thing: the limit is halved once.
func TestThrottlingAtOnceHalvesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 1000)
		c.takes = time.Millisecond
		after := 0
		c.fault = func(call, running int) error {
			switch {
			case call <= staleness.Concurrency:
				return throttled()
			case call > 2*staleness.Concurrency && call <= 3*staleness.Concurrency: // those refused have been tried again, and made room
				after = max(after, running)
			}
			return nil
		}
		o := evaluate(t.Context(), c, release())
		if after < staleness.Concurrency/2 || after > staleness.Concurrency*2/3 || o.Flagged != 1000 || o.Throttled != staleness.Concurrency {
			t.Errorf("then %d at once, %+v", after, o)
		}
	})
}

func TestItStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(call, running int) error{
		"slow":             nil,
		"throttled always": func(int, int) error { return throttled() },
		"no answer at all": func(int, int) error { return errors.New("broken") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const n = 1000
				c := newCrowd(t, n)
				c.takes = 400 * time.Millisecond
				c.fault = fault
				const timeout = 10 * time.Second
				started := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				e := c.evaluator()
				e.Now = inBubble
				o := e.Evaluate(ctx, []featuretype.FeatureType{release()})[0]
				if took := time.Since(started); took > timeout-500*time.Millisecond {
					t.Errorf("it took %s", took)
				}
				if o.Left == 0 || (o.Err != nil) != (name == "no answer at all") {
					t.Errorf("%+v", o)
				}
				if c.running != 0 {
					t.Errorf("%d calls still run", c.running)
				}
				if name != "slow" {
					return
				}
				if o.Flagged < n/3 {
					t.Errorf("it did not use its time: %+v", o)
				}
				c.takes = 0
				if again := evaluate(t.Context(), c, release()); o.Flagged+again.Flagged != n || again.Read != again.Flagged || again.Left != 0 {
					t.Errorf("%+v, then %+v", o, again)
				}
			})
		})
	}
}

// One attempt that hangs costs a second, not the run.
func TestACallThatHangsIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 3)
		c.fault = func(call, _ int) error {
			if c.takes = 0; call == 1 {
				c.takes = time.Hour
			}
			return nil
		}
		started := time.Now()
		if o := evaluate(t.Context(), c, release()); o.Flagged != 3 || o.Retried == 0 || o.Err != nil {
			t.Errorf("%+v", o)
		}
		if took := time.Since(started); took > 2*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// Faults here and there are borne; a store that fails always is given up soon.
func TestFaultsAreBudgeted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 1000)
		c.fault = func(call, _ int) error {
			if call%20 == 0 {
				return errors.New("broken")
			}
			return nil
		}
		if o := evaluate(t.Context(), c, release()); o.Flagged != 1000 || o.Err != nil || o.Retried < 50 {
			t.Errorf("%+v", o)
		}
		c = newCrowd(t, 1000)
		c.fault = func(int, int) error { return errors.New("broken") }
		if o := evaluate(t.Context(), c, release()); o.Err == nil || o.Left == 0 || c.calls > 1000 {
			t.Errorf("%d calls: %+v", c.calls, o)
		}
		c = newCrowd(t, 1000)
		for i := range 1000 {
			c.poison = append(c.poison, fmt.Sprint("toggle", i))
		}
		if o := evaluate(t.Context(), c, release()); o.Err == nil || o.Left == 0 || c.calls > 1000 {
			t.Errorf("no toggle can be written, %d calls: %+v", c.calls, o)
		}
	})
}

// A toggle that can never be written holds up no other, and the log can say which it is.
func TestAToggleThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		c := newCrowd(t, n)
		c.takes = 50 * time.Millisecond
		c.poison = []string{"toggle0", "toggle1"}
		o := evaluate(t.Context(), c, release())
		if o.Flagged != n-2 || o.Left != 2 || o.Err == nil || !strings.Contains(o.Err.Error(), "refused: toggle") {
			t.Errorf("%+v", o)
		}
	})
}

// A type with much to do does not hold up another.
func TestTypesShareTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 1000)
		c.takes = 10 * time.Millisecond
		if err := c.Features.Create(t.Context(), feature.Feature{Name: "alone", Type: "other", CreatedAt: noon().AddDate(0, 0, -8)}); err != nil {
			t.Fatal(err)
		}
		other := release()
		other.ID = "other"
		e := c.evaluator()
		e.Now = inBubble
		all := e.Evaluate(t.Context(), []featuretype.FeatureType{release(), other})
		if took := all[1].LastFlip.Sub(all[1].Now); all[1].Flagged != 1 || took > 200*time.Millisecond {
			t.Errorf("after %s: %+v", took, all[1])
		}
		if all[0].Flagged != 1000 {
			t.Errorf("%+v", all[0])
		}
	})
}

// inBubble is a clock that begins at noon, where a bubble's begins with the year 2000.
func inBubble() time.Time { return noon().Add(time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))) }
