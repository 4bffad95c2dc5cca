package feature_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/test/database"
)

const source = "s"

// flippedAt is the time of the first announcement in these tests, where the sequence of its toggle starts.
func flippedAt() time.Time { return created().AddDate(0, 0, 40) }

func (db tables) announcing() *feature.FlagStore {
	return feature.NewFlagStore(db.Client, db.Tables, source)
}

// announce flips the flag of a toggle and returns the announcements.
func (db tables) announce(tb testing.TB, f feature.Feature, flag bool, at time.Time) feature.Pending {
	tb.Helper()
	r := rangeOf(f, !flag)
	r.LifetimeDays = new(int64(40))
	flipped, p, err := db.announcing().Flip(tb.Context(), r, indexed(f), at)
	if check(tb, err); !flipped {
		tb.Fatal("not flipped")
	}
	return p
}

// writer returns the store of an operator, whose clock is a day after flippedAt.
func (db tables) writer() *feature.Store {
	return db.store.Announcing(featuretype.NewStore(db.Client, db.Tables), func() time.Time { return flippedAt().AddDate(0, 0, 1) })
}

// unannounced reads the announcements of all items in the index, page by page.
func (db tables) unannounced(tb testing.TB) (all []feature.Pending) {
	tb.Helper()
	for shard := range feature.Shards {
		for after := (*feature.PendingKey)(nil); ; {
			page, err := db.announcing().Unannounced(tb.Context(), shard, flippedAt().AddDate(1, 0, 0), after)
			check(tb, err)
			for _, k := range page.Keys {
				p, err := db.announcing().Pending(tb.Context(), k)
				check(tb, err)
				all = append(all, p)
			}
			if after = page.Next; after == nil {
				break
			}
		}
	}
	return all
}

// about is the data of an event about the toggle "f".
func about(reason event.Reason, project, kind string, days *int64) event.Feature {
	return event.Feature{
		FeatureName: "f", Project: project, FeatureType: kind, LifetimeDays: days, CreatedAt: "2026-11-20T05:39:00.123Z", Reason: reason,
	}
}

// on returns the event that the flag of the toggle "f" was set.
func on(sequence int64, at time.Time) event.Event {
	return event.New(source, event.FeaturePotentiallyStaleOn, "f", sequence, at, about("", "default", "release", new(int64(40))))
}

func off(sequence int64, at time.Time, data event.Feature) event.Event {
	return event.New(source, event.FeaturePotentiallyStaleOff, "f", sequence, at, data)
}

// Flips add announcements with rising sequences until they are cleared. Then a deletion of the toggle leaves nothing.
func TestFlipIsAnnounced(t *testing.T) {
	t.Parallel()
	db, f := newTables(t), toggle("f")
	db.create(t, f)
	before, at, start := db.item(t, "f"), flippedAt(), flippedAt().UnixMilli()
	first := db.announce(t, f, true, at)
	same(t, []event.Event{on(start+1, at)}, first.Events)
	second := db.announce(t, f, false, at.Add(time.Hour))
	same(t, []event.Event{on(start+1, at), off(start+2, at.Add(time.Hour), about("lifetime-changed", "default", "release", new(int64(40))))}, second.Events)

	all := db.unannounced(t)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	same(t, second.Events, all[0].Events)
	if early, err := db.announcing().Unannounced(t.Context(), feature.Shard("f"), at.Add(-time.Millisecond), nil); err != nil || len(early.Keys) != 0 {
		t.Errorf("before the first flip: %+v, %v", early, err)
	}
	db.clear(t, first) // the second flip is not announced yet
	if got := db.unannounced(t); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	db.clear(t, second)
	if got := db.unannounced(t); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	before["sequence"], before["pending"], before["pendingShard"] = dynamo.N(start+2), dynamo.L(), dynamo.S(fmt.Sprint(feature.Shard("f")))
	if diff := database.DiffItems(before, db.item(t, "f")); diff != "" {
		t.Error(diff)
	}
	third := db.announce(t, f, true, at)
	same(t, []event.Event{on(start+3, at)}, third.Events)
	db.clear(t, third)
	check(t, db.store.Delete(t.Context(), "f"))
	if items := db.Scan(t, db.Tables.Features); len(items) != 0 {
		t.Errorf("%v", items)
	}
}

// clear clears announcements.
func (db tables) clear(tb testing.TB, all ...feature.Pending) {
	tb.Helper()
	for batch := range slices.Chunk(all, feature.MaxAnnounced) {
		check(tb, errors.Join(db.announcing().Announced(tb.Context(), batch)...))
	}
}

// A flip without a source, and a write by a store that does not announce, store nothing about announcements.
func TestNothingIsAnnounced(t *testing.T) {
	t.Parallel()
	db, f := newTables(t), toggle("f")
	db.create(t, f)
	before := slices.Sorted(maps.Keys(db.item(t, "f")))
	db.flip(t, rangeOf(f, false), f, true)
	same(t, before, slices.Sorted(maps.Keys(db.item(t, "f"))))
	db.update(t, "f", func(f *feature.Feature) { f.Type = "operational" })
	same(t, before, slices.Sorted(maps.Keys(db.item(t, "f"))))
	check(t, db.store.Delete(t.Context(), "f"))
	if items := db.Scan(t, db.Tables.Features); len(items) != 0 {
		t.Errorf("%v", items)
	}
}

// A write that clears a set flag announces it with the type and project that the toggle then has.
func TestClearedFlagIsAnnounced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*feature.Feature) // nil: delete
		want   event.Feature          // without a reason: no announcement
	}{
		"archived": {
			func(f *feature.Feature) { f.Archived, f.Stale, f.Type = true, true, "operational" },
			about("archived", "default", "operational", new(int64(7))),
		},
		"marked stale": {func(f *feature.Feature) { f.Stale, f.Project = true, "p" }, about("marked-stale", "p", "release", new(int64(40)))},
		"type changed": {func(f *feature.Feature) { f.Type = "unknown" }, about("type-changed", "default", "unknown", nil)},
		"deleted":      {nil, about("deleted", "default", "release", new(int64(40)))},
		"not cleared":  {func(f *feature.Feature) { f.ContextFields = []string{"a"} }, event.Feature{}},
	} {
		for _, flag := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", flag ", flag), func(t *testing.T) {
				t.Parallel()
				db, f, at := newTables(t), toggle("f"), flippedAt()
				db.createTypes(t)
				db.create(t, f)
				if flag {
					db.clear(t, db.announce(t, f, true, at))
				}
				if tt.change == nil {
					check(t, db.writer().Delete(t.Context(), "f"))
				} else if _, err := db.writer().Update(t.Context(), "f", with(tt.change)); err != nil {
					t.Fatal(err)
				}
				var want, got []event.Event
				if flag && tt.want.Reason != "" {
					want = append(want, off(at.UnixMilli()+2, at.AddDate(0, 0, 1), tt.want))
				}
				for _, p := range db.unannounced(t) {
					got = append(got, p.Events...)
				}
				same(t, want, got)
			})
		}
	}
}

func (db tables) createTypes(tb testing.TB) {
	tb.Helper()
	for id, days := range map[string]int64{"release": 40, "operational": 7} {
		check(tb, featuretype.NewStore(db.Client, db.Tables).Create(tb.Context(), featuretype.FeatureType{ID: id, LifetimeDays: &days}))
	}
}

// A flag that is set after a write has read the toggle is announced as set and as cleared.
func TestWriteIsOvertakenByAFlip(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(context.Context, *feature.Store) error{
		"update": func(ctx context.Context, s *feature.Store) error {
			_, err := s.Update(ctx, "f", with(func(f *feature.Feature) { f.Archived = true }))
			return err
		},
		"delete": func(ctx context.Context, s *feature.Store) error { return s.Delete(ctx, "f") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, f := newTables(t), toggle("f")
			db.createTypes(t)
			db.create(t, f)
			client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "TransactWriteItems" && c.N == 1 {
					db.announce(t, f, true, flippedAt())
				}
				return c.Pass()
			})
			check(t, write(t.Context(), feature.NewStore(client, db.Tables).Announcing(featuretype.NewStore(client, db.Tables), flippedAt)))
			all := db.unannounced(t)
			if len(all) != 1 || len(all[0].Events) != 2 || all[0].Events[1].Type != event.FeaturePotentiallyStaleOff {
				t.Errorf("%+v", all)
			}
		})
	}
}

// Announcements of a deleted toggle remain, also if the deletion itself announces nothing. Those of another toggle with its name continue
// their sequence.
func TestDeletedToggle(t *testing.T) {
	t.Parallel()
	db, f, at := newTables(t), toggle("f"), flippedAt()
	db.createTypes(t)
	var want []event.Event
	for i, store := range []*feature.Store{db.writer(), db.store} {
		db.create(t, f)
		want = append(want, db.announce(t, f, true, at.Add(time.Duration(i)*time.Second)).Events...)
		check(t, store.Delete(t.Context(), "f"))
		if store != db.store {
			want = append(want, off(at.UnixMilli()+2, at.AddDate(0, 0, 1), about("deleted", "default", "release", new(int64(40)))))
		}
	}
	pending := db.unannounced(t)
	var got []event.Event
	for _, p := range pending {
		got = append(got, p.Events...)
		if _, err := db.store.Get(t.Context(), "#"+p.Events[len(p.Events)-1].Sequence+"#f"); !errors.Is(err, feature.ErrNotFound) {
			t.Error(err)
		}
	}
	same(t, want, got)
	all, err := db.store.List(t.Context())
	if check(t, err); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	db.clear(t, pending...)
	if items := db.Scan(t, db.Tables.Features); len(items) != 0 {
		t.Errorf("%v", items)
	}
}

// However many announcements wait, the item of a toggle stays small, and none is lost.
func TestManyAnnouncements(t *testing.T) {
	t.Parallel()
	const n = 95
	db, f, sequences := newTables(t), toggle("f"), map[string]bool{}
	db.create(t, f)
	for i := range n {
		p := db.announce(t, f, i%2 == 0, flippedAt().Add(time.Duration(i)*time.Minute))
		if len(p.Events) > 20 {
			t.Fatalf("%d announcements", len(p.Events))
		}
	}
	pending := db.unannounced(t)
	for _, p := range pending {
		for _, e := range p.Events {
			sequences[e.Sequence] = true
		}
	}
	db.clear(t, pending...)
	if len(sequences) != n {
		t.Errorf("%d of %d announcements", len(sequences), n)
	}
	if items := db.Scan(t, db.Tables.Features); len(items) != 1 {
		t.Errorf("%d items", len(items))
	}
}

func TestUnannouncedPages(t *testing.T) {
	t.Parallel()
	const n = 90
	db := newTables(t)
	for i, number := 0, 0; i < n; number++ {
		if f := toggle(fmt.Sprint("toggle", number)); feature.Shard(f.Name) == 0 {
			i++
			db.create(t, f)
			db.announce(t, f, true, flippedAt())
		}
	}
	all := db.unannounced(t)
	if len(all) != n {
		t.Errorf("%d of %d items", len(all), n)
	}
	db.clear(t, all...)
	if left := db.unannounced(t); len(left) != 0 {
		t.Errorf("left are %d items", len(left))
	}
}

// Each call is one attempt. Its error names the action.
func TestPendingFails(t *testing.T) {
	t.Parallel()
	db, f := newTables(t), toggle("f")
	db.create(t, f)
	p := db.announce(t, f, true, flippedAt())
	client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) { return c.Refuse("ThrottlingException") })
	flags := feature.NewFlagStore(client, db.Tables, source)
	_, query := flags.Unannounced(t.Context(), 0, flippedAt(), nil)
	_, get := flags.Pending(t.Context(), feature.PendingKey{Name: "f"})
	for want, err := range map[string]error{
		"read toggles with announcements in shard 0: ": query, `read the announcements of "f": `: get,
		`clear the announcements of "f": `: flags.Announced(t.Context(), []feature.Pending{p})[0],
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) || !dynamo.Throttled(err) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if got := tap.Calls(); got != "Query GetItem BatchExecuteStatement" {
		t.Error(got)
	}
}

// A statement whose condition fails has nothing to clear. Each other error is that of its item.
func TestStatementFails(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	var all []feature.Pending
	for i := range 3 {
		f := toggle(fmt.Sprint("f", i))
		db.create(t, f)
		all = append(all, db.announce(t, f, true, flippedAt()))
	}
	for body, want := range map[string][]string{
		`{"Responses":[{"Error":{"Code":"ThrottlingError","Message":"m"}},{"Error":{"Code":"ConditionalCheckFailed"}},{}]}`: {
			`clear the announcements of "f0": ThrottlingError: m`, "", "",
		},
		`{"Responses":[]}`: slices.Repeat([]string{"clear the announcements of "}, 3),
	} {
		client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) { return c.Reply(http.StatusOK, body) })
		for i, err := range feature.NewFlagStore(client, db.Tables, source).Announced(t.Context(), all) {
			if (err == nil) != (want[i] == "") || err != nil && !strings.HasPrefix(err.Error(), want[i]) {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
}
