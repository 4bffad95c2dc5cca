package contextfield_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func newStore(tb testing.TB) (*contextfield.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	for _, id := range []string{"p", "q", "shop"} {
		db.PutProjects(tb, access.NewProject(id, id))
	}
	return contextfield.NewStore(db.Client, db.Tables, db.Log()), db
}

// create stores fields.
func create(tb testing.TB, store *contextfield.Store, fields ...contextfield.ContextField) {
	tb.Helper()
	for _, f := range fields {
		_, err := store.Create(tb.Context(), f)
		assert.OK(tb, err)
	}
}

// setReferences stores how many toggles of each project use the field f.
func setReferences(tb testing.TB, db *database.Database, counts references.ByProject) {
	tb.Helper()
	item := contextfield.ReferencesStore(db.Client, db.Tables).Item("f", references.Counts{ByProject: counts})
	db.Put(tb, db.Tables["ContextFields"], item)
}

// TestList checks contract section 4.4: the fields of a new instance, the order by sort order, and that of names by
// code points.
func TestList(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	create(t, store, contextfield.Defaults(now())...)
	h := handlers(store)
	h.ExpectStatus(t.Context(), t, "create", "", `{"name":"~","sortOrder":3}`, 201)
	h.ExpectStatus(t.Context(), t, "create", "", `{"name":"Z","sortOrder":3}`, 201)
	h.Expect(t.Context(), t, "list", "", "", "200 ["+strings.Join([]string{
		described("environment", `"Allows you to constrain on application environment"`, 0, ""),
		described("userId", `"Allows you to constrain on userId"`, 1, ""),
		described("appName", `"Allows you to constrain on application name"`, 2, ""),
		plain("Z", 3),
		described("currentTime", `"Allows you to constrain on date values"`, 3, ""),
		plain("~", 3),
		strings.Replace(described("sessionId", `"Allows you to constrain on sessionId"`, 4, ""), `"stickiness":false`,
			`"stickiness":true`, 1),
	}, ",")+"]")
}
