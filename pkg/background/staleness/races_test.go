package staleness_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// createInShard creates n toggles of the type a in the shard of the first one.
func (s *stage) createInShard(tb testing.TB, n int) {
	tb.Helper()
	for i := 0; n > 0; i++ {
		if name := fmt.Sprint(i); featuretable.Shard(name) == featuretable.Shard("of a") {
			s.create(tb, "a", name)
			n--
		}
	}
}

// A lifetime that is replaced while a run waits does not change a flag any more.
func TestLifetimeIsReplacedDuringARun(t *testing.T) {
	t.Parallel()
	for waits, toggles := range map[string]int{
		"TransactWriteItems": 1,                             // a flip
		"ExclusiveStartKey":  2*stalenessindex.MaxFlips + 1, // the second page
	} {
		for _, deleted := range []bool{false, true} {
			t.Run(fmt.Sprint(waits, deleted), func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				s.createInShard(t, toggles-1)
				var refused, replaced atomic.Int64 // the number of times
				client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
					if c.Operation != waits && !strings.Contains(c.Body, waits) {
						return c.Pass()
					}
					if refused.Add(1) > 1 {
						t.Errorf("%s was repeated", c.Operation)
					}
					return c.Refuse("ThrottlingException")
				})
				s.use(client)
				s.Evaluator.Now = func() time.Time { return noon().Add(time.Duration(replaced.Load()) * time.Second) }
				s.Evaluator.Pause = func(ctx context.Context, _ int) error { // between attempts, which have a limit
					if refused.Load() == 0 {
						return nil
					}
					if deleted {
						s.db.Delete(t, s.db.Tables["FeatureTypes"], dynamo.Item{"id": dynamo.S("a")})
					} else if _, err := s.types.SetLifetime(ctx, "a", new(int64(30))); err != nil {
						return err
					}
					replaced.Add(1) // the lifetime is read again
					return nil
				}
				if r := s.evaluate(t.Context()); r.Flagged != toggles-1 || r.Left != 0 || r.Err != nil ||
					r.Throttled != 1 || r.Found == deleted {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

// Toggles that an attempt without a response flipped count as flipped, or as left if the run then ends. Toggles that
// another run flipped count as superseded.
func TestFlipsWithoutResponse(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"the run continues": "flagged 4, superseded 0, left 0, writes 2, last flip true, then 0",
		"the run ends":      "flagged 0, superseded 0, left 4, writes 0, last flip false, then 0",
		"another run":       "flagged 0, superseded 4, left 0, writes 2, last flip false, then 0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.createInShard(t, 3) // so that one transaction has all, and is then divided
			other := *s.Evaluator
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation != "TransactWriteItems" || c.N > 1 {
					return c.Pass()
				}
				if name == "another run" {
					return c.Refuse("ThrottlingException")
				}
				if name == "the run ends" {
					cancel()
				}
				return c.Lose()
			})
			s.use(client)
			s.Evaluator.Pause = func(ctx context.Context, _ int) error { // between attempts, which have a limit
				if name == "another run" {
					other.Evaluate(ctx, []string{"a"})
				}
				return ctx.Err()
			}
			r := s.evaluate(ctx)
			left := r.Left - (2*featuretable.Shards - r.Pages) // without the ranges that were not read
			assert.Equal(t, want, fmt.Sprintf("flagged %d, superseded %d, left %d, writes %d, last flip %t, then %d", r.Flagged,
				r.Superseded, left, r.Writes, !r.LastFlip.IsZero(), s.evaluate(t.Context()).Read))
			if got := strings.Count(strings.Join(s.db.Events(t), "\n"), "feature-potentially-stale-on toggle:"); got != 4 {
				t.Errorf("%d events of 4 flips", got)
			}
		})
	}
}

// yesterday is the time from which toggles are due.
func yesterday() time.Time { return noon().AddDate(0, 0, -1) }

// A run that reads a toggle before it is due does not clear the flag that another run has set since then.
func TestRunsOverlap(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	other := *s.Evaluator
	var late atomic.Bool
	client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if !late.Load() && c.Operation == "Query" && strings.Contains(c.Body, featuretable.StalenessKey("a", true, featuretable.Shard("of a"))) {
			if r := other.Evaluate(context.Background(), []string{"a"})[0]; r.Flagged != 1 {
				t.Errorf("%+v", r)
			}
			late.Store(true)
		}
		return c.Pass()
	})
	s.use(client)
	other.Now = yesterday
	s.Evaluator.Now = func() time.Time {
		if late.Load() {
			return yesterday()
		}
		return yesterday().Add(-time.Minute)
	}
	if r := s.evaluate(t.Context()); r.Flagged+r.Unflagged+r.Left != 0 || r.Err != nil || s.flagged(t) != "a" {
		t.Errorf("%+v, flagged: %s", r, s.flagged(t))
	}
}

// A run whose clock is behind does not clear a flag, unless the toggle is due more than five seconds later.
func TestClockIsBehind(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, tt := range []struct {
		behind             time.Duration
		flagged, unflagged int
	}{{0, 1, 0}, {time.Millisecond, 0, 0}, {5 * time.Second, 0, 0}, {5*time.Second + time.Millisecond, 0, 1}} {
		s.Evaluator.Now = func() time.Time { return yesterday().Add(-tt.behind) }
		if r := s.evaluate(t.Context()); r.Flagged != tt.flagged || r.Unflagged != tt.unflagged || r.Err != nil {
			t.Errorf("%s behind: %+v", tt.behind, r)
		}
	}
}
