package toggle_test

import (
	"testing"

	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// SetEnvironment keeps a context field that was set, and removes one that no strategy uses anymore.
func TestSetEnvironmentKeepsContextFields(t *testing.T) {
	t.Parallel()
	f := toggle.Feature{ContextFields: []string{"region"}}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{
		{ID: "1", Constraints: []toggle.Constraint{{ContextName: "plan"}}},
	}})
	assert.Equal(t, []string{"plan", "region"}, f.ContextFields)
	f.SetEnvironment("production", toggle.Environment{Enabled: true})
	assert.Equal(t, []string{"region"}, f.ContextFields)
}

// SetEnvironment orders strategies, derives the context fields, and leaves an environment out that has no state. A copy
// of the toggle keeps its state.
func TestSetEnvironment(t *testing.T) {
	t.Parallel()
	var f toggle.Feature
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{
		{ID: "3", SortOrder: 1, Constraints: []toggle.Constraint{{ContextName: "plan"}, {ContextName: "userId"}}},
		{ID: "2", Parameters: map[string]string{"stickiness": "company"}, Variants: []toggle.Variant{{Name: "a"}, {Name: "b"}}},
		{ID: "1", SortOrder: 1, Parameters: map[string]string{"stickiness": "random"}, Variants: []toggle.Variant{{Name: "a"}}},
	}})
	var ids []string
	for _, s := range f.Environments["production"].Strategies {
		ids = append(ids, s.ID)
	}
	assert.Equal(t, []string{"2", "1", "3"}, ids)
	assert.Equal(t, []string{"company", "plan"}, f.ContextFields)
	assert.Equal(t, 2, f.Environments["production"].VariantCount())

	before := f
	f.SetEnvironment("production", toggle.Environment{})
	assert.Equal(t, 0, len(f.Environments)+len(f.ContextFields))
	assert.Equal(t, []string{"production"}, before.EnabledEnvironments())
}
