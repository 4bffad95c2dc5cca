package feature_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

// now is 40 days after created, to the millisecond.
func now() time.Time { return created().AddDate(0, 0, 40) }

// newTyped returns tables with the type release, whose lifetime ends now, and the types short, long and endless. The
// events of the store's writes are those by ada.
func newTyped(tb testing.TB) (tables, context.Context) {
	tb.Helper()
	db := newTables(tb)
	for id, days := range map[string]*int64{"release": new(int64(40)), "short": new(int64(7)), "long": new(int64(41)),
		"endless": nil} {
		check(tb, db.types().Create(tb.Context(), featuretype.FeatureType{ID: id, LifetimeDays: days}))
	}
	db.store = feature.NewStore(db.Client, db.Tables, eventlog.New(db.Client, db.Tables, now, 0))
	return db, eventlog.WithActor(tb.Context(), eventlog.Actor{Name: "ada"})
}

func (db tables) types() *featuretype.Store {
	return featuretype.NewStore(db.Client, db.Tables, db.Log())
}

// events returns the types of the events of a toggle by ada, without the first n, with the reasons of flips.
func (db tables) events(tb testing.TB, name string, n int) string {
	tb.Helper()
	var all []string
	check(tb, db.Log().All(tb.Context(), eventlog.Filter{Features: []string{name}}, func(e eventlog.Event) error {
		text := strings.TrimPrefix(string(e.Type), "feature-")
		if _, reason, ok := strings.Cut(string(e.Data), `"reason":"`); ok {
			text += ":" + strings.TrimSuffix(reason, `"}`)
		}
		if e.By.Name != "ada" {
			tb.Errorf("%s is by %s", text, e.By.Name)
		}
		all = append(all, text)
		return nil
	}))
	return strings.Join(all[n:], " ")
}

// A write decides at once whether its toggle is potentially stale, and records the flip after the change that causes
// it.
func TestWriteDecidesTheFlag(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		before func(*feature.Feature)
		change func(*feature.Feature) // nil: none
		flag   bool
		events string // without the first one, the creation
	}{
		{"created when due", nil, nil, true, "potentially-stale-on"},
		{"created a millisecond before", func(f *feature.Feature) { f.CreatedAt = created().Add(time.Millisecond) }, nil,
			false, ""},
		{"type without a lifetime", func(f *feature.Feature) { f.Type = "endless" }, nil, false, ""},
		{"unknown type", func(f *feature.Feature) { f.Type = "unknown" }, nil, false, ""},
		{"created archived", func(f *feature.Feature) { f.Archived = true }, nil, false, ""},
		{"described", nil, func(f *feature.Feature) { f.Description = new("d") }, true, "potentially-stale-on updated"},
		{"re-typed to due", func(f *feature.Feature) { f.Type = "long" }, func(f *feature.Feature) { f.Type = "short" },
			true, "updated potentially-stale-on"},
		{"re-typed to not due", nil, func(f *feature.Feature) { f.Type = "long" },
			false, "potentially-stale-on updated potentially-stale-off:type-changed"},
		{"re-typed while due", nil, func(f *feature.Feature) { f.Type = "short" }, true, "potentially-stale-on updated"},
		{"archived", nil, func(f *feature.Feature) { f.Archived = true },
			false, "potentially-stale-on archived potentially-stale-off:archived"},
		{"revived", func(f *feature.Feature) { f.Archived = true }, func(f *feature.Feature) { f.Archived = false },
			true, "revived potentially-stale-on"},
		{"marked", nil, func(f *feature.Feature) { f.Stale = true },
			false, "potentially-stale-on stale-on potentially-stale-off:marked-stale"},
		{"unmarked and described", func(f *feature.Feature) { f.Stale = true },
			func(f *feature.Feature) { f.Stale, f.ImpressionData = false, true }, true,
			"stale-off updated potentially-stale-on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, ctx := newTyped(t)
			f := toggle("f")
			if tt.before != nil {
				tt.before(&f)
			}
			stored, err := db.store.Add(ctx, f)
			check(t, err)
			if tt.change != nil {
				stored, err = db.store.Update(ctx, "f", with(tt.change))
				check(t, err)
			}
			got := db.get(t, "f")
			key := ""
			if !got.Archived && !got.Stale {
				key = feature.StalenessKey(got.Type, tt.flag, feature.Shard("f"))
			}
			if index := db.item(t, "f").String("staleness"); got.PotentiallyStale != tt.flag || index != key {
				t.Errorf("flag %t, index key %q", got.PotentiallyStale, index)
			}
			same(t, got, stored)
			if events := db.events(t, "f", 1); events != tt.events {
				t.Errorf("events: %s, want %s", events, tt.events)
			}
			if got.Archived != (got.ArchivedAt != nil) || got.Archived && !got.ArchivedAt.Equal(now()) {
				t.Errorf("archived at %v", got.ArchivedAt)
			}
		})
	}
}

// A lifetime that changes after a write has read it is read again.
func TestLifetimeChangesDuringAWrite(t *testing.T) {
	t.Parallel()
	for _, days := range []int64{39, 41} {
		db, ctx := newTyped(t)
		f := toggle("f")
		f.Type = "endless"
		client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == "TransactWriteItems" && c.N == 1 {
				if _, err := db.types().SetLifetime(context.WithoutCancel(ctx), "endless", &days); err != nil {
					return nil, err
				}
			}
			return c.Pass()
		})
		store := feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, now, 0))
		check(t, store.Create(ctx, f))
		if got := db.get(t, "f"); got.PotentiallyStale != (days == 39) {
			t.Errorf("%d days: %+v", days, got)
		}
		if calls := tap.Calls(); calls != "GetItem TransactWriteItems GetItem TransactWriteItems" {
			t.Error(calls)
		}
	}
}

func TestPotentiallyStaleAt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		days   *int64
		change func(*feature.Feature)
		want   string
	}{
		{new(int64(40)), nil, "2026-12-30T05:39:00.123Z"},
		{nil, nil, ""},
		{new(int64(0)), nil, ""},
		{new(int64(2912119)), nil, "9999-12-31T05:39:00.123Z"},
		{new(int64(2912120)), nil, ""},
		{new(int64(2147483647)), nil, ""},
		{new(int64(1) << 62), nil, ""},
		{new(int64(40)), func(f *feature.Feature) { f.Stale = true }, ""},
		{new(int64(40)), func(f *feature.Feature) { f.Archived = true }, ""},
	} {
		f, got := toggle("f"), ""
		if tt.change != nil {
			tt.change(&f)
		}
		if at := f.PotentiallyStaleAt(tt.days); at != nil {
			got = at.Format("2006-01-02T15:04:05.000Z")
		}
		if got != tt.want {
			t.Errorf("%v days: %q, want %q", tt.days, got, tt.want)
		}
	}
}

// fifty creates 50 toggles that are due, and returns their names.
func (db tables) fifty(ctx context.Context, tb testing.TB) []string {
	tb.Helper()
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprintf("toggle-%02d", i)
		check(tb, db.store.Create(ctx, toggle(names[i])))
	}
	return names
}

func marked(stale bool) func(feature.Feature) (feature.Feature, error) {
	return with(func(f *feature.Feature) { f.Stale = stale })
}

// Fifty toggles, whose flags all change as well, are marked together.
func TestUpdateAll(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	names := db.fifty(ctx, t)
	client, tap := db.Through(t, nil)
	store := feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, now, 0))
	for _, stale := range []bool{true, true, false, false} {
		_, err := store.UpdateAll(ctx, names, marked(stale))
		check(t, err)
		for _, name := range names {
			f := db.get(t, name)
			if key := db.item(t, name).String("staleness"); f.Stale != stale || f.PotentiallyStale == stale ||
				(key == "") != stale {
				t.Fatalf("%+v has the key %q", f, key)
			}
		}
	}
	// The flags are cleared before and set after; nothing changes the second time.
	want := "BatchGetItem GetItem TransactWriteItems BatchGetItem TransactWriteItems BatchGetItem " +
		"BatchGetItem GetItem TransactWriteItems BatchGetItem GetItem TransactWriteItems BatchGetItem GetItem TransactWriteItems BatchGetItem"
	if calls := tap.Calls(); calls != want {
		t.Errorf("calls: %s", calls)
	}
	if got := db.events(t, names[49],
		2); got != "potentially-stale-off:marked-stale stale-on stale-off potentially-stale-on" {
		t.Error(got)
	}
	// 33 toggles fit into one transaction.
	_, err := store.UpdateAll(ctx, names[:33], marked(true))
	check(t, err)
	if calls := tap.Calls(); calls != want+" BatchGetItem GetItem TransactWriteItems" {
		t.Errorf("calls: %s", calls)
	}
}

// Either all toggles are marked or none.
func TestUpdateAllOrNone(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	names := db.fifty(ctx, t)
	_, err := db.store.UpdateAll(ctx, append(slices.Clone(names[:10]), "unknown"), marked(true))
	if missing, ok := errors.AsType[*feature.NotFoundError](err); !ok || missing.Name != "unknown" {
		t.Error(err)
	}
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 2 { // after the flags were cleared
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
	store := feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, now, 0))
	if _, err = store.UpdateAll(ctx, names, marked(true)); !errors.Is(err, dynamo.ErrUnavailable) {
		t.Error(err)
	}
	for _, name := range names {
		// Re-evaluation finds the toggle where it finds those that become due.
		if key := db.item(t, name).String("staleness"); db.get(t, name).Stale || key != feature.StalenessKey("release", false,
			feature.Shard(name)) {
			t.Errorf("%s has the key %q", name, key)
		}
	}
	if got := db.events(t, names[0], 2); got != "potentially-stale-off:marked-stale" {
		t.Error(got)
	}
}
