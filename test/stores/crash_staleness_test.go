package stores_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

// TestReevaluationCrashesAfterEachWrite ends a run after its k-th write, whose answer nobody hears, for each k. The next run does what is
// left, reads nothing else, and leaves nothing.
func TestReevaluationCrashesAfterEachWrite(t *testing.T) {
	t.Parallel()
	const n = 12
	for name, ground := range grounds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			for k := range n {
				release := featuretype.FeatureType{ID: fmt.Sprint("release", k), LifetimeDays: new(int64(7))}
				for i := range n {
					f := toggle(fmt.Sprint(release.ID, "-", i))
					f.Type = release.ID
					check(t, g.Features.Create(t.Context(), f))
				}
				ctx, crash := context.WithCancel(t.Context())
				e := &staleness.Evaluator{
					Toggles: &faultyFlags{Toggles: g.Flags, faults: &faults{writes: k, crash: crash}, index: &lateIndex{before: map[feature.Range][]feature.Indexed{}}},
					Now:     later, Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
				}
				first := e.Evaluate(ctx, []featuretype.FeatureType{release})[0]
				if crash(); first.Flagged > k || first.Left == 0 {
					t.Errorf("crashed after %d: %+v", k, first)
				}
				written := 0
				for i := range n {
					f, err := g.Features.Get(t.Context(), fmt.Sprint(release.ID, "-", i))
					check(t, err)
					if f.PotentiallyStale {
						written++
					}
				}
				e.Toggles = g.Flags
				second := e.Evaluate(t.Context(), []featuretype.FeatureType{release})[0]
				if written <= k || second.Flagged != n-written || second.Read != second.Flagged || second.Left != 0 || second.Err != nil {
					t.Errorf("crashed after %d, %d were written: %+v", k, written, second)
				}
			}
		})
	}
}

// TestAFlipWithoutAnswerIsOfThisRun: the attempt after it finds the toggle flipped, and what the log and the metrics say is that this run did
// it; but a toggle that somebody else has flipped was overtaken.
func TestAFlipWithoutAnswerIsOfThisRun(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*database, *call) (*http.Response, error){
		"lost": func(_ *database, c *call) (*http.Response, error) { return c.lose() },
		"overtaken": func(db *database, c *call) (*http.Response, error) {
			db.flag(t, toggle("f"))
			return c.pass()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t)
			check(t, db.features(db.client).Create(t.Context(), toggle("f")))
			client, _ := db.through(t, func(c *call) (*http.Response, error) {
				if c.operation == "UpdateItem" && c.n == 1 {
					return answer(db, c)
				}
				return c.pass()
			})
			e := &staleness.Evaluator{Toggles: db.flags(client), Now: later, Pause: dynamo.Pause}
			o := e.Evaluate(t.Context(), []featuretype.FeatureType{{ID: "release", LifetimeDays: new(int64(1))}})[0]
			if lost := name == "lost"; o.Err != nil || o.Writes != 1 || (o.Flagged == 1) != lost || (o.Overtaken == 0) != lost {
				t.Errorf("%+v", o)
			}
		})
	}
}
