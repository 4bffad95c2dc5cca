package featuretype_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
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
		assert.OK(tb, store.Create(tb.Context(), t))
	}
}

// requireStored fails the test unless exactly these types are stored.
func requireStored(tb testing.TB, store *featuretype.Store, want ...featuretype.FeatureType) {
	tb.Helper()
	all, err := store.List(tb.Context())
	assert.OK(tb, err)
	assert.Equal(tb, want, all)
	for _, t := range want {
		got, err := store.Get(tb.Context(), t.ID)
		assert.OK(tb, err)
		assert.Equal(tb, t, got)
	}
}

func TestListOrdersByPositionThenID(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	want := append(featuretype.Defaults(),
		featuretype.FeatureType{ID: "a", Position: 10, LifetimeDays: new(int64(math.MaxInt32))},
		featuretype.FeatureType{ID: "b", Position: 10})
	for _, f := range slices.Backward(want) {
		create(t, db, f)
	}
	requireStored(t, store, want...)
}

// TestCreate checks that a new type is recorded, and that an existing one is kept.
func TestCreate(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	first := featuretype.FeatureType{ID: "release", Name: "first", LifetimeDays: new(int64(7))}
	assert.OK(t, store.Create(t.Context(), first),
		store.Create(t.Context(), featuretype.FeatureType{ID: "release", Name: "second"}))
	assert.Equal(t, []string{`feature-type-created type:release by system: {"id":"release","lifetimeDays":7}`},
		db.Events(t))
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
	var changes, recorded []int64
	for _, days := range []*int64{new(int64(7)), new(int64(7)), nil, nil, new(int64(math.MaxInt32))} {
		got, err := store.SetLifetime(t.Context(), "release", days)
		assert.OK(t, err)
		want.LifetimeDays, want.LastChange = days, got.LastChange
		assert.Equal(t, want, got)
		requireStored(t, store, want)
		changes = append(changes, got.LastChange)
	}
	_, get := store.Get(t.Context(), "Release")
	_, end := store.SetLifetime(t.Context(), "unknown", nil)
	_, set := store.SetLifetime(t.Context(), "unknown", new(int64(1)))
	for _, err := range []error{get, end, set} {
		assert.ErrorIs(t, err, featuretype.ErrNotFound)
	}
	requireStored(t, store, want)
	assert.OK(t, db.Log().All(t.Context(), eventlog.Filter{}, func(e eventlog.Event) error {
		recorded = append(recorded, e.ID)
		return nil
	}))
	assert.Equal(t, slices.Compact(changes), recorded)
	assert.Equal(t, `
feature-type-updated type:release by system: {"id":"release","lifetimeDays":7} before {"id":"release","lifetimeDays":40}
feature-type-updated type:release by system: {"id":"release","lifetimeDays":null} before {"id":"release","lifetimeDays":7}
feature-type-updated type:release by system: {"id":"release","lifetimeDays":2147483647} before {"id":"release","lifetimeDays":null}`,
		"\n"+strings.Join(db.Events(t), "\n"))
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
	assert.OK(t, db.Log().All(t.Context(), eventlog.Filter{}, func(e eventlog.Event) error {
		assert.Equal(t, last, string(e.PreData))
		last = string(e.Data)
		return nil
	}))
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
		assert.Equal(t, want, db.Get(t, db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S(id)}), database.Items())
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
		assert.Equal(t, want, featuretype.NormalID(id))
	}
}

func TestFunctionsNeedTheirTable(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	database.RequireVariables(t, env, featuretype.NewListFunction, "FEATURE_TYPES_TABLE")
	database.RequireVariables(t, env, featuretype.NewUpdateLifetimeFunction, "FEATURE_TYPES_TABLE", "EVENTS_TABLE",
		"EVENT_LOG_DAYS")
}
