package staleness_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/staleness"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

// A lifetime that is replaced while a run waits does not change a flag any more.
func TestLifetimeIsReplacedDuringARun(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(s *stage) error{
		"no lifetime": func(s *stage) error {
			_, err := s.types.SetLifetime(context.Background(), "a", nil)
			return err
		},
		"a longer lifetime": func(s *stage) error {
			_, err := s.types.SetLifetime(context.Background(), "a", new(int64(30)))
			return err
		},
		"deleted": func(s *stage) error {
			s.db.Delete(t, s.db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S("a")})
			return nil
		},
	} {
		for _, waits := range []string{"TransactWriteItems", "ExclusiveStartKey"} { // a flip; the second page
			t.Run(name+", "+waits, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, "")
				toggles := 1
				for i := 0; waits == "ExclusiveStartKey" && toggles <= 2*feature.MaxFlips; i++ { // more than a page
					f := feature.Feature{Name: fmt.Sprint(i), Type: "a", CreatedAt: noon().AddDate(0, 0, -8)}
					if feature.Shard(f.Name) == feature.Shard("of a") {
						check(t, s.features.Create(t.Context(), f))
						toggles++
					}
				}
				var refused atomic.Bool
				var age atomic.Int64 // of the first calls
				client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
					if c.Operation != waits && !strings.Contains(c.Body, waits) {
						return c.Pass()
					}
					if refused.Swap(true) {
						t.Errorf("%s was repeated", c.Operation)
						return c.Pass()
					}
					return c.Refuse("ThrottlingException")
				})
				s.Evaluator.Pause = func(context.Context, int) error { // between attempts, which have a limit
					if !refused.Load() {
						return nil
					}
					err := replace(s)
					age.Store(int64(time.Second)) // the lifetime is read again
					return err
				}
				s.Evaluator.Toggles = feature.NewStore(client, s.db.Tables, s.db.Log())
				s.Evaluator.Now = func() time.Time { return noon().Add(time.Duration(age.Load())) }
				results := s.Evaluator.Evaluate(t.Context(), []string{"a"})
				if r := results[0]; r.Flagged != toggles-1 || r.Left != 0 || r.Err != nil || r.Throttled != 1 ||
					r.Found == (name == "deleted") {
					t.Errorf("%d toggles, %+v", toggles, r)
				}
			})
		}
	}
}

// Toggles that an attempt without a response flipped count as flipped, or as left if the run then ends.
func TestFlipsWithoutResponse(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{false, true} {
		t.Run(fmt.Sprint("the run ends: ", ends), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "")
			const n = 4 // of one shard, so in one transaction, which is then divided
			for i, created := 0, 1; created < n; i++ {
				f := feature.Feature{Name: fmt.Sprint(i), Type: "a", CreatedAt: noon().AddDate(0, 0, -8)}
				if feature.Shard(f.Name) == feature.Shard("of a") {
					check(t, s.features.Create(t.Context(), f))
					created++
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation != "TransactWriteItems" || c.N > 1 {
					return c.Pass()
				}
				if ends {
					cancel()
				}
				return c.Lose()
			})
			s.Evaluator.Toggles = feature.NewStore(client, s.db.Tables, s.db.Log())
			first := s.Evaluator.Evaluate(ctx, []string{"a"})[0]
			again := s.Evaluator.Evaluate(t.Context(), []string{"a"})[0]
			left := first.Left - (2*feature.Shards - first.Pages) // without the ranges that were not read
			if first.Flagged+left != n || (left > 0) != ends || first.Overtaken != 0 || again.Read != 0 {
				t.Errorf("%+v, then %+v", first, again)
			}
			if got := strings.Count(strings.Join(s.db.Events(t), "\n"), "feature-potentially-stale-on toggle:"); got != n {
				t.Errorf("%d events of %d flips", got, n)
			}
		})
	}
}

// onTheHour is a stage whose toggle of a is due at noon.
func onTheHour(tb testing.TB) *stage {
	tb.Helper()
	s := newStage(tb, "")
	check(tb, s.features.Delete(tb.Context(), "of a"))
	check(tb, s.features.Delete(tb.Context(), "of b"))
	check(tb, s.features.Create(tb.Context(),
		feature.Feature{Name: "of a", Type: "a", CreatedAt: noon().AddDate(0, 0, -7)}))
	return s
}

// A run that reads a toggle before it is due does not clear the flag that another run has set since then.
func TestRunsOverlap(t *testing.T) {
	t.Parallel()
	s := onTheHour(t)
	var late atomic.Bool
	client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if !late.Load() && c.Operation == "Query" && strings.Contains(c.Body, feature.StalenessKey("a", true, feature.Shard("of a"))) {
			if sum, err := s.Sweep(context.Background(), nil); err != nil || sum.Flagged != 1 {
				t.Error(sum, err)
			}
			late.Store(true)
		}
		return c.Pass()
	})
	slow := staleness.Handler{Logger: s.Logger, Evaluator: &staleness.Evaluator{
		Types: s.types, Toggles: feature.NewStore(client, s.db.Tables, s.db.Log()), Pause: dynamo.Pause, Concurrency: 4,
		Now: func() time.Time {
			if late.Load() {
				return noon()
			}
			return noon().Add(-time.Minute)
		},
	}}
	if sum, err := slow.Sweep(t.Context(), nil); err != nil || sum != (staleness.Summary{}) || s.flagged(t) != "a" {
		t.Errorf("%+v, %v, flagged: %s", sum, err, s.flagged(t))
	}
}

// A run whose clock is behind does not clear a flag, unless the toggle is due more than five seconds later.
func TestClockIsBehind(t *testing.T) {
	t.Parallel()
	s := onTheHour(t)
	for _, tt := range []struct {
		behind time.Duration
		want   staleness.Summary
	}{
		{0, staleness.Summary{Flagged: 1}}, {time.Millisecond, staleness.Summary{}}, {5 * time.Second, staleness.Summary{}},
		{5*time.Second + time.Millisecond, staleness.Summary{Unflagged: 1}},
	} {
		s.Evaluator.Now = func() time.Time { return noon().Add(-tt.behind) }
		if sum, err := s.Sweep(t.Context(), nil); err != nil || sum != tt.want {
			t.Errorf("%s behind: %+v, %v, want %+v", tt.behind, sum, err, tt.want)
		}
	}
}
