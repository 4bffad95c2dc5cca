package contextfield_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

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

// requireStored fails the test unless exactly these fields are stored.
func requireStored(tb testing.TB, store *contextfield.Store, want ...contextfield.ContextField) {
	tb.Helper()
	all, err := store.List(tb.Context())
	assert.OK(tb, err)
	assert.Equal(tb, want, all, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(contextfield.ContextField{}, "LastEvent"))
}

func TestListOrdersBySortOrderThenName(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	requireStored(t, store)
	var want []contextfield.ContextField
	for i, name := range []string{"last name, lowest order", "A", "Z", "a", "é", "\uff5e", "\U0001F600"} {
		want = append(want, contextfield.ContextField{Name: name, SortOrder: int64(min(i, 1))})
	}
	for _, f := range slices.Backward(want) {
		create(t, store, f)
	}
	requireStored(t, store, want...)
}

// TestItem checks that a field is stored unused, with times in UTC with milliseconds.
func TestItem(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	fine := time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200))
	create(t, store, contextfield.ContextField{
		Name: "full", Description: new("d"), Stickiness: true, SortOrder: 1, CreatedAt: &fine,
		Usage:       map[string]int64{"p": 3},
		LegalValues: []contextfield.LegalValue{{Value: "z", Description: new("w")}, {Value: "a"}},
	})
	got := db.Get(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("full")})
	delete(got, "size")
	delete(got, "event")
	assert.Equal(t, dynamo.Item{
		"name": dynamo.S("full"), "description": dynamo.S("d"), "stickiness": dynamo.Bool(true), "sortOrder": dynamo.N(1),
		"createdAt": dynamo.S("2026-11-20T05:39:00.123Z"), "usage": dynamo.M(nil),
		"legalValues": dynamo.L(dynamo.Item{"value": dynamo.S("z"), "description": dynamo.S("w")},
			dynamo.Item{"value": dynamo.S("a")}),
	}, got, database.Items())
}

// TestDefaults checks contract section 4.4.
func TestDefaults(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	var want []contextfield.ContextField
	for i, name := range []string{"environment", "userId", "appName", "currentTime", "sessionId"} {
		want = append(want, contextfield.ContextField{Name: name, SortOrder: int64(i), Stickiness: name == "sessionId",
			CreatedAt: &now})
	}
	assert.Equal(t, want, contextfield.Defaults(now), cmpopts.IgnoreFields(contextfield.ContextField{}, "Description"))
}

func TestFunctionsNeedTheirTable(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	for _, construct := range []app.Constructor{contextfield.NewCreateFunction, contextfield.NewUpdateFunction} {
		for _, limit := range []string{"0", "5001", "many"} {
			env.Vars["MAX_CONTEXT_FIELD_KILOBYTES"] = limit
			if _, err := construct(env); err == nil ||
				!strings.Contains(err.Error(), "MAX_CONTEXT_FIELD_KILOBYTES must be a number from 1 to 5000") {
				t.Errorf("%s: %v", limit, err)
			}
		}
		env.Vars["MAX_CONTEXT_FIELD_KILOBYTES"] = "5000"
		database.RequireVariables(t, env, construct, "CONTEXT_FIELDS_TABLE", "MAX_CONTEXT_FIELD_KILOBYTES")
	}
	for _, construct := range []app.Constructor{contextfield.NewListFunction, contextfield.NewGetFunction,
		contextfield.NewDeleteFunction} {
		database.RequireVariables(t, env, construct, "CONTEXT_FIELDS_TABLE")
	}
}
