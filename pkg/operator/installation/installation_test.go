package installation_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// check checks the status of an error, and that its message contains text.
func check(t *testing.T, err error, want exitstatus.Status, text string) {
	t.Helper()
	if exitstatus.Of(err) != want || !strings.Contains(err.Error(), text) {
		t.Errorf("status %d, want %d: %v, want %q", exitstatus.Of(err), want, err, text)
	}
}

func TestInitialization(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	i := &installation.Installation{Client: db.Client, Tables: db.Tables}
	_, err := i.Initialization(t.Context())
	check(t, err, exitstatus.Uninitialized, "is not initialized, its tables are empty")
	assert.OK(t, featuretype.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
		featuretype.Defaults()[0]))
	_, err = i.Initialization(t.Context())
	check(t, err, exitstatus.Uninitialized, "is only partly initialized: it has 1 feature types and 0 context fields")
}
