package contextfield_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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

// TestItems checks that a field is stored unused, with times in UTC with milliseconds, and is read back.
func TestItems(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	fine := time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200))
	full := contextfield.ContextField{
		Name: "full", Description: new("d"), Stickiness: true, SortOrder: 1, CreatedAt: &fine,
		Usage:       map[string]int64{"p": 3},
		LegalValues: []contextfield.LegalValue{{Value: "z", Description: new("w")}, {Value: "a"}},
	}
	minimal := contextfield.ContextField{Name: "minimal"}
	create(t, store, full, minimal)
	item := dynamo.Item{
		"name": dynamo.S("full"), "description": dynamo.S("d"), "stickiness": dynamo.Bool(true), "sortOrder": dynamo.N(1),
		"createdAt": dynamo.S("2026-11-20T05:39:00.123Z"), "usage": dynamo.M(nil),
		"legalValues": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			dynamo.M(dynamo.Item{"value": dynamo.S("z"), "description": dynamo.S("w")}),
			dynamo.M(dynamo.Item{"value": dynamo.S("a")}),
		}},
	}
	for name, want := range map[string]dynamo.Item{
		"full": item,
		"minimal": {"name": dynamo.S("minimal"), "stickiness": dynamo.Bool(false), "sortOrder": dynamo.N(0),
			"usage": dynamo.M(nil)},
	} {
		got := db.Get(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S(name)})
		delete(got, "size")
		delete(got, "event")
		assert.Equal(t, want, got, database.Items())
	}
	item["usage"] = dynamo.M(dynamo.Item{"p": dynamo.N(2), "q": dynamo.N(1)})
	db.Put(t, db.Tables.ContextFields, item)
	full.CreatedAt, full.Usage = new(time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)),
		map[string]int64{"p": 2, "q": 1}
	requireStored(t, store, minimal, full)
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
				!strings.Contains(err.Error(), "MAX_CONTEXT_FIELD_KILOBYTES must be a number of kilobytes from 1 to 5000") {
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
