package feature_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// rangeOf returns a range that contains the toggle.
func rangeOf(f feature.Feature, potentiallyStale bool) feature.Range {
	r := feature.Range{Type: f.Type, Shard: feature.Shard(f.Name), PotentiallyStale: potentiallyStale}
	if !potentiallyStale {
		r.Cutoff = &f.CreatedAt
	}
	return r
}

// flip flips a toggle, even if f is what an index that is behind shows.
func (db tables) flip(tb testing.TB, r feature.Range, f feature.Feature, want bool) {
	tb.Helper()
	flipped := false
	for toggles := []feature.Feature{f}; len(toggles) > 0; {
		flips, err := db.store.Flip(tb.Context(), r, toggles)
		assert.OK(tb, err)
		flipped, toggles = flips.Done == 1, flips.Again
	}
	assert.Equal(tb, want, flipped)
}

// due reads the first page of a range.
func (db tables) due(tb testing.TB, r feature.Range) feature.Page {
	tb.Helper()
	page, err := db.store.Due(tb.Context(), r, nil)
	assert.OK(tb, err)
	return page
}

// The cutoff divides a range to the millisecond. A flip moves a toggle from one range to the other.
func TestDueAndFlip(t *testing.T) {
	t.Parallel()
	db, f := newTables(t), toggle("f")
	db.create(t, f)
	for _, flag := range []bool{false, true} {
		r := rangeOf(f, flag)
		stored, page := db.get(t, "f"), db.due(t, r)
		same(t, feature.Page{Toggles: []feature.Feature{stored}}, page)
		assert.Equal(t, stored.LastEvent, page.Toggles[0].LastEvent)
		for after, fresh := range map[time.Duration]bool{-time.Millisecond: false, 0: true, time.Millisecond: true} {
			r := r
			r.Cutoff = new(created().Add(after))
			if got := db.due(t, r); (len(got.Toggles) == 1) != (fresh != flag) || r.Contains(f) != (fresh != flag) {
				t.Errorf("flag %t, cutoff after %s: %v", flag, after, got)
			}
		}
		none := rangeOf(f, flag)
		none.Cutoff = nil
		if got := db.due(t, none); (len(got.Toggles) == 1) != flag || none.Contains(f) != flag {
			t.Errorf("flag %t, no cutoff: %v", flag, got)
		}
		for _, other := range []feature.Range{
			{Type: "releas", Shard: r.Shard, PotentiallyStale: flag, Cutoff: r.Cutoff},
			{Type: r.Type, Shard: (r.Shard + 1) % feature.Shards, PotentiallyStale: flag, Cutoff: r.Cutoff},
			{Type: r.Type, Shard: r.Shard, PotentiallyStale: !flag},
		} {
			same(t, feature.Page{}, db.due(t, other))
		}
		db.flip(t, r, f, true)
		db.flip(t, r, f, false)
		f.PotentiallyStale = !flag
		same(t, f, db.get(t, "f"))
	}
}

// A range of several pages is read completely, ordered by time of creation, while its toggles are flipped.
func TestDuePages(t *testing.T) {
	t.Parallel()
	const n = 170
	db := newTables(t)
	var all sync.WaitGroup
	for i, number := 0, 0; i < n; number++ {
		f := toggle(fmt.Sprint("toggle", number))
		if feature.Shard(f.Name) != 0 {
			continue
		}
		f.CreatedAt = created().Add(time.Duration(i/2) * time.Millisecond)
		all.Go(func() {
			if err := db.store.Create(t.Context(), f); err != nil {
				t.Error(err)
			}
		})
		i++
	}
	all.Wait()
	r := feature.Range{Type: "release", Cutoff: new(created().Add(time.Hour))}
	seen, last, sizes := map[string]bool{}, time.Time{}, []int{}
	for after := (*feature.Feature)(nil); len(sizes) < 4; {
		page, err := db.store.Due(t.Context(), r, after)
		assert.OK(t, err)
		for _, found := range page.Toggles {
			if seen[found.Name] || found.CreatedAt.Before(last) {
				t.Errorf("%s is repeated or out of order", found.Name)
			}
			seen[found.Name], last = true, found.CreatedAt
		}
		for batch := range slices.Chunk(page.Toggles, feature.MaxFlips) {
			if flips, err := db.store.Flip(t.Context(), r, batch); err != nil || flips.Done != len(batch) {
				t.Errorf("%+v, %v", flips, err)
			}
		}
		sizes = append(sizes, len(page.Toggles))
		if after = page.Next; after == nil {
			break
		}
	}
	assert.Equal(t, []int{100, 70}, sizes)
	assert.Equal(t, n, len(seen))
	same(t, feature.Page{}, db.due(t, r))
}

// A toggle that changed after it was read from the index is not flipped.
func TestFlipIsOvertaken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"retyped", "archived", "marked", "deleted", "created again"} {
		for _, flag := range []bool{false, true} {
			db, f := newTables(t), toggle("f")
			db.create(t, f)
			if flag {
				db.flip(t, rangeOf(f, false), f, true)
			}
			if change, ok := changes[name]; ok {
				db.update(t, "f", change)
			} else {
				assert.OK(t, db.store.Delete(t.Context(), "f"))
			}
			if name == "created again" {
				again := f
				changes["later"](&again)
				db.create(t, again)
			}
			before, err := db.store.List(t.Context())
			assert.OK(t, err)
			db.flip(t, rangeOf(f, flag), f, false)
			after, err := db.store.List(t.Context())
			assert.OK(t, err)
			same(t, before, after)
		}
	}
}

// Due and Flip do not repeat failed calls.
func TestFlagCallsFail(t *testing.T) {
	t.Parallel()
	db, f := newTables(t), toggle("f")
	client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) { return c.Refuse("ThrottlingException") })
	flags := db.through(client)
	if page, err := flags.Due(t.Context(), rangeOf(f, false), nil); err == nil {
		t.Error(page)
	}
	if flips, err := flags.Flip(t.Context(), rangeOf(f, false), []feature.Feature{f}); err == nil {
		t.Error(flips)
	}
	assert.Equal(t, "Query TransactWriteItems", tap.Calls())
}

func TestCutoff(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	created := time.Date(2026, 11, 13, 12, 0, 0, 5_000_000, time.UTC)
	far := created.AddDate(7000, 0, 0)
	for _, tt := range []struct {
		lifetime *int64
		now      time.Time
		due      bool
	}{
		{new(int64(7)), created.Add(7 * day), true},
		{new(int64(7)), created.Add(7*day - time.Millisecond), false},
		{new(int64(7)), created.Add(7*day - time.Nanosecond), false},
		{new(int64(7)), created.Add(7 * day).In(time.FixedZone("", -36_000)), true},
		{new(int64(1)), created.Add(day), true},
		{new(int64(math.MaxInt32)), far, false},
		{new(int64(math.MaxInt64)), far, false},
		{nil, far, false},
		{new(int64(0)), far, false},
		{new(int64(1)), created.Add(-time.Hour), false},
	} {
		cutoff := feature.Cutoff(tt.lifetime, tt.now)
		if due := cutoff != nil && !created.After(*cutoff); due != tt.due {
			t.Errorf("%+v: due %t, cutoff %v", tt, due, cutoff)
		}
	}
	// A time before the year 1 cannot be stored.
	early := time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC)
	if cutoff := feature.Cutoff(new(int64(365)), early); cutoff == nil || cutoff.Year() != 1 {
		t.Errorf("cutoff %v", cutoff)
	}
	if cutoff := feature.Cutoff(new(int64(366)), early); cutoff != nil {
		t.Errorf("cutoff %v", cutoff)
	}
}

// The index keys of stored toggles depend on these values, which were computed independently.
func TestShard(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": 5, "a": 12, "f": 9, "toggle": 5, "\U0001F600": 8} {
		assert.Equal(t, want, feature.Shard(name))
	}
}
