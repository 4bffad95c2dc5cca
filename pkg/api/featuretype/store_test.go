package featuretype_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func newStore(tb testing.TB) (*featuretype.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return featuretype.NewStore(db.Client, db.Tables, db.Log()), db
}

// create stores types that do not exist yet, without events.
func create(tb testing.TB, db *database.Database, all ...toggle.Type) {
	tb.Helper()
	store := featuretype.NewStore(db.Client, db.Tables, eventlog.Discard(db.Client, time.Now))
	for _, t := range all {
		assert.OK(tb, store.Create(tb.Context(), t))
	}
}

// requireStored fails the test unless exactly these types are stored.
func requireStored(tb testing.TB, store *featuretype.Store, want ...toggle.Type) {
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

// TestCreate checks that a new type is recorded, and that an existing one is kept.
func TestCreate(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	first := toggle.Type{ID: "release", Name: "first", LifetimeDays: new(int64(7))}
	assert.OK(t, store.Create(t.Context(), first))
	err := store.Create(t.Context(), toggle.Type{ID: "release", Name: "second"})
	assert.Equal(t, apierror.NameExists, apierror.KindOf(err))
	assert.Equal(t, []string{`feature-type-created type:release by system: {"id":"release","lifetimeDays":7}`},
		db.Events(t))
	stored, err := store.Get(t.Context(), "release")
	if err != nil || stored.LastEvent == 0 {
		t.Errorf("%+v, %v", stored, err)
	}
	first.LastEvent = stored.LastEvent
	if failures, err := dynamo.Transact(t.Context(), db.Client,
		[]types.TransactWriteItem{store.CreateAction(first)}); err != nil || failures == nil {
		t.Errorf("in a transaction: %v", err)
	}
	requireStored(t, store, first)
}

// TestLetterCase checks that the letter case of an id does not matter, and that an error has the id as it was sent.
func TestLetterCase(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, toggle.Type{ID: "kill-switch"})
	got, err := store.SetLifetime(t.Context(), "Kill-Switch", new(int64(7)))
	assert.OK(t, err)
	requireStored(t, store, got)
	for range 2 { // the second write changes nothing but the requests
		got, err = store.SetLifetime(t.Context(), "KILL-SWITCH", nil)
		assert.OK(t, err)
		requireStored(t, store, got)
	}
	_, err = store.Get(t.Context(), "Kill")
	assert.Equal(t, `NotFoundError: There is no feature type with the id "Kill".`, err.Error())
}

// TestSetLifetime checks that each change is stored, and recorded with the lifetime that it replaced. The same lifetime
// again is not recorded. The last change is read before another one and written after it.
func TestSetLifetime(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	want := toggle.Type{ID: "release", Name: "Release", Description: "d", LifetimeDays: new(int64(40)),
		Position: 3}
	create(t, db, want)
	set := func(store *featuretype.Store, days *int64) {
		t.Helper()
		got, err := store.SetLifetime(t.Context(), "release", days)
		assert.OK(t, err)
		want.LifetimeDays, want.LastEvent = days, got.LastEvent
		assert.Equal(t, want, got)
		requireStored(t, store, want)
	}
	for _, days := range []*int64{new(int64(7)), new(int64(7)), nil, nil, new(int64(math.MaxInt32))} {
		set(store, days)
	}
	client := db.Before(t, "TransactWriteItems", 1, func() { set(store, new(int64(1))) })
	set(featuretype.NewStore(client, db.Tables, db.LogThrough(client)), new(int64(2)))
	assert.Equal(t, `
feature-type-updated type:release by system: {"id":"release","lifetimeDays":7} before {"id":"release","lifetimeDays":40}
feature-type-updated type:release by system: {"id":"release","lifetimeDays":null} before {"id":"release","lifetimeDays":7}
feature-type-updated type:release by system: {"id":"release","lifetimeDays":2147483647} before {"id":"release","lifetimeDays":null}
feature-type-updated type:release by system: {"id":"release","lifetimeDays":1} before {"id":"release","lifetimeDays":2147483647}
feature-type-updated type:release by system: {"id":"release","lifetimeDays":2} before {"id":"release","lifetimeDays":1}`,
		"\n"+strings.Join(db.Events(t), "\n"))
}

// TestSameLifetimeChangesTheItem checks that the stream has a record of a lifetime that is set again: the item changes.
func TestSameLifetimeChangesTheItem(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, toggle.Type{ID: "release", LifetimeDays: new(int64(7))}, toggle.Type{ID: "permission"})
	item := func(id string) dynamo.Item {
		return db.Get(t, db.Tables["FeatureTypes"], dynamo.Item{"id": dynamo.S(id)})
	}
	for id, days := range map[string]*int64{"release": new(int64(7)), "permission": nil} {
		for range 2 {
			before := item(id)
			_, err := store.SetLifetime(t.Context(), id, days)
			assert.OK(t, err)
			if reflect.DeepEqual(before, item(id)) {
				t.Errorf("%s: the item has not changed: %v", id, before)
			}
		}
	}
	assert.Equal(t, []string(nil), db.Events(t))
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
		`create feature type "release": `: store.Create(ctx, toggle.Type{ID: "release"}),
	} {
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
