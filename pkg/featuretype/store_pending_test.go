package featuretype_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/featuretype"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// updated returns the event of the change number n of the type "release", from 1.
func updated(n int64, from, to *int64, by event.Changer) event.Event {
	return event.New("s", event.FeatureTypeUpdated, "release", noon().UnixMilli()+n, noon(),
		event.FeatureType{ID: "release", LifetimeDays: to, PreviousLifetimeDays: from, ChangedBy: by})
}

// Each change is announced with the lifetime before it, whether or not earlier ones were sent. The same lifetime again is no change.
func TestChangesAreAnnounced(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]*int64{"with a lifetime": new(int64(40)), "without": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain, db := newStore(t)
			store := plain.Announcing("s", noon)
			create(t, plain, featuretype.FeatureType{ID: "release", LifetimeDays: before})
			user := auth.WithPrincipal(t.Context(), auth.UserPrincipal(1, auth.RoleAdmin))
			token := auth.WithPrincipal(t.Context(), auth.Principal{ID: "api-token:abc"})
			byUser, byToken := event.Changer{Type: "user", ID: int64(1)}, event.Changer{Type: "api-token", ID: "abc"}

			requirePending(t, setLifetime(user, t, store, new(int64(7))), updated(1, before, new(int64(7)), byUser))
			requirePending(t, setLifetime(user, t, store, new(int64(7))), updated(1, before, new(int64(7)), byUser))
			first := setLifetime(token, t, store, nil)
			requirePending(t, first, updated(1, before, new(int64(7)), byUser), updated(2, new(int64(7)), nil, byToken))
			requirePending(t, setLifetime(token, t, store, nil), first.Pending...)
			last := setLifetime(user, t, store, new(int64(9)))
			requirePending(t, last, append(slices.Clone(first.Pending), updated(3, nil, new(int64(9)), byUser))...)

			for _, f := range []featuretype.FeatureType{first, last} { // the first is not the last change: it clears nothing
				all, err := store.List(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				requirePending(t, all[0], last.Pending...)
				if err := store.Announced(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			requirePending(t, setLifetime(user, t, store, new(int64(8))), updated(4, new(int64(9)), new(int64(8)), byUser))

			// Without a source, changes and what is pending stay out of sight.
			requirePending(t, setLifetime(user, t, plain, new(int64(1))))
			item := db.Get(t, db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S("release")})
			if n := len(item.List("pending")); n != 1 {
				t.Errorf("%d entries", n)
			}
		})
	}
}

func setLifetime(ctx context.Context, tb testing.TB, store *featuretype.Store, days *int64) featuretype.FeatureType {
	tb.Helper()
	f, err := store.SetLifetime(ctx, "release", days)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(days, f.LifetimeDays); diff != "" {
		tb.Error(diff)
	}
	return f
}

func requirePending(tb testing.TB, f featuretype.FeatureType, want ...event.Event) {
	tb.Helper()
	if diff := cmp.Diff(want, f.Pending); diff != "" {
		tb.Error(diff)
	}
}

// Without a source, a change stores nothing about events.
func TestNothingIsAnnounced(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, store, featuretype.FeatureType{ID: "release", LifetimeDays: new(int64(40))})
	for _, days := range []*int64{new(int64(7)), nil, new(int64(9))} {
		setLifetime(t.Context(), t, store, days)
	}
	item := db.Get(t, db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S("release")})
	if diff := cmp.Diff([]string{"description", "id", "lifetimeDays", "name", "position"}, slices.Sorted(maps.Keys(item))); diff != "" {
		t.Error(diff)
	}
}
