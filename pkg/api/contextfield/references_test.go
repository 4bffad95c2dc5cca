package contextfield_test

import (
	"fmt"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// putToggle stores a toggle with three strategies: one with the constraint plan IN basic, one with the stickiness plan,
// and one with both.
func putToggle(t *testing.T, db *database.Database, name string, archived bool) {
	t.Helper()
	basic := []toggle.Constraint{{ContextName: "plan", Operator: toggle.OperatorIn, Values: []string{"basic"}}}
	sticky := map[string]string{toggle.ParameterStickiness: "plan"}
	db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(toggle.Feature{
		Name: name, Project: "shop", Archived: archived, CreatedAt: now(), ContextFields: []string{"plan"},
		Environments: map[string]toggle.Environment{
			"development": {Strategies: []toggle.Strategy{{ID: "1", Name: toggle.StrategyDefault, Constraints: basic}}},
			"production": {Strategies: []toggle.Strategy{
				{ID: "2", Name: toggle.StrategyFlexibleRollout, Parameters: sticky},
				{ID: "3", Name: toggle.StrategyFlexibleRollout, Parameters: sticky, Constraints: basic},
			}},
		},
	}))
}

// A field cannot lose its stickiness or a legal value that a strategy or a segment uses.
func TestLosses(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, store, contextfield.ContextField{Name: "plan", Stickiness: true, LegalValues: []contextfield.LegalValue{
		{Value: "basic"}, {Value: "pro"}, {Value: "free"},
	}})
	putToggle(t, db, "a", false)
	putToggle(t, db, "archived", true)
	db.Put(t, db.Tables[segmenttable.Table], segmenttable.Marshal(segmenttable.Segment{
		Segment: toggle.Segment{ID: 1, Constraints: []toggle.Constraint{
			{ContextName: "plan", Operator: toggle.OperatorNotIn, Values: []string{"pro"}},
			{ContextName: "plan", Operator: toggle.OperatorStrContains, Values: []string{"free"}},
		}},
		CreatedAt: now(),
	}))
	h := handlers(store)
	for _, change := range []struct {
		body                 string
		strategies, segments int // that use what is lost; 0: the change succeeds
	}{
		{`{"stickiness":true,"legalValues":[{"value":"pro"}]}`, 2, 0},
		{`{"stickiness":true,"legalValues":[{"value":"basic"}]}`, 0, 1},
		{`{"stickiness":true,"legalValues":[{"value":"x"}]}`, 2, 1},
		{`{"legalValues":[{"value":"basic"},{"value":"pro"},{"value":"free"}]}`, 2, 0}, // the stickiness
		{`{}`, 2, 0},
		{`{"stickiness":true,"legalValues":[{"value":"basic"},{"value":"pro"}]}`, 0, 0},
		{`{"stickiness":true}`, 0, 0}, // all values are legal
		{`{"stickiness":true,"legalValues":[{"value":"pro"}]}`, 2, 0},
		{`{"stickiness":true,"legalValues":[{"value":"basic"},{"value":"pro"}]}`, 0, 0},
	} {
		want := 200
		if change.strategies+change.segments > 0 {
			want = 409
		}
		status, _, text := h.Serve(t.Context(), operation.Request{Operation: "update", Path: "plan", Body: change.body})
		assert.Equal(t, want, status)
		if status == 409 {
			assert.Equal(t, fmt.Sprintf("ConflictError: The context field \"plan\" cannot lose its stickiness or a legal value "+
				"that is in use. The number of strategies that use them, without those of archived toggles, is %d, and the number "+
				"of segments is %d.", change.strategies, change.segments), text)
		}
	}
	// A deletion takes the stickiness, too.
	assert.Equal(t, apierror.Conflict, apierror.KindOf(store.Delete(access.AsOperator(t.Context()), "plan")))
	db.Delete(t, db.Tables[featuretable.Table], featuretable.Key("a"))
	assert.OK(t, store.Delete(access.AsOperator(t.Context()), "plan"))
}

// A strategy with a value that is about to be lost is written after the toggles were read. The change is repeated, and
// finds the strategy.
func TestLossWhileAStrategyIsWritten(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, store, contextfield.ContextField{Name: "plan"})
	client := db.Before(t, "TransactWriteItems", 1, func() {
		putToggle(t, db, "a", false)
		used := references.Counts{ByProject: references.ByProject{"shop": 1}, Version: 1}
		db.Put(t, db.Tables[contextfield.Table], contextfield.ReferencesStore(db.Client, db.Tables).Item("plan", used))
	})
	late := contextfield.NewStore(client, db.Tables, db.LogThrough(client))
	_, err := late.Replace(access.AsOperator(t.Context()), contextfield.ContextField{Name: "plan",
		LegalValues: []contextfield.LegalValue{{Value: "pro"}}}, func(contextfield.ContextField) error { return nil })
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
}

// A field that only toggles and segments of a private project use cannot be deleted by others, who get no numbers.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	db.PutPrivateProject(t)
	_, err := contextfield.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(), contextfield.ContextField{Name: "f"})
	assert.OK(t, err)
	hidden := toggle.Feature{Name: "hidden", Project: "secret", ContextFields: []string{"f"}}
	db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(hidden))
	db.Put(t, db.Tables[contextfield.Table], contextfield.ReferencesStore(db.Client, db.Tables).Item("f",
		references.Counts{ByProject: references.ByProject{"secret": 1}}))
	h := operation.Set{Projects: db.ProjectReader(), Parameters: []string{"name"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"delete": contextfield.Delete(contextfield.NewStore(db.Client, db.Tables, db.Log()))}}
	h.Expect(operation.Viewer(t.Context()), t, "delete", "f", "", `409 ConflictError: The context field "f" is in use.`)
}
