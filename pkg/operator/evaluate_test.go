package operator_test

import (
	"crypto/rand"
	"testing"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// A toggle is evaluated with its parent.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	_, err := seed.Seed(t.Context(), seed.Config{
		Client: db.Client, Tables: db.Tables, Log: db.Log(), Now: now, Random: rand.Reader,
	})
	assert.OK(t, err)
	norway := toggle.Constraint{ContextName: "country", Operator: "IN", Values: []string{"NO"}}
	put := func(f toggle.Feature) {
		f.Project = "shop"
		f.SetEnvironment("production", toggle.Environment{
			Enabled: true, Strategies: []toggle.Strategy{{ID: "1", Name: "default", Constraints: []toggle.Constraint{norway}}},
		})
		db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(f))
	}
	put(toggle.Feature{Name: "parent"})
	put(toggle.Feature{Name: "child", Dependency: &toggle.Dependency{Feature: "parent", Enabled: true}})
	put(toggle.Feature{Name: "orphan", Dependency: &toggle.Dependency{Feature: "gone", Enabled: true}})
	put(toggle.Feature{Name: "archived", Archived: true})
	o := newOperator(db, installation.Installation{})
	for _, row := range []struct {
		name, environment, country string
		enabled, unsatisfied       bool
	}{
		{"parent", "production", "NO", true, false},
		{"parent", "production", "SE", false, false},
		{"parent", "development", "NO", false, false},
		{"child", "production", "NO", true, false},
		{"child", "production", "SE", false, true},
		{"orphan", "production", "NO", false, true},
		{"archived", "production", "NO", false, false},
	} {
		result, err := o.Evaluate(t.Context(), row.name, row.environment, playground.Fields{"country": row.country})
		assert.OK(t, err)
		if result.IsEnabled != row.enabled || result.HasUnsatisfiedDependency != row.unsatisfied {
			t.Errorf("%v: enabled %t, unsatisfied dependency %t", row, result.IsEnabled, result.HasUnsatisfiedDependency)
		}
	}
}
