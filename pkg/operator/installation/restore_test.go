package installation_test

import (
	"crypto/rand"
	"log/slog"
	"slices"
	"testing"
	"time"

	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// The restore of a table from which snapshots are compiled ends their epoch. Otherwise, applications would wait for a
// version that does not come.
func TestRestoreEndsTheEpoch(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	db := database.New(t)
	i := &installation.Installation{Client: db.Client, Tables: db.Tables}
	c := compiler.New(db.Client, db.Tables, time.Now, rand.Reader, slog.New(slog.DiscardHandler))
	compile := func() (epoch string) {
		assert.OK(t, c.Compile(t.Context(), "production"))
		p, _, err := snapshottable.ReadPointer(t.Context(), db.Client, db.Tables[snapshottable.Table], "production")
		assert.OK(t, err)
		return p.Epoch
	}
	for _, table := range template.Tables {
		source := table
		source.Name = "copy-of-" + table.Name
		assert.OK(t, tables.Make(t.Context(), db.Client, []samtemplate.Table{source}))
		before := compile()
		_, err := i.Restore(t.Context(), table.Name, source.Name, time.Now())
		assert.OK(t, err)
		ends := slices.Contains([]string{"Features", "Segments", "Environments", "Snapshots"}, table.Name)
		if after := compile(); (before != after) != ends {
			t.Errorf("the restore of %s: the epoch %s becomes %s", table.Name, before, after)
		}
	}
}
