package featuretype_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/test/database"
)

func newStore(tb testing.TB) (*featuretype.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return featuretype.NewStore(db.Client, db.Tables), db
}

// create stores types that do not exist yet.
func create(tb testing.TB, store *featuretype.Store, all ...featuretype.FeatureType) {
	tb.Helper()
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
	store, _ := newStore(t)
	requireStored(t, store)
	want := append(featuretype.Defaults(),
		featuretype.FeatureType{ID: "a", Position: 10, LifetimeDays: new(int64(math.MaxInt32))}, featuretype.FeatureType{ID: "b", Position: 10})
	for _, f := range slices.Backward(want) {
		create(t, store, f)
	}
	requireStored(t, store, want...)
}

func TestGet(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	want := featuretype.FeatureType{ID: "release", Name: "n", Description: "d", Position: 3, LifetimeDays: new(int64(9))}
	create(t, store, want)
	got, err := store.Get(t.Context(), "release")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := store.Get(t.Context(), "Release"); !errors.Is(err, featuretype.ErrNotFound) {
		t.Error(err)
	}
}

func TestCreateKeepsAnExistingType(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	first := featuretype.FeatureType{ID: "release", Name: "first"}
	create(t, store, first, featuretype.FeatureType{ID: "release", Name: "second"})
	if failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{store.Creation(first)}); err != nil || failures == nil {
		t.Errorf("in a transaction: %v", err)
	}
	requireStored(t, store, first)
}

func TestSetLifetime(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	want := featuretype.FeatureType{ID: "release", Name: "Release", Description: "d", LifetimeDays: new(int64(40)), Position: 3}
	create(t, store, want)
	for _, days := range []*int64{new(int64(7)), new(int64(7)), nil, nil, new(int64(math.MaxInt32))} {
		want.LifetimeDays = days
		got, err := store.SetLifetime(t.Context(), "release", days)
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
}

func TestItems(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, store, featuretype.FeatureType{ID: "full", Name: "n", Description: "d", LifetimeDays: new(int64(40)), Position: 2},
		featuretype.FeatureType{ID: "minimal"})
	for id, want := range map[string]dynamo.Item{
		"full": {
			"id": dynamo.S("full"), "name": dynamo.S("n"), "description": dynamo.S("d"), "lifetimeDays": dynamo.N(40), "position": dynamo.N(2),
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
	_, set := store.SetLifetime(ctx, "release", nil)
	for want, err := range map[string]error{
		"list feature types: ": list, `get feature type "release": `: get, `set the lifetime of feature type "release": `: set,
		`create feature type "release": `: store.Create(ctx, featuretype.FeatureType{ID: "release"}),
	} {
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNormalID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"Kill-SWITCH": "kill-switch", "AZ@[az`{": "az@[az`{", "É": "É", "\u212a": "\u212a", "": ""} {
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
		if days, ok := lifetimes[f.ID]; f.Position != int64(i) || (f.LifetimeDays != nil) != ok || ok && *f.LifetimeDays != days {
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
	database.RequireVariables(t, env, featuretype.NewUpdateLifetimeFunction, "FEATURE_TYPES_TABLE")
}
