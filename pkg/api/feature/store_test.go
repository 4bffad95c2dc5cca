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

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/table"
)

func created() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC) }

func toggle(name string, fields ...string) feature.Feature {
	return feature.Feature{Name: name, Project: "default", Type: "release", CreatedAt: created(), ContextFields: fields}
}

// tables are the tables of a test, with the context fields a, b and c.
type tables struct {
	*database.Database
	store *feature.Store
}

func newTables(tb testing.TB) tables {
	tb.Helper()
	db := database.New(tb)
	for _, name := range []string{"a", "b", "c"} {
		db.Put(tb, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S(name), "usage": dynamo.M(nil)})
	}
	return tables{db, feature.NewStore(db.Client, db.Tables, db.Log())}
}

// through returns a store that uses another client.
func (db tables) through(client *dynamodb.Client) *feature.Store {
	return feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, now, 0))
}

func (db tables) create(tb testing.TB, all ...feature.Feature) {
	tb.Helper()
	for _, f := range all {
		assert.OK(tb, db.store.Create(tb.Context(), f))
	}
}

func (db tables) update(tb testing.TB, name string, change func(*feature.Feature)) feature.Feature {
	tb.Helper()
	f, err := db.store.Update(tb.Context(), name, with(change))
	assert.OK(tb, err)
	return f
}

func with(change func(*feature.Feature)) func(feature.Feature) (feature.Feature, error) {
	return func(f feature.Feature) (feature.Feature, error) {
		change(&f)
		return f, nil
	}
}

func (db tables) get(tb testing.TB, name string) feature.Feature {
	tb.Helper()
	f, err := db.store.Get(tb.Context(), name)
	assert.OK(tb, err)
	return f
}

// item reads the item of a toggle.
func (db tables) item(tb testing.TB, name string) dynamo.Item {
	tb.Helper()
	return db.Database.Get(tb, db.Tables.Features, dynamo.Item{"name": dynamo.S(name)})
}

// wantUsage compares the number of toggles by context field and project after a step.
func (db tables) wantUsage(tb testing.TB, step, want string) {
	tb.Helper()
	var got []string
	for _, item := range db.Scan(tb, db.Tables.ContextFields) {
		for project := range item.Map("usage") {
			if n := item.Map("usage").Int(project); n != 0 {
				got = append(got, fmt.Sprintf("%s/%s: %d", item.String("name"), project, n))
			}
		}
	}
	slices.Sort(got)
	if text := strings.Join(got, ", "); text != want {
		tb.Errorf("%s: %s, want %s", step, text, want)
	}
}

// changes are updates of a toggle, by name.
var changes = map[string]func(*feature.Feature){
	"archived":    func(f *feature.Feature) { f.Archived = true },
	"restored":    func(f *feature.Feature) { f.Archived = false },
	"marked":      func(f *feature.Feature) { f.Stale = true },
	"unmarked":    func(f *feature.Feature) { f.Stale = false },
	"moved":       func(f *feature.Feature) { f.Project = "p" },
	"retyped":     func(f *feature.Feature) { f.Type = "operational" },
	"constrained": func(f *feature.Feature) { f.ContextFields = []string{"a"} },
	"described":   func(f *feature.Feature) { f.Description = new("d") },
	"short":       func(f *feature.Feature) { f.Type = "short" },
	"long":        func(f *feature.Feature) { f.Type = "long" },
	"endless":     func(f *feature.Feature) { f.Type = "endless" },
	"unknown":     func(f *feature.Feature) { f.Type = "unknown" },
	"later":       func(f *feature.Feature) { f.CreatedAt = created().Add(time.Millisecond) },
	"flagged":     func(f *feature.Feature) { f.PotentiallyStale = true },
}

// same fails the test unless got is equal to want.
func same(tb testing.TB, want, got any) {
	tb.Helper()
	assert.Equal(tb, want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(feature.Feature{}, "LastEvent", "ArchivedAt"))
}

func TestCreate(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	f := feature.Feature{
		Name: "é#1", Project: "p", Type: "t", CreatedAt: created().Add(987_654).In(time.FixedZone("", 7200)), Stale: true,
		PotentiallyStale: true,
		ContextFields:    []string{"b", "a", "b"},
	}
	db.create(t, f)
	f.CreatedAt, f.PotentiallyStale, f.ContextFields = created(), false, []string{"a", "b"}
	same(t, f, db.get(t, f.Name))
	other := feature.Feature{Name: f.Name, Project: "other", Type: "t", ContextFields: []string{"c"}}
	assert.ErrorIs(t, db.store.Create(t.Context(), other), feature.ErrExists)
	same(t, f, db.get(t, f.Name))
	got := db.update(t, f.Name, func(f *feature.Feature) {
		f.Name, f.CreatedAt, f.PotentiallyStale, f.ContextFields = "g", time.Now(), true, []string{"b", "a", "b"}
	})
	same(t, f, got)
	assert.Equal(t, "2026-11-20T05:39:00.123Z", db.item(t, f.Name).String("createdAt"))
}

func TestUnknownToggle(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	_, get := db.store.Get(t.Context(), "f")
	_, update := db.store.Update(t.Context(), "f", with(func(*feature.Feature) {}))
	for _, err := range []error{get, update, db.store.Delete(t.Context(), "f")} {
		assert.ErrorIs(t, err, feature.ErrNotFound)
	}
	assert.Equal(t, 0, len(db.Scan(t, db.Tables.Features)))
}

func TestUnknownContextField(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.create(t, toggle("g", "a"))
	_, update := db.store.Update(t.Context(), "g",
		with(func(f *feature.Feature) { f.ContextFields, f.Project = []string{"unknown"}, "other" }))
	for _, err := range []error{update, db.store.Create(t.Context(), toggle("f", "a", "unknown"))} {
		if !errors.Is(err, feature.ErrUnknownContextField) || !strings.Contains(err.Error(), `"unknown"`) {
			t.Error(err)
		}
	}
	all, err := db.store.List(t.Context())
	assert.OK(t, err)
	same(t, []feature.Feature{toggle("g", "a")}, all)
	db.wantUsage(t, "unknown field", "a/default: 1")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	other, archived := toggle("2", "a"), toggle("3", "a", "b")
	other.Project, archived.Archived = "other.#$ project", true
	db.create(t, toggle("1", "a", "b", "a"), toggle("4", "b"), toggle("5"), other, archived)
	for _, row := range table.Rows(t, 2, `
		# change | usage
		none | a/default: 1, a/other.#$ project: 1, b/default: 2
		archived | a/other.#$ project: 1, b/default: 1
		c | a/other.#$ project: 1, b/default: 1
		restored | a/other.#$ project: 1, b/default: 1, c/default: 1
		a b | a/default: 1, a/other.#$ project: 1, b/default: 2
		marked | a/default: 1, a/other.#$ project: 1, b/default: 2
		moved | a/other.#$ project: 1, a/p: 1, b/default: 1, b/p: 1
		moved back b c | a/other.#$ project: 1, b/default: 2, c/default: 1
		| a/other.#$ project: 1, b/default: 1
	`) {
		if change, ok := changes[row[0]]; ok {
			db.update(t, "1", change)
		} else if fields, back := strings.CutPrefix(row[0], "moved back"); row[0] != "none" {
			db.update(t, "1", func(f *feature.Feature) {
				if f.ContextFields = strings.Fields(fields); back {
					f.Project = "default"
				}
			})
		}
		db.wantUsage(t, row[0], row[1])
	}
	for _, name := range []string{"2", "3"} {
		assert.OK(t, db.store.Delete(t.Context(), name))
		db.wantUsage(t, "deleted", "b/default: 1")
	}
}

func TestListAll(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	all, err := db.store.List(t.Context())
	assert.OK(t, err)
	same(t, []feature.Feature{}, all)
	want := []feature.Feature{toggle("B"), toggle("a", "a"), toggle("b")}
	db.create(t, want[2], want[1], want[0])
	all, err = db.store.List(t.Context())
	assert.OK(t, err)
	same(t, want, all)
}

// Of two concurrent writes neither is lost, whatever they change.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	// overtaken returns a store whose first transaction comes after another client's update of the toggle.
	overtaken := func(name string, change func(*feature.Feature)) *feature.Store {
		return db.through(db.Before(t, "TransactWriteItems", 1, func() { db.update(t, name, change) }))
	}
	names := strings.Fields("moved retyped archived marked constrained")
	for _, first := range names {
		for _, second := range names {
			change, other := changes[first], changes[second]
			want := toggle(first + ", then " + second)
			db.create(t, want)
			_, err := overtaken(want.Name, change).Update(t.Context(), want.Name, with(other))
			assert.OK(t, err)
			change(&want)
			other(&want)
			same(t, want, db.get(t, want.Name))
			key := ""
			if !want.Archived && !want.Stale {
				key = feature.StalenessKey(want.Type, false, feature.Shard(want.Name))
			}
			assert.Equal(t, key, db.item(t, want.Name).String("staleness"))
			assert.OK(t, overtaken(want.Name, func(f *feature.Feature) { f.ContextFields = []string{"b"} }).Delete(t.Context(),
				want.Name))
		}
	}
	db.wantUsage(t, "deleted", "")
}

// An operation fails if DynamoDB rejects one of its calls.
func TestFailures(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]int{"GetItem": 4, "Scan": 1, "TransactWriteItems": 3} {
		db, n := newTables(t), 0
		db.create(t, toggle("f"))
		client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == operation {
				return c.Refuse("AccessDeniedException")
			}
			return c.Pass()
		})
		store := db.through(client)
		_, get := store.Get(t.Context(), "f")
		_, list := store.List(t.Context())
		_, update := store.Update(t.Context(), "f", with(func(f *feature.Feature) { f.Project = "other" }))
		for _, err := range []error{get, list, update, store.Create(t.Context(), toggle("g")),
			store.Delete(t.Context(), "f")} {
			if err != nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%d operations fail without %s, want %d", n, operation, want)
		}
	}
}

// Another client changes the toggle before each attempt, until the context ends.
func TestUpdateLosesEveryRace(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.create(t, toggle("f"))
	ctx, stop := context.WithCancel(t.Context())
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation != "TransactWriteItems" {
			return c.Pass()
		}
		if c.N == 3 {
			defer stop()
		}
		return c.Cancel("ConditionalCheckFailed")
	})
	_, err := db.through(client).Update(ctx, "f",
		with(func(f *feature.Feature) { f.Project = "p" }))
	stop()
	assert.ErrorIs(t, err, dynamo.ErrUnavailable)
}
