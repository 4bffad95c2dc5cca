package operator_test

import (
	"context"
	"fmt"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestChangeTogglesWithManyFields archives 50 toggles that use 50 context fields. This takes 150 actions, and a
// transaction has 100.
func TestChangeTogglesWithManyFields(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	o := newOperator(db, installation.Installation{})
	fields := contextfield.NewStore(db.Client, db.Tables, db.Log())
	var names []string
	for n := range operator.MaxToggles {
		field, name := fmt.Sprintf("field-%02d", n), fmt.Sprintf("toggle-%02d", n)
		_, err := fields.Create(t.Context(), contextfield.ContextField{Name: field})
		assert.OK(t, err)
		_, _, _, err = o.PutToggle(t.Context(), name, operator.ToggleChange{ContextFields: &[]string{field}})
		assert.OK(t, err)
		names = append(names, name)
	}
	changes, err := o.ChangeToggles(t.Context(), names, operator.Archive)
	assert.OK(t, err)
	assert.Equal(t, names, changes.Changed)
	again, err := o.ChangeToggles(t.Context(), names, operator.Archive)
	assert.OK(t, err)
	assert.Equal(t, names, again.Unchanged)
}

// TestChangeTogglesThatWereDeleted checks that the others are changed.
func TestChangeTogglesThatWereDeleted(t *testing.T) {
	t.Parallel()
	o := newOperator(database.New(t), installation.Installation{})
	for _, name := range []string{"a", "c"} {
		_, _, _, err := o.PutToggle(t.Context(), name, operator.ToggleChange{})
		assert.OK(t, err)
	}
	changes, err := o.ChangeToggles(t.Context(), []string{"a", "b", "c", "d"}, operator.MarkStale)
	assert.OK(t, err)
	assert.Equal(t, []string{"a", "c"}, changes.Changed)
	assert.Equal(t, "3 there is no toggle with the name \"b\"\nthere is no toggle with the name \"d\"\n",
		statuses(changes.Err()))
}

// TestInterruptedChangeOfToggles checks that a call without a result is an error.
func TestInterruptedChangeOfToggles(t *testing.T) {
	t.Parallel()
	o := newOperator(database.New(t), installation.Installation{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.ChangeToggles(ctx, []string{"a"}, operator.Archive); err == nil {
		t.Error("no error")
	}
}
