package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/event"
)

// Consumers depend on the form of an event. Its id must stay the same in later versions, because a redelivery may come from one.
func TestJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 5, 39, 0, 123_456_789, time.FixedZone("", 3600))
	got, err := json.Marshal(event.New("my-stack", event.FeaturePotentiallyStaleOn, "checkout", 1795153140123, at, event.Feature{
		FeatureName: "checkout", Project: "default", FeatureType: "release", LifetimeDays: new(int64(40)), CreatedAt: "2026-10-11T05:39:00.123Z",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"specversion":"1.0","id":"1236fe30-a4da-5643-926d-5db47263dfdd","source":"my-stack",` +
		`"type":"toggleadmin.feature-potentially-stale-on","time":"2026-11-20T04:39:00.123Z","subject":"checkout","sequence":"1795153140123",` +
		`"datacontenttype":"application/json","data":{"featureName":"checkout","project":"default","featureType":"release","lifetimeDays":40,` +
		`"createdAt":"2026-10-11T05:39:00.123Z"}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// Only what identifies an event determines its id.
func TestID(t *testing.T) {
	t.Parallel()
	id := func(source string, kind event.Type, subject string, sequence int64) string {
		return event.New(source, kind, subject, sequence, time.Time{}, nil).ID
	}
	first := event.New("s", event.FeatureTypeUpdated, "a", 1, time.Now(), "data").ID
	if again := id("s", event.FeatureTypeUpdated, "a", 1); again != first {
		t.Errorf("%s and %s", first, again)
	}
	for _, other := range []string{
		id("t", event.FeatureTypeUpdated, "a", 1), id("s", event.TokenExpiring, "a", 1), id("s", event.FeatureTypeUpdated, "b", 1),
		id("s", event.FeatureTypeUpdated, "a", 2), id("s", event.FeatureTypeUpdated, "a 1", 1),
	} {
		if other == first {
			t.Errorf("two events have the id %s", first)
		}
	}
}
