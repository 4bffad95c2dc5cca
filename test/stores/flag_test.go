package stores_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

// due reads a whole range.
func due(tb testing.TB, g *ground, r feature.Range) (all []feature.Indexed) {
	tb.Helper()
	for after := (*feature.Indexed)(nil); ; {
		page, err := g.Flags.Due(tb.Context(), r, after)
		check(tb, err)
		all = append(all, page.Toggles...)
		if after = page.Next; after == nil {
			return all
		}
	}
}

// rangeOf is the range of a toggle that is fresh, or potentially stale.
func rangeOf(f feature.Feature, potentiallyStale bool, cutoff *time.Time) feature.Range {
	return feature.Range{Type: f.Type, Shard: feature.Shard(f.Name), PotentiallyStale: potentiallyStale, Cutoff: cutoff}
}

func indexedOf(f feature.Feature) feature.Indexed {
	return feature.Indexed{Name: f.Name, CreatedAt: datetime.Format(f.CreatedAt)}
}

func flags() []property {
	_, created := instant()
	all := []property{
		{"what is due is divided at the cutoff, to the millisecond", func(t *testing.T, g *ground) {
			f := toggle("f")
			check(t, g.Features.Create(t.Context(), f))
			for _, potentiallyStale := range []bool{false, true} {
				for _, tt := range []struct {
					cutoff *time.Time
					in     bool
				}{
					{nil, true},
					{new(created.Add(-time.Millisecond)), potentiallyStale},
					{&created, !potentiallyStale},
					{new(created.Add(time.Millisecond)), !potentiallyStale},
				} {
					if got := due(t, g, rangeOf(f, potentiallyStale, tt.cutoff)); (len(got) == 1) != tt.in {
						t.Errorf("potentially stale: %t, cutoff %v: %v", potentiallyStale, tt.cutoff, got)
					}
				}
				if !potentiallyStale {
					g.flag(t, f)
				}
			}
		}},
		{"other types, shards and flags, archived and stale ones are not due", func(t *testing.T, g *ground) {
			f, archived, stale := toggle("f"), toggle("f"), toggle("f")
			archived.Archived, stale.Stale = true, true
			names := sameShard(feature.Shard("f"), 3)
			f.Name, archived.Name, stale.Name = names[0], names[1], names[2]
			for _, f := range []feature.Feature{f, archived, stale} {
				check(t, g.Features.Create(t.Context(), f))
			}
			r := rangeOf(f, false, nil)
			if diff := cmp.Diff([]feature.Indexed{indexedOf(f)}, due(t, g, r)); diff != "" {
				t.Error(diff)
			}
			for _, other := range []feature.Range{
				{Type: "releas", Shard: r.Shard}, {Type: "release#fresh", Shard: r.Shard}, {Type: r.Type, Shard: (r.Shard + 1) % feature.Shards},
				{Type: r.Type, Shard: r.Shard, PotentiallyStale: true},
			} {
				if got := due(t, g, other); got != nil {
					t.Errorf("%+v: %v", other, got)
				}
			}
		}},
		{"a range of several pages is read whole, the oldest first, also while it is flipped", func(t *testing.T, g *ground) {
			const n = 300
			want := make([]string, n)
			names := sameShard(0, n)
			atOnce(n, func(i int) {
				f := toggle(names[i])
				f.CreatedAt = created.Add(time.Duration(i/2) * time.Millisecond)
				if err := g.Features.Create(t.Context(), f); err != nil {
					t.Error(err)
				}
			})
			r := feature.Range{Type: "release", Cutoff: new(created.Add(time.Hour))}
			seen := map[string]bool{}
			last := ""
			for after := (*feature.Indexed)(nil); ; {
				page, err := g.Flags.Due(t.Context(), r, after)
				check(t, err)
				for _, found := range page.Toggles {
					if seen[found.Name] || found.CreatedAt < last {
						t.Errorf("%s again, or too late", found.Name)
					}
					seen[found.Name], last = true, found.CreatedAt
					flipped, err := g.Flags.Flip(t.Context(), r, found)
					check(t, err)
					if !flipped {
						t.Errorf("%s is not flipped", found.Name)
					}
				}
				if after = page.Next; after == nil {
					break
				}
			}
			if len(seen) != len(want) {
				t.Errorf("%d toggles", len(seen))
			}
			r.Cutoff = nil
			if left := due(t, g, r); left != nil {
				t.Errorf("%d are left", len(left))
			}
		}},
		{"flipped, and back", func(t *testing.T, g *ground) {
			f := toggle("f")
			check(t, g.Features.Create(t.Context(), f))
			for _, flag := range []bool{true, false} {
				flips(t, g, rangeOf(f, !flag, nil), f, true)
				flips(t, g, rangeOf(f, !flag, nil), f, false)
				got, err := g.Features.Get(t.Context(), "f")
				check(t, err)
				f.PotentiallyStale = flag
				if diff := cmp.Diff(f, got); diff != "" {
					t.Error(diff)
				}
				if found := due(t, g, rangeOf(f, flag, nil)); len(found) != 1 {
					t.Errorf("found %v", found)
				}
			}
		}},
		{"flipped by many at once it is flipped once", func(t *testing.T, g *ground) {
			f := toggle("f")
			check(t, g.Features.Create(t.Context(), f))
			var times atomic.Int64
			atOnce(clients, func(int) {
				flipped, err := g.Flags.Flip(t.Context(), rangeOf(f, false, nil), indexedOf(f))
				if err != nil {
					t.Error(err)
				}
				if flipped {
					times.Add(1)
				}
			})
			if times.Load() != 1 {
				t.Errorf("%d times", times.Load())
			}
		}},
		{"a toggle that is not there is not made", func(t *testing.T, g *ground) {
			f := toggle("f")
			flips(t, g, rangeOf(f, false, nil), f, false)
			if _, err := g.Features.Get(t.Context(), "f"); !errors.Is(err, feature.ErrNotFound) {
				t.Error(err)
			}
		}},
		{"another toggle of that name is not flipped", func(t *testing.T, g *ground) {
			f := toggle("f")
			other := f
			other.CreatedAt = created.Add(time.Millisecond)
			check(t, g.Features.Create(t.Context(), f))
			check(t, g.Features.Delete(t.Context(), "f"))
			check(t, g.Features.Create(t.Context(), other))
			flips(t, g, rangeOf(f, false, nil), f, false)
		}},
	}
	for name, change := range map[string]func(*feature.Feature){
		"re-typed":        func(f *feature.Feature) { f.Type = "operational" },
		"archived":        func(f *feature.Feature) { f.Archived = true },
		"marked as stale": func(f *feature.Feature) { f.Stale = true },
	} {
		all = append(all, property{name + " meanwhile it is not flipped", func(t *testing.T, g *ground) {
			f := toggle("f")
			for _, flag := range []bool{false, true} {
				check(t, g.Features.Create(t.Context(), f))
				if flag {
					g.flag(t, f)
				}
				want := update(t, g, change)
				flips(t, g, rangeOf(f, flag, nil), f, false)
				got, err := g.Features.Get(t.Context(), "f")
				check(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				check(t, g.Features.Delete(t.Context(), "f"))
			}
		}})
	}
	return all
}

func flips(tb testing.TB, g *ground, r feature.Range, f feature.Feature, want bool) {
	tb.Helper()
	flipped, err := g.Flags.Flip(tb.Context(), r, indexedOf(f))
	check(tb, err)
	if flipped != want {
		tb.Errorf("flipped: %t", flipped)
	}
}

// sameShard gives names of one shard.
func sameShard(shard, n int) (names []string) {
	for i := 0; len(names) < n; i++ {
		if name := fmt.Sprint("toggle", i); feature.Shard(name) == shard {
			names = append(names, name)
		}
	}
	return names
}

// reevaluate flags the toggle of filled that is due.
func reevaluate(ctx context.Context, db *database, c *dynamodb.Client) error {
	e := &staleness.Evaluator{Toggles: db.flags(c), Now: later, Pause: dynamo.Pause}
	o := e.Evaluate(ctx, []featuretype.FeatureType{{ID: "experiment", LifetimeDays: new(int64(1))}})[0]
	switch {
	case o.Err != nil:
		return o.Err
	case o.Left > 0:
		return apierror.NewUnavailable(errors.New("it had no time"))
	}
	f, err := db.features(db.client).Get(context.WithoutCancel(ctx), "due")
	return errors.Join(err, must(f.PotentiallyStale))
}
