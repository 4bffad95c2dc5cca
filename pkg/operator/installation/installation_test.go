package installation_test

import (
	"testing"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func TestInitialization(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	i := &installation.Installation{Name: "the stack", Option: "--stack x", Client: db.Client, Tables: db.Tables}
	_, empty := i.Initialization(t.Context())
	assert.OK(t, featuretype.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(), toggle.DefaultTypes()[0]))
	i.Stack.Name = "x"
	_, partly := i.Initialization(t.Context())
	assert.Equal(t, `5 the stack is not initialized, its tables are empty: restart ~make run~, which initializes it
5 the stack is only partly initialized: it has 1 feature types and 0 context fields, but the table PersonalAccessTokens has no marker: run ~toggleadmin init --stack x~, which adds what is missing and changes nothing else
`, statuses(empty, partly))
}
