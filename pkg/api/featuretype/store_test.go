package featuretype_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func newStore(tb testing.TB) (*featuretype.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return featuretype.NewStore(db.Client, db.Tables, db.Log()), db
}

// create stores types that do not exist yet, without events.
func create(tb testing.TB, db *database.Database, all ...featuretype.FeatureType) {
	tb.Helper()
	store := featuretype.NewStore(db.Client, db.Tables, eventlog.Quiet(db.Client))
	for _, t := range all {
		if err := store.Create(tb.Context(), t); err != nil {
			tb.Fatal(err)
		}
	}
}

// requireStored fails the test unless exactly these types are stored.
func requireStored(tb testing.TB, store *featuretype.Store, want ...featuretype.FeatureType) {
	tb.Helper()
	all, err := store.List(tb.Context())
	if diff := cmp.Diff(want, all); err != nil || diff != "" {
		tb.Error(err, diff)
	}
}

func TestListOrdersByPositionThenID(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	requireStored(t, store)
	want := append(featuretype.Defaults(),
		featuretype.FeatureType{ID: "a", Position: 10, LifetimeDays: new(int64(math.MaxInt32))},
		featuretype.FeatureType{ID: "b", Position: 10})
	for _, f := range slices.Backward(want) {
		create(t, db, f)
	}
	requireStored(t, store, want...)
}

func TestGet(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	want := featuretype.FeatureType{ID: "release", Name: "n", Description: "d", Position: 3, LifetimeDays: new(int64(9))}
	create(t, db, want)
	got, err := store.Get(t.Context(), "release")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := store.Get(t.Context(), "Release"); !errors.Is(err, featuretype.ErrNotFound) {
		t.Error(err)
	}
}

// TestCreate checks that a new type is recorded, and that an existing one is kept.
func TestCreate(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	first := featuretype.FeatureType{ID: "release", Name: "first", LifetimeDays: new(int64(7))}
	for _, f := range []featuretype.FeatureType{first, {ID: "release", Name: "second"}} {
		if err := store.Create(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`feature-type-created type:release by system: {"id":"release","lifetimeDays":7}`}
	if diff := cmp.Diff(want, db.Events(t)); diff != "" {
		t.Error(diff)
	}
	stored, err := store.Get(t.Context(), "release")
	if err != nil || stored.LastChange == 0 {
		t.Errorf("%+v, %v", stored, err)
	}
	first.LastChange = stored.LastChange
	if failures, err := dynamo.Transact(t.Context(), db.Client,
		[]types.TransactWriteItem{store.Creation(first)}); err != nil || failures == nil {
		t.Errorf("in a transaction: %v", err)
	}
	requireStored(t, store, first)
}

// TestSetLifetime checks that each change is stored and recorded, and that the same lifetime again changes nothing.
func TestSetLifetime(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	want := featuretype.FeatureType{ID: "release", Name: "Release", Description: "d", LifetimeDays: new(int64(40)),
		Position: 3}
	create(t, db, want)
	var changes []int64
	for _, days := range []*int64{new(int64(7)), new(int64(7)), nil, nil, new(int64(math.MaxInt32))} {
		want.LifetimeDays = days
		got, err := store.SetLifetime(t.Context(), "release", days)
		if !slices.Contains(changes, got.LastChange) {
			changes = append(changes, got.LastChange)
		}
		want.LastChange = got.LastChange
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
		requireStored(t, store, want)
	}
	for _, days := range []*int64{nil, new(int64(1))} {
		if _, err := store.SetLifetime(t.Context(), "unknown", days); !errors.Is(err, featuretype.ErrNotFound) {
			t.Error(err)
		}
	}
	requireStored(t, store, want)
	var events []eventlog.Event
	for i, data := range []string{
		`{"id":"release","lifetimeDays":40}`, `{"id":"release","lifetimeDays":7}`, `{"id":"release","lifetimeDays":null}`,
		`{"id":"release","lifetimeDays":2147483647}`,
	} {
		if i > 0 {
			events[i-1].Data = json.RawMessage(data)
		}
		if i < len(changes) {
			events = append(events, eventlog.Event{
				ID: changes[i], Type: eventlog.FeatureTypeUpdated, Subject: "type:release", By: eventlog.System,
				PreData: json.RawMessage(data),
			})
		}
	}
	slices.Reverse(events)
	got, _, err := db.Log().Search(t.Context(), eventlog.Filter{}, 0, 10)
	if diff := cmp.Diff(events, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestSetLifetimeConcurrently checks that every change is recorded with the lifetime that it replaced.
func TestSetLifetimeConcurrently(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, featuretype.FeatureType{ID: "release"})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := store.SetLifetime(t.Context(), "release", new(int64(i+1))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	last := `{"id":"release","lifetimeDays":null}`
	if err := db.Log().All(t.Context(), eventlog.Filter{}, func(e eventlog.Event) error {
		if string(e.PreData) != last {
			t.Errorf("before %s, want %s", e.PreData, last)
		}
		last = string(e.Data)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	create(t, db, featuretype.FeatureType{ID: "full", Name: "n", Description: "d", LifetimeDays: new(int64(40)),
		Position: 2},
		featuretype.FeatureType{ID: "minimal"})
	for id, want := range map[string]dynamo.Item{
		"full": {
			"id": dynamo.S("full"), "name": dynamo.S("n"), "description": dynamo.S("d"), "lifetimeDays": dynamo.N(40),
			"position": dynamo.N(2),
		},
		"minimal": {"id": dynamo.S("minimal"), "name": dynamo.S(""), "description": dynamo.S(""), "position": dynamo.N(0)},
	} {
		if diff := database.DiffItems(want, db.Get(t, db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S(id)})); diff != "" {
			t.Error(diff)
		}
	}
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, list := store.List(ctx)
	_, get := store.Get(ctx, "release")
	for want, err := range map[string]error{
		"list feature types: ": list, `get feature type "release": `: get,
		`create feature type "release": `: store.Create(ctx, featuretype.FeatureType{ID: "release"}),
	} {
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNormalID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"Kill-SWITCH": "kill-switch", "AZ@[az`{": "az@[az`{", "É": "É",
		"\u212a": "\u212a", "": ""} {
		if got := featuretype.NormalID(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

// TestDefaults checks contract section 4.2.
func TestDefaults(t *testing.T) {
	t.Parallel()
	lifetimes := map[string]int64{"release": 40, "experiment": 40, "operational": 7}
	var ids []string
	for i, f := range featuretype.Defaults() {
		ids = append(ids, f.ID)
		if days, ok := lifetimes[f.ID]; f.Position != int64(i) || (f.LifetimeDays != nil) != ok || ok &&
			*f.LifetimeDays != days {
			t.Errorf("%+v", f)
		}
	}
	if diff := cmp.Diff([]string{"release", "experiment", "operational", "kill-switch", "permission"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestFunctionsNeedTheirTable(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	database.RequireVariables(t, env, featuretype.NewListFunction, "FEATURE_TYPES_TABLE")
	database.RequireVariables(t, env, featuretype.NewUpdateLifetimeFunction, "FEATURE_TYPES_TABLE", "EVENTS_TABLE",
		"EVENT_LOG_DAYS")
}
