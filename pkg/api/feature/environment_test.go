package feature_test

import (
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/toggles"
)

// Deleting an environment removes its state from toggles, and releases what its strategies use. A write that has read
// the toggle before does not bring the state back.
func TestRemoveEnvironment(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, "{}")
	const constrained = `{"name":"default","constraints":[{"contextName":"a","operator":"IN","values":["x"]}]}`
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default"}`, 200)
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", constrained, 200)
	assert.Equal(t, "a/default: 1", a.References(t))

	environments := environment.NewStore(a.Client, a.Tables, a.Log())
	deletion, err := environments.MarkDeleted(t.Context(), "prod", func(environment.Environment) error { return nil })
	assert.OK(t, err)
	late := a.StoreOn(a.Before(t, "TransactWriteItems", 1, func() {
		assert.OK(t, a.Store.RemoveEnvironment(t.Context(), deletion))
	}))
	_, err = late.Update(t.Context(), "f", toggles.With(`{"description":"late"}`))
	assert.OK(t, err)
	f := a.Toggle(t, "f")
	_, stays := f.Environments["dev"]
	_, has := f.Environments["prod"]
	assert.Equal(t, []bool{true, false}, []bool{stays, has})
	assert.Equal(t, "", a.References(t))
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", `{"name":"default"}`, 404)
	assert.OK(t, environments.Finish(t.Context(), deletion))

	// After the environment was created again, a late repetition of the deletion removes nothing.
	_, err = environments.Create(t.Context(), environment.Environment{Name: "prod", Type: "production"})
	assert.OK(t, err)
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", constrained, 200)
	assert.OK(t, a.Store.RemoveEnvironment(t.Context(), deletion))
	assert.Equal(t, 1, len(a.Toggle(t, "f").Environments["prod"].Strategies))

	// An environment in which a toggle is on is not deleted.
	a.ExpectStatus(t.Context(), t, "on", "default/f/prod", "", 200)
	_, err = environments.MarkDeleted(t.Context(), "prod", func(environment.Environment) error { return nil })
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
}

// A toggle cannot be created with the state of an environment that does not exist.
func TestCreateInMissingEnvironment(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	f := toggles.New(t, "{}")
	f.SetEnvironment("test", toggle.Environment{Strategies: []toggle.Strategy{{ID: "1", Name: "default"}}})
	_, err := a.Store.Create(t.Context(), f)
	assert.Equal(t, apierror.NotFound, apierror.KindOf(err))
}
