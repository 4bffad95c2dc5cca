package featuretable_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
)

// A toggle is read as it was stored. One that can become stale has a key in the staleness index.
func TestMarshal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
	for _, test := range []struct {
		toggle    toggle.Feature
		staleness string
	}{
		{
			toggle:    toggle.Feature{Name: "minimal", Project: "p", Type: "release", CreatedAt: at},
			staleness: "release#fresh#0",
		},
		{
			toggle: toggle.Feature{
				Name:             "full",
				Project:          "p",
				Type:             "release",
				Description:      new(""),
				ImpressionData:   true,
				CreatedAt:        at,
				CreatedBy:        &toggle.Creator{ID: 7, Name: "ada"},
				PotentiallyStale: true,
				ContextFields:    []string{"a", "b"},
				LastEvent:        8,
			},
			staleness: "release#potentially-stale#12",
		},
		{toggle: toggle.Feature{Name: "archived", Project: "p", Type: "release", CreatedAt: at, Archived: true, ArchivedAt: &at}},
		{toggle: toggle.Feature{Name: "stale", Project: "p", Type: "release", CreatedAt: at, Stale: true}},
	} {
		item := featuretable.Marshal(test.toggle)
		assert.Equal(t, test.toggle, featuretable.Unmarshal(item))
		assert.Equal(t, test.staleness, item.String(featuretable.AttributeStaleness))
	}
	assert.Equal(t, toggle.Feature{Name: "a"}, featuretable.Unmarshal(dynamo.Item{"name": dynamo.S("a")}))
}

// The index keys of stored toggles depend on these values, which were computed independently.
func TestShard(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": 5, "a": 12, "f": 9, "toggle": 5, "\U0001F600": 8} {
		assert.Equal(t, want, featuretable.Shard(name))
	}
}
