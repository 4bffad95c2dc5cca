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
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/table"
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
		assert.OK(tb, db.types().Create(tb.Context(), featuretype.FeatureType{ID: id, LifetimeDays: days}))
	}
	db.store = db.through(db.Client)
	return db, eventlog.WithActor(tb.Context(), eventlog.Actor{Name: "ada"})
}

func (db tables) types() *featuretype.Store {
	return featuretype.NewStore(db.Client, db.Tables, db.Log())
}

// events returns the types of the events of a toggle by ada, without the first n, with the reasons of flips.
func (db tables) events(tb testing.TB, name string, n int) string {
	tb.Helper()
	var all []string
	assert.OK(tb, db.Log().All(tb.Context(), eventlog.Filter{Features: []string{name}}, func(e eventlog.Event) error {
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
	for _, row := range table.Rows(t, 4, `
		# before the creation | changes | potentially stale | events without the creation
		| | true | potentially-stale-on
		later | | false |
		flagged later | | false |
		endless | | false |
		unknown | | false |
		archived | | false |
		| described | true | potentially-stale-on updated
		| moved | true | potentially-stale-on updated
		| constrained | true | potentially-stale-on updated
		long | short | true | updated potentially-stale-on
		| long | false | potentially-stale-on updated potentially-stale-off:type-changed
		| short | true | potentially-stale-on updated
		| archived | false | potentially-stale-on archived potentially-stale-off:archived
		archived | short | false | updated
		archived | restored | true | revived potentially-stale-on
		| marked | false | potentially-stale-on stale-on potentially-stale-off:marked-stale
		marked | unmarked described | true | stale-off updated potentially-stale-on
	`) {
		db, ctx := newTyped(t)
		f := toggle("f")
		for name := range strings.FieldsSeq(row[0]) {
			changes[name](&f)
		}
		stored, err := db.store.Add(ctx, f)
		assert.OK(t, err)
		if row[1] != "" {
			stored, err = db.store.Update(ctx, "f", with(func(f *feature.Feature) {
				for name := range strings.FieldsSeq(row[1]) {
					changes[name](f)
				}
			}))
			assert.OK(t, err)
		}
		got, flag, key := db.get(t, "f"), row[2] == "true", ""
		if !got.Archived && !got.Stale {
			key = feature.StalenessKey(got.Type, flag, feature.Shard("f"))
		}
		if index := db.item(t, "f").String("staleness"); got.PotentiallyStale != flag || index != key {
			t.Errorf("%s: flag %t, index key %q", row, got.PotentiallyStale, index)
		}
		same(t, got, stored)
		if events := db.events(t, "f", 1); events != row[3] {
			t.Errorf("%s: events %s", row, events)
		}
		if got.Archived != (got.ArchivedAt != nil) || got.Archived && !got.ArchivedAt.Equal(now()) {
			t.Errorf("%s: archived at %v", row, got.ArchivedAt)
		}
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
		store := db.through(client)
		assert.OK(t, store.Create(ctx, f))
		assert.Equal(t, days == 39, db.get(t, "f").PotentiallyStale)
		assert.Equal(t, "GetItem TransactWriteItems GetItem TransactWriteItems", tap.Calls())
	}
}

func TestPotentiallyStaleAt(t *testing.T) {
	t.Parallel()
	for days, want := range map[int64]string{
		40: "2026-12-30T05:39:00.123Z", 0: "", 2912119: "9999-12-31T05:39:00.123Z", 2912120: "", 2147483647: "", 1 << 62: "",
	} {
		f, got := toggle("f"), ""
		if at := f.PotentiallyStaleAt(&days); at != nil {
			got = at.Format("2006-01-02T15:04:05.000Z")
		}
		if got != want {
			t.Errorf("%d days: %q, want %q", days, got, want)
		}
		for _, name := range []string{"archived", "marked"} {
			f := toggle("f")
			if changes[name](&f); f.PotentiallyStaleAt(&days) != nil {
				t.Errorf("a toggle that is %s becomes potentially stale", name)
			}
		}
	}
	if f := toggle("f"); f.PotentiallyStaleAt(nil) != nil {
		t.Error("a toggle without a lifetime becomes potentially stale")
	}
}

// fifty creates 50 toggles that are due, and returns their names.
func (db tables) fifty(ctx context.Context, tb testing.TB) []string {
	tb.Helper()
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprintf("toggle-%02d", i)
		assert.OK(tb, db.store.Create(ctx, toggle(names[i])))
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
	store := db.through(client)
	for _, stale := range []bool{true, true, false, false} {
		_, err := store.UpdateAll(ctx, names, marked(stale))
		assert.OK(t, err)
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
	assert.Equal(t, want, tap.Calls())
	assert.Equal(t, "potentially-stale-off:marked-stale stale-on stale-off potentially-stale-on",
		db.events(t, names[49], 2))
	// 33 toggles fit into one transaction.
	_, err := store.UpdateAll(ctx, names[:33], marked(true))
	assert.OK(t, err)
	assert.Equal(t, want+" BatchGetItem GetItem TransactWriteItems", tap.Calls())
}

// Either all toggles are marked or none.
func TestUpdateAllOrNone(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	names := db.fifty(ctx, t)
	_, err := db.store.UpdateAll(ctx, append(slices.Clone(names[:10]), "unknown"), marked(true))
	if missing, ok := errors.AsType[*feature.NameError](err); !ok || missing.Name != "unknown" {
		t.Error(err)
	}
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 2 { // after the flags were cleared
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
	store := db.through(client)
	_, err = store.UpdateAll(ctx, names, marked(true))
	assert.ErrorIs(t, err, dynamo.ErrUnavailable)
	for _, name := range names {
		// Re-evaluation finds the toggle where it finds those that become due.
		if key := db.item(t, name).String("staleness"); db.get(t, name).Stale || key != feature.StalenessKey("release", false,
			feature.Shard(name)) {
			t.Errorf("%s has the key %q", name, key)
		}
	}
	assert.Equal(t, "potentially-stale-off:marked-stale", db.events(t, names[0], 2))
}
