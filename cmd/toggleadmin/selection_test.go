package main_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	main "toggleadmin/cmd/toggleadmin"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestInterruptedChangeOfToggles archives 60 toggles in two transactions, and is interrupted before the second one.
func TestInterruptedChangeOfToggles(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	i := installation.Installation{Client: db.Client, Tables: db.Tables}
	o := operator.New(&i, time.Now, rand.Reader)
	var names []string
	for n := range operator.MaxToggles + 10 {
		names = append(names, fmt.Sprintf("toggle-%02d", n))
		_, _, _, err := o.PutToggle(t.Context(), names[n], operator.ToggleChange{})
		assert.OK(t, err)
	}
	ctx, client := db.Interrupted(t.Context(), t, 2, false)
	interrupted := i
	interrupted.Client = client
	changed, err := main.ArchiveToggles(ctx, operator.New(&interrupted, time.Now, rand.Reader), names)
	assert.Equal(t, names[:operator.MaxToggles], changed)
	assert.Equal(t, "interrupted: what was changed stays; repeat the command to change the rest", fmt.Sprint(err))

	changed, err = main.ArchiveToggles(t.Context(), o, names)
	assert.OK(t, err)
	assert.Equal(t, names[operator.MaxToggles:], changed)
}
