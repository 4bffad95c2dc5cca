package contextfield_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func newStore(tb testing.TB) (*contextfield.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return contextfield.NewStore(db.Client, db.Tables, db.Log()), db
}

// create stores fields.
func create(tb testing.TB, store *contextfield.Store, fields ...contextfield.ContextField) {
	tb.Helper()
	for _, f := range fields {
		assert.OK(tb, store.Create(tb.Context(), f))
	}
}

// setUsage stores how many toggles of each project use a field.
func setUsage(tb testing.TB, db *database.Database, name string, usage dynamo.Item) {
	tb.Helper()
	item := db.Get(tb, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S(name)})
	item["usage"] = dynamo.M(usage)
	db.Put(tb, db.Tables.ContextFields, item)
}

// TestList checks contract section 4.4: the fields of a new instance, the order by sort order, and that of names by code
// points.
func TestList(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	create(t, store, contextfield.Defaults(now())...)
	handlers(store).Run(t.Context(), t, strings.NewReplacer("},\n\t\t\t", "},", "; ", `","description":"`,
		" = ", `","stickiness":false,"sortOrder":`, " REST",
		`,"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,"legalValues":[]`).Replace(`
		create | | {"name":"~","description":"-","sortOrder":3} | 201 {…
		create | | {"name":"Z","description":"-","sortOrder":3} | 201 {…
		list | | | 200 [{"name":"environment; Constrain on the environment that the application runs in. = 0 REST},
			{"name":"userId; Constrain on the user's id. = 1 REST},
			{"name":"appName; Constrain on the application's name. = 2 REST},
			{"name":"Z; - = 3 REST},
			{"name":"currentTime; Constrain on the date and time of the evaluation. = 3 REST},
			{"name":"~; - = 3 REST},
			{"name":"sessionId; Constrain on the user's session.","stickiness":true,"sortOrder":4 REST}]
	`))
}

func TestFunctionsNeedTheirTable(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	for _, construct := range []app.Constructor{contextfield.NewCreateFunction, contextfield.NewUpdateFunction} {
		env.Vars["MAX_CONTEXT_FIELD_KILOBYTES"] = "5001"
		if _, err := construct(env); err == nil ||
			!strings.Contains(err.Error(), "MAX_CONTEXT_FIELD_KILOBYTES must be a number from 1 to 5000") {
			t.Error(err)
		}
		env.Vars["MAX_CONTEXT_FIELD_KILOBYTES"] = "5000"
		database.RequireVariables(t, env, construct, "CONTEXT_FIELDS_TABLE", "MAX_CONTEXT_FIELD_KILOBYTES")
	}
	for _, construct := range []app.Constructor{contextfield.NewListFunction, contextfield.NewGetFunction,
		contextfield.NewDeleteFunction} {
		database.RequireVariables(t, env, construct, "CONTEXT_FIELDS_TABLE")
	}
}
