package installation_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// A restore ends the epoch of the snapshots. Otherwise, applications would wait for a version that does not come. It
// writes nothing if a copy is missing.
func TestRestoreEndsTheEpoch(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	db := database.New(t)
	i := &installation.Installation{Client: db.Client, Tables: db.Tables}
	c := compiler.New(db.Client, db.Tables, time.Now, rand.Reader, slog.New(slog.DiscardHandler))
	epoch := func() string {
		assert.OK(t, c.Compile(t.Context(), "production"))
		p, _, err := snapshottable.ReadPointer(t.Context(), db.Client, db.Tables[snapshottable.Table], "production")
		assert.OK(t, err)
		return p.Epoch
	}
	before := epoch()
	for _, table := range template.Tables {
		if table.Name == "Users" {
			continue
		}
		table.Name = "copy-of-" + table.Name
		assert.OK(t, tables.Make(t.Context(), db.Client, []samtemplate.Table{table}))
	}
	restore := func() (restored []string, err error) {
		err = i.Restore(t.Context(), "copy-of-", time.Now, func(r installation.Restored) { restored = append(restored, r.Table) })
		return restored, err
	}
	restored, err := restore()
	assert.Equal(t, "there is no table copy-of-Users", fmt.Sprint(err))
	assert.Equal(t, 0, len(restored))
	assert.Equal(t, before, epoch())
	other := slices.IndexFunc(template.Tables, func(t samtemplate.Table) bool { return t.Name == "Features" })
	wrong := template.Tables[other]
	wrong.Name = "copy-of-Users"
	assert.OK(t, tables.Make(t.Context(), db.Client, []samtemplate.Table{wrong}))
	_, err = restore()
	assert.Equal(t, "copy-of-Users is not a copy of the table "+db.Tables["Users"]+": its key is [name], not [id]",
		fmt.Sprint(err))
	_, err = db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &wrong.Name})
	assert.OK(t, err)
	users := template.Tables[slices.IndexFunc(template.Tables, func(t samtemplate.Table) bool { return t.Name == "Users" })]
	users.Name = wrong.Name
	assert.OK(t, tables.Make(t.Context(), db.Client, []samtemplate.Table{users}))
	restored, err = restore()
	assert.OK(t, err)
	assert.Equal(t, len(template.Tables)-1, len(restored)) // all but Snapshots
	if before == epoch() {
		t.Errorf("the epoch stays %s", before)
	}
}
