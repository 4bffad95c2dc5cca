package featuretable_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
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
				CreatedBy:        &toggle.Creator{ID: 7},
				PotentiallyStale: true,
				ContextFields:    []string{"a", "b"},
				LastEvent:        8,
				Owner:            &toggle.Owner{Kind: toggle.OwnerGroup, ID: 3},
				Imported:         "a",
			},
			staleness: "release#potentially-stale#12",
		},
		{
			toggle: toggle.Feature{
				Name: "imported", Project: "p", Type: "release", CreatedAt: at, CreatedBy: &toggle.Creator{Name: "ada"},
				Owner: &toggle.Owner{Kind: toggle.OwnerText, Name: "Checkout: team"},
			},
			staleness: "release#fresh#5",
		},
		{toggle: toggle.Feature{Name: "archived", Project: "p", Type: "release", CreatedAt: at, Archived: true, ArchivedAt: &at}},
		{
			toggle: toggle.Feature{
				Name:      "active",
				Project:   "p",
				Type:      "release",
				CreatedAt: at,
				Environments: map[string]toggle.Environment{
					"production": {Enabled: true, Strategies: []toggle.Strategy{{
						ID:          "1",
						Name:        toggle.StrategyFlexibleRollout,
						Constraints: []toggle.Constraint{{ContextName: "userId", Operator: toggle.OperatorIn, Values: []string{"7"}}},
						Parameters:  map[string]string{"rollout": "50"},
						Variants:    []toggle.Variant{{Name: "v", Weight: 1000}},
						Segments:    []int64{3, 12},
					}}},
				},
				Dependency: &toggle.Dependency{Feature: "parent", Enabled: true, Variants: []string{"v"}},
				Children:   []string{"c"},
			},
			staleness: "release#fresh#15",
		},
		{toggle: toggle.Feature{Name: "stale", Project: "p", Type: "release", CreatedAt: at, Stale: true}},
	} {
		item := featuretable.Marshal(test.toggle)
		stored, err := featuretable.Unmarshal(item)
		assert.OK(t, err)
		assert.Equal(t, test.toggle, stored)
		assert.Equal(t, test.staleness, item.String(featuretable.AttributeStaleness))
	}
	assert.Equal(t, featuretable.Row{Toggle: toggle.Feature{Name: "a"}},
		featuretable.UnmarshalRow(featuretable.Key("a")), cmp.AllowUnexported(featuretable.Row{}))
}

// TestEveryPropertyIsStored fails if a property of toggles is missing in the item.
func TestEveryPropertyIsStored(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)
	f := toggle.Feature{
		Name: "f", Project: "p", Type: "release", Description: new("d"), ImpressionData: true, CreatedAt: at,
		CreatedBy: &toggle.Creator{ID: 7}, Archived: true, ArchivedAt: &at, Stale: true, PotentiallyStale: true,
		ContextFields: []string{"a"}, Environments: map[string]toggle.Environment{"production": {Enabled: true}},
		Dependency: &toggle.Dependency{Feature: "parent", Variants: []string{}}, Children: []string{"c"}, Imported: "a",
		ManagedBy: "https://example.com", Tags: []toggle.Tag{{Type: "simple", Value: "a:b"}},
		Owner: &toggle.Owner{Kind: toggle.OwnerUser, ID: 7}, Keep: &toggle.Keep{Until: at.Truncate(24 * time.Hour), Reason: "r"},
		Links:     []toggle.Link{{ID: "1", URL: "https://example.com", Title: new("t")}, {ID: "2", URL: "https://example.com"}},
		LastEvent: 8, LastSeen: map[string]time.Time{"production": at}, ForAllSince: map[string]time.Time{"production": at},
		FirstSeen: map[string]time.Time{"test": at}, StaleSince: &at,
	}
	for property, value := range reflect.ValueOf(f).Fields() {
		assert.Equal(t, "", map[bool]string{true: property.Name + " has no value in this test"}[value.IsZero()])
	}
	item := featuretable.Marshal(f)
	item[featuretable.AttributeFirstSeen] = dynamo.S(featuretable.EncodeTimes(f.FirstSeen))
	item[featuretable.AttributeLastSeen] = dynamo.S(featuretable.EncodeTimes(f.LastSeen))
	stored, err := featuretable.Unmarshal(item)
	assert.OK(t, err)
	assert.Equal(t, f, stored)
}

// A row has the parts of the environments by which searches select toggles.
func TestRow(t *testing.T) {
	t.Parallel()
	f := toggle.Feature{Name: "a"}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{
		{ID: "1", Name: "default", Segments: []int64{3, 12}},
	}})
	f.SetEnvironment("development", toggle.Environment{Strategies: []toggle.Strategy{{ID: "2", Segments: []int64{4}}}})
	item := featuretable.Marshal(f)
	state := string(item.Bytes(featuretable.AttributeEnvironments))
	assert.Equal(t, "production\n3 4 12\n", state[:strings.Index(state, "12")+3])
	row := featuretable.UnmarshalRow(item)
	assert.Equal(t, []string{"production"}, row.EnabledIn)
	assert.Equal(t, []int64{3, 4, 12}, row.Segments)

	f.SetEnvironment("production", toggle.Environment{})
	f.SetEnvironment("development", toggle.Environment{Strategies: []toggle.Strategy{{ID: "2", Name: "default"}}})
	row = featuretable.UnmarshalRow(featuretable.Marshal(f))
	assert.Equal(t, 0, len(row.EnabledIn)+len(row.Segments))
}

// A state that the service has not written is an error.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"", "x", "production\n", "production\nx\n", "production\n3\nx"} {
		item := featuretable.Key("a")
		item[featuretable.AttributeEnvironments] = dynamo.B([]byte(state))
		_, err := featuretable.Unmarshal(item)
		assert.Equal(t, true, err != nil && strings.HasPrefix(err.Error(), `decode the environments of the toggle "a": `))
	}
}

// The index keys of stored toggles depend on these values, which were computed independently.
func TestShard(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": 5, "a": 12, "f": 9, "toggle": 5, "\U0001F600": 8} {
		assert.Equal(t, want, featuretable.Shard(name))
	}
}
