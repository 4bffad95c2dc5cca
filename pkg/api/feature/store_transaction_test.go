package feature_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/toggles"
)

var kind = regexp.MustCompile(`(?m)^feature-(\S+)(?:.*"reason":"([a-z-]+)")?.*$`)

// events returns the types of the events of a toggle, with the reasons of flips.
func events(tb testing.TB, db toggles.Fixture, name string) string {
	tb.Helper()
	lines := database.About(db.Events(tb), eventlog.Subject("toggle:"+name))
	return strings.Join(strings.Fields(kind.ReplaceAllString(strings.Join(lines, "\n"), "$1 $2")), " ")
}

// A write decides at once whether its toggle is potentially stale, and records the flip after the change that causes
// it.
func TestWriteDecidesTheFlag(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	for i, test := range []struct {
		creation string
		change   string
		key      string // key in the index
		events   string
	}{
		{"{}", "", "release#potentially-stale", "created potentially-stale-on"},
		{`{"createdAt":"2026-11-20T05:39:00.124Z"}`, "", "release#fresh", "created"},
		{`{"createdAt":"2026-11-20T05:39:00.124Z","potentiallyStale":true}`, "", "release#fresh", "created"},
		{`{"type":"endless"}`, "", "endless#fresh", "created"},
		{`{"type":"unknown"}`, "", "unknown#fresh", "created"},
		{`{"archived":true}`, "", "", "created"},
		{"{}", `{"description":"d"}`, "release#potentially-stale", "created potentially-stale-on updated"},
		{"{}", `{"project":"p"}`, "release#potentially-stale", "created potentially-stale-on project-change"},
		{"{}", `{"contextFields":["a"]}`, "release#potentially-stale", "created potentially-stale-on updated"},
		{`{"type":"long"}`, `{"type":"short"}`, "short#potentially-stale", "created updated potentially-stale-on"},
		{"{}", `{"type":"long"}`, "long#fresh", "created potentially-stale-on updated potentially-stale-off type-changed"},
		{"{}", `{"type":"short"}`, "short#potentially-stale", "created potentially-stale-on updated"},
		{"{}", `{"archived":true}`, "", "created potentially-stale-on archived potentially-stale-off archived"},
		{`{"archived":true}`, `{"type":"short"}`, "", "created updated"},
		{`{"archived":true}`, `{"archived":false}`, "release#potentially-stale", "created revived potentially-stale-on"},
		{"{}", `{"stale":true}`, "", "created potentially-stale-on stale-on potentially-stale-off marked-stale"},
		{
			`{"stale":true}`,
			`{"stale":false,"description":"d"}`,
			"release#potentially-stale",
			"created stale-off updated potentially-stale-on",
		},
	} {
		f := toggles.New(t, test.creation)
		f.Name = fmt.Sprint("f", i)
		stored, err := db.Store.Create(t.Context(), f)
		assert.OK(t, err)
		if test.change != "" {
			stored, err = db.Store.Update(t.Context(), f.Name, toggles.With(test.change))
			assert.OK(t, err)
		}
		toggles.Same(t, db.Toggle(t, f.Name), stored)
		key := strings.TrimSuffix(db.StalenessKey(t, f.Name), fmt.Sprint("#", featuretable.Shard(f.Name)))
		assert.Equal(t, test.key, key)
		assert.Equal(t, test.events, events(t, db, f.Name))
		assert.Equal(t, strings.HasSuffix(test.key, "#potentially-stale"), stored.PotentiallyStale)
	}
}

// A lifetime that changes after a write has read it is read again.
func TestLifetimeChangesDuringAWrite(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	for id, days := range map[string]int64{"endless": 39, "release": 41} {
		store := db.StoreOn(db.Before(t, "TransactWriteItems", 1, func() {
			_, err := db.Types().SetLifetime(context.WithoutCancel(t.Context()), id, &days)
			assert.OK(t, err)
		}))
		_, err := store.Create(t.Context(), toggles.New(t, `{"name":"`+id+`","type":"`+id+`"}`))
		assert.OK(t, err)
		assert.Equal(t, id == "endless", db.Toggle(t, id).PotentiallyStale)
	}
}

// fifty creates 50 toggles that are due, and returns their names.
func fifty(tb testing.TB, db toggles.Fixture) []string {
	tb.Helper()
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprintf("toggle-%02d", i)
		db.Create(tb, `{"name":"`+names[i]+`"}`)
	}
	return names
}

// states returns the number of toggles by whether they are marked as stale, their flag, and their key in the index
// without the shard.
func states(tb testing.TB, db toggles.Fixture) map[string]int {
	tb.Helper()
	all := map[string]int{}
	for _, item := range db.Scan(tb, db.Tables["Features"]) {
		key := strings.TrimRight(item.String("staleness"), "0123456789")
		all[fmt.Sprintf("marked %t, flagged %t, key %s", item.Bool("stale"), item.Bool("potentiallyStale"), key)]++
	}
	return all
}

// Fifty toggles, whose flags all change as well, are marked together.
func TestUpdateAll(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	names := fifty(t, db)
	client, tap := db.Through(t, nil)
	store := db.StoreOn(client)
	for _, test := range []struct {
		change string
		state  string // state of all toggles
	}{
		{`{"stale":true}`, "marked true, flagged false, key "},
		{`{"stale":true}`, "marked true, flagged false, key "},
		{`{"stale":false}`, "marked false, flagged true, key release#potentially-stale#"},
		{`{"stale":false}`, "marked false, flagged true, key release#potentially-stale#"},
	} {
		_, err := store.UpdateAll(t.Context(), names, toggles.With(test.change))
		assert.OK(t, err)
		assert.Equal(t, map[string]int{test.state: 50}, states(t, db))
	}
	// The flags are cleared before and set after; nothing changes the second time.
	want := "BatchGetItem GetItem TransactWriteItems BatchGetItem TransactWriteItems BatchGetItem " +
		strings.Repeat("BatchGetItem GetItem TransactWriteItems ", 3) + "BatchGetItem"
	assert.Equal(t, want, tap.Calls())
	assert.Equal(t, "created potentially-stale-on potentially-stale-off marked-stale stale-on stale-off "+
		"potentially-stale-on", events(t, db, names[49]))
	// 33 toggles fit into one transaction.
	_, err := store.UpdateAll(t.Context(), names[:33], toggles.With(`{"stale":true}`))
	assert.OK(t, err)
	assert.Equal(t, want+" BatchGetItem GetItem TransactWriteItems", tap.Calls())
	// One toggle is deleted before its flag is set.
	client = db.Before(t, "TransactWriteItems", 2, func() {
		db.Delete(t, db.Tables["Features"], dynamo.Item{"name": dynamo.S(names[0])})
	})
	_, marked := store.UpdateAll(t.Context(), names, toggles.With(`{"stale":true}`))
	_, err = db.StoreOn(client).UpdateAll(t.Context(), names, toggles.With(`{"stale":false}`))
	assert.OK(t, marked, err)
}

// Either all toggles are marked or none. Re-evaluation finds them where it finds those that become due.
func TestUpdateAllOrNone(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	names := fifty(t, db)
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 2 { // after the flags were cleared
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
	if all, err := db.StoreOn(client).UpdateAll(t.Context(), names, toggles.With(`{"stale":true}`)); err == nil {
		t.Error(all)
	}
	assert.Equal(t, map[string]int{"marked false, flagged false, key release#fresh#": 50}, states(t, db))
	assert.Equal(t, "created potentially-stale-on potentially-stale-off marked-stale", events(t, db, names[0]))
}

// A flag that a write of many toggles leaves as it is depends on the lifetime, too.
func TestLifetimeChangesDuringAWriteOfManyToggles(t *testing.T) {
	t.Parallel()
	for _, n := range []int{49, 50} { // the conditions of 50 do not fit into a transaction
		db := toggles.NewFixture(t)
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("toggle-%02d", i))
			db.Create(t, `{"name":"`+names[i]+`","type":"long","stale":true}`)
		}
		store := db.StoreOn(db.Before(t, "TransactWriteItems", 1, func() {
			_, err := db.Types().SetLifetime(context.WithoutCancel(t.Context()), "long", new(int64(1)))
			assert.OK(t, err)
		}))
		_, err := store.UpdateAll(t.Context(), names, toggles.With(`{"stale":false}`))
		assert.OK(t, err)
		assert.Equal(t, map[string]int{"marked false, flagged true, key long#potentially-stale#": n}, states(t, db))
	}
}

// The toggles of a transaction change the references to a field together, and the actions on fields count.
func TestUpdateAllChangesUsage(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("toggle-%02d", i))
		db.Create(t, fmt.Sprintf(`{"name":%q,"type":"long","contextFields":["a","b"]}`, names[i]))
	}
	db.Create(t, `{"contextFields":["a"]}`)
	assert.Equal(t, "a/default: 51, b/default: 50", db.References(t))
	// 50 toggles and 50 events leave no room for the fields.
	_, err := db.Store.UpdateAll(t.Context(), names, toggles.With(`{"archived":true}`))
	assert.ErrorIs(t, err, feature.ErrTooManyChanges)
	assert.Equal(t, `update 50 toggles: ValidationError: the changes do not fit into one transaction: `+
		`it would have 102 actions, the maximum is 100`, fmt.Sprint(err))
	assert.Equal(t, "a/default: 51, b/default: 50", db.References(t))
	_, err = db.Store.UpdateAll(t.Context(), names[:49], toggles.With(`{"archived":true}`))
	assert.OK(t, err)
	assert.Equal(t, "a/default: 2, b/default: 1", db.References(t))
	_, err = db.Store.UpdateAll(t.Context(), names[49:], toggles.With(`{"archived":true}`))
	assert.OK(t, err)
	assert.Equal(t, "a/default: 1", db.References(t))
	// Flips of flags do not fit with the fields, so other transactions make them.
	_, err = db.Store.UpdateAll(t.Context(), names[:40], toggles.With(`{"archived":false,"type":"short"}`))
	assert.ErrorIs(t, err, feature.ErrTooManyChanges) // two events for each toggle
	_, err = db.Store.UpdateAll(t.Context(), names[:40], toggles.With(`{"type":"short"}`))
	assert.OK(t, err)
	_, err = db.Store.UpdateAll(t.Context(), names[:40], toggles.With(`{"archived":false}`))
	assert.OK(t, err)
	assert.Equal(t, "a/default: 41, b/default: 40", db.References(t))
	assert.Equal(t, 40, states(t, db)["marked false, flagged true, key short#potentially-stale#"])
	_, err = db.Store.UpdateAll(t.Context(), names[:40], toggles.With(`{"archived":true}`))
	assert.OK(t, err)
	assert.Equal(t, "a/default: 1", db.References(t))
}

// The number of a project is removed with its last toggle, whatever another client does before the first attempt.
func TestLastToggleOfAProject(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"contextFields":["a"]}`)
	// deleting deletes the toggle f while another client does something.
	deleting := func(meanwhile func()) error {
		return db.StoreOn(db.Before(t, "TransactWriteItems", 1, meanwhile)).Delete(t.Context(), "f", nil)
	}
	assert.OK(t, deleting(func() { db.Create(t, `{"name":"g","contextFields":["a"]}`) }))
	assert.Equal(t, "a/default: 1", db.References(t))
	db.Create(t, `{"contextFields":["a"]}`)
	assert.OK(t, deleting(func() { assert.OK(t, db.Store.Delete(t.Context(), "g", nil)) }))
	assert.Equal(t, "", db.References(t))
	db.Create(t, `{"contextFields":["a"]}`)
	err := deleting(func() { assert.OK(t, db.Store.Delete(t.Context(), "f", nil)) })
	assert.Equal(t, apierror.NotFound, apierror.KindOf(err))
	assert.Equal(t, "", db.References(t))
	// What a restore has left does not prevent a write.
	for _, counts := range []references.ByProject{{}, {"default": 0}, {"default": -1}} {
		db.Create(t, `{"contextFields":["a"]}`)
		db.Put(t, db.Tables["ContextFields"],
			contextfield.ReferencesStore(db.Client, db.Tables).Item("a", references.Counts{ByProject: counts}))
		assert.OK(t, db.Store.Delete(t.Context(), "f", nil))
		assert.Equal(t, "", db.References(t))
	}
}

// Toggles that are too large for one transaction are not changed.
func TestUpdateAllOfLargeToggles(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 8 MB")
	}
	t.Parallel()
	db := toggles.NewActive(t)
	source := rand.NewChaCha8([32]byte{})
	large := toggle.Strategy{ID: "s", Name: toggle.StrategyDefault}
	for range 11 {
		values := make([]string, toggle.MaxConstraintValues)
		for i := range values {
			text := make([]byte, 50)
			_, _ = source.Read(text)
			values[i] = fmt.Sprintf("%x", text)
		}
		large.Constraints = append(large.Constraints, toggle.Constraint{
			ContextName: toggle.FieldUserID, Operator: toggle.OperatorIn, Values: values,
		})
	}
	var names []string
	for i := range 30 {
		f := toggles.New(t, fmt.Sprintf(`{"name":"t%02d"}`, i))
		f.SetEnvironment("prod", toggle.Environment{Strategies: []toggle.Strategy{large}})
		_, err := db.Store.Create(t.Context(), f)
		assert.OK(t, err)
		names = append(names, f.Name)
	}
	_, err := db.Store.UpdateAll(t.Context(), names, toggles.With(`{"stale":true}`))
	assert.ErrorIs(t, err, feature.ErrTooManyChanges)
	assert.Equal(t, false, db.Toggle(t, names[0]).Stale)
	_, err = db.Store.UpdateAll(t.Context(), names[:20], toggles.With(`{"stale":true}`))
	assert.OK(t, err)
	assert.Equal(t, true, db.Toggle(t, names[0]).Stale)
}
