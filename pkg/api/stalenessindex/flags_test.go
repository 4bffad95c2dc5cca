package stalenessindex_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/toggles"
)

// The cutoff divides a range to the millisecond. A flip moves a toggle from one range to the other.
func TestDueAndFlip(t *testing.T) {
	t.Parallel()
	db, f := toggles.NewFixture(t), toggles.New(t, `{"type":"long"}`)
	db.Create(t, `{"type":"long"}`)
	for flips := range 2 {
		stored := db.Toggle(t, "f")
		for _, test := range []struct {
			of       string // the range
			before   int    // toggles in the range
			after    int    // toggles in the range, after the flip
			contains bool
		}{
			{`{"cutoff":"2026-11-20T05:39:00.122Z"}`, 0, 0, false},
			{`{"cutoff":"2026-11-20T05:39:00.123Z"}`, 1, 0, true},
			{`{"cutoff":"2026-11-20T05:39:00.124Z"}`, 1, 0, true},
			{`{"cutoff":"2026-11-20T05:39:00.123Z","type":"lon"}`, 0, 0, true},
			{`{"cutoff":"2026-11-20T05:39:00.123Z","shard":10}`, 0, 0, true},
			{`{"cutoff":null}`, 0, 0, false},
			{`{"potentiallyStale":true,"cutoff":"2026-11-20T05:39:00.122Z"}`, 0, 1, true},
			{`{"potentiallyStale":true,"cutoff":"2026-11-20T05:39:00.123Z"}`, 0, 0, false},
			{`{"potentiallyStale":true,"cutoff":"2026-11-20T05:39:00.124Z"}`, 0, 0, false},
			{`{"potentiallyStale":true,"type":"lon"}`, 0, 0, true},
			{`{"potentiallyStale":true,"shard":10}`, 0, 0, true},
			{`{"potentiallyStale":true}`, 0, 1, true},
		} {
			r := toggles.RangeOf(f, false)
			r.Cutoff = nil
			assert.OK(t, json.Unmarshal([]byte(test.of), &r))
			page, err := db.Flags.Due(t.Context(), r, nil)
			assert.OK(t, err)
			want := test.before
			if flips == 1 {
				want = test.after
			}
			if len(page.Toggles) != want || r.Contains(f) != test.contains {
				t.Errorf("%s after %d flips: %d toggles, Contains: %t", test.of, flips, len(page.Toggles), r.Contains(f))
			}
			for _, found := range page.Toggles {
				toggles.Same(t, stored, found)
				assert.Equal(t, stored.LastEvent, found.LastEvent)
			}
		}
		r := toggles.RangeOf(f, flips == 1)
		db.Flip(t, r, f, true)
		db.Flip(t, r, f, false)
		f.PotentiallyStale = !f.PotentiallyStale
		toggles.Same(t, f, db.Toggle(t, "f"))
	}
}

// A range of several pages is read completely, ordered by time of creation, while its toggles are flipped.
func TestDuePages(t *testing.T) {
	t.Parallel()
	db, r := toggles.NewFixture(t), toggles.RangeOf(toggles.New(t, `{"createdAt":"2026-11-21T00:00:00Z"}`), false)
	for i := range 170 {
		db.Put(t, db.Tables["Features"], dynamo.Item{
			"name": dynamo.S(fmt.Sprint(i)), "createdAt": dynamo.Time(toggles.Created().Add(time.Duration(i/3) * time.Millisecond)),
			"staleness": dynamo.S(featuretable.StalenessKey(r.Type, false, r.Shard)),
		})
	}
	var last toggle.Feature
	var after *toggle.Feature
	for _, want := range []int{100, 70} {
		page, err := db.Flags.Due(t.Context(), r, after)
		assert.OK(t, err)
		after = page.Next
		assert.Equal(t, want, len(page.Toggles))
		for batch := range slices.Chunk(page.Toggles, stalenessindex.MaxFlips) {
			flips, err := db.Flags.Flip(t.Context(), r, batch) // each toggle once
			assert.OK(t, err)
			assert.Equal(t, stalenessindex.Flips{Done: len(batch)}, flips)
		}
		for _, f := range page.Toggles {
			if f.CreatedAt.Before(last.CreatedAt) {
				t.Errorf("%s is out of order", f.Name)
			}
			last = f
		}
	}
	if after != nil {
		t.Error(after)
	}
}

// A toggle that changed after it was read from the index is not flipped.
func TestFlipIsSuperseded(t *testing.T) {
	t.Parallel()
	db, f := toggles.NewFixture(t), toggles.New(t, `{"type":"long"}`)
	for _, now := range []string{`{"type":"x"}`, `{"type":"long","archived":true}`, `{"type":"long","stale":true}`, "",
		`{"type":"long","createdAt":"2026-11-20T05:39:00.124Z"}`} {
		if now != "" {
			db.Create(t, now)
		}
		before := db.List(t)
		db.Flip(t, toggles.RangeOf(f, false), f, false)
		assert.Equal(t, before, db.List(t))
		if now != "" {
			assert.OK(t, db.Store.Delete(t.Context(), "f", nil))
		}
	}
}

// A toggle whose stored time of creation has another form than this service writes cannot be flipped. It is not tried
// again at once, because nothing would have changed.
func TestFlipOfATimeInAnotherForm(t *testing.T) {
	t.Parallel()
	db, f := toggles.NewFixture(t), toggles.New(t, `{"type":"long"}`)
	db.Create(t, `{"type":"long"}`)
	item := db.Get(t, db.Tables["Features"], dynamo.Item{"name": dynamo.S("f")})
	item["createdAt"] = dynamo.S("2026-11-20T05:39:00.123000Z")
	db.Put(t, db.Tables["Features"], item)
	f.LastEvent = db.Toggle(t, "f").LastEvent
	flips, err := db.Flags.Flip(t.Context(), toggles.RangeOf(f, false), []toggle.Feature{f})
	assert.OK(t, err)
	assert.Equal(t, stalenessindex.Flips{Superseded: 1}, flips)
}

// Due and Flip do not repeat failed calls.
func TestFlagCallsFail(t *testing.T) {
	t.Parallel()
	db, f := toggles.NewFixture(t), toggles.New(t, `{}`)
	client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) { return c.Refuse("ThrottlingException") })
	flags := stalenessindex.NewFlags(client, db.Tables, db.Log())
	_, due := flags.Due(t.Context(), toggles.RangeOf(f, false), nil)
	_, flip := flags.Flip(t.Context(), toggles.RangeOf(f, false), []toggle.Feature{f})
	if due == nil || flip == nil {
		t.Error(due, flip)
	}
	assert.Equal(t, "Query TransactWriteItems", tap.Calls())
}
