package playground_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func strategyHandler(db *database.Database) operation.Set {
	store := playground.NewStore(db.Client, db.Tables)
	return operation.Set{Parameters: []string{"none"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"evaluate": playground.EvaluateStrategy(store, now, seed()),
	}}
}

// A strategy that no toggle has is evaluated with the segments that exist.
func TestStrategy(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.Put(t, db.Tables[segmenttable.Table], segmenttable.Marshal(segmenttable.Segment{
		Segment: toggle.Segment{ID: 1, Name: "Norway", Constraints: []toggle.Constraint{in("country", "NO")}},
	}))
	const (
		rollout = `"name":"flexibleRollout","parameters":{"rollout":"100","groupId":"t","stickiness":"userId"}`
		norway  = `"name":"default","parameters":{},"segments":[1]`
		swedish = `"name":"default","parameters":{},"constraints":[{"contextName":"country","operator":"IN","values":["SE"]}]`
		users   = `"name":"userWithId","parameters":{"userIds":"7,8"}`
	)
	for _, row := range []struct{ strategy, context, want string }{
		{rollout, `{"userId":"7"}`, `true`},
		{rollout, `{}`, `false`},
		{norway, `{"country":"NO"}`, `true`},
		{norway, `{"properties":{"country":"SE"}}`, `false`},
		{`"name":"default","parameters":{},"segments":[2]`, `{"country":"NO"}`, `"unknown"`},
		{swedish, `{"country":"SE"}`, `true`},
		{users, `{"userId":"8"}`, `true`},
		{`"name":"applicationHostname","parameters":{"hostNames":"a"}`, `{}`, `"unknown"`},
	} {
		t.Run(row.strategy+row.context, func(t *testing.T) {
			t.Parallel()
			response := strategyHandler(db).Call(t.Context(), "evaluate", "", `{`+row.strategy+`,"context":`+row.context+`}`)
			text, ok := strings.CutPrefix(response, "200 ")
			if !ok {
				t.Fatal(response)
			}
			var got struct {
				Result struct{ Enabled json.RawMessage }
			}
			assert.OK(t, json.Unmarshal([]byte(text), &got))
			assert.Equal(t, row.want, string(got.Result.Enabled))
		})
	}
}

func TestStrategyReasons(t *testing.T) {
	t.Parallel()
	response := strategyHandler(newTables(t)).Call(t.Context(), "evaluate", "",
		`{"name":"flexibleRollout","parameters":{"rollout":"100","groupId":"t","stickiness":"userId"},`+
			`"variants":[{"name":"blue"}],"context":{"userId":"7"}}`)
	assert.Equal(t, `200 {"id":"","name":"flexibleRollout","title":null,"disabled":false,"parameters":{"groupId":"t",`+
		`"rollout":"100","stickiness":"userId"},"result":{"enabled":true,"evaluationStatus":"complete","variant":`+
		`{"name":"blue","enabled":true},"rollout":100,"number":16},"constraints":[],"segments":[]}`, response)
}

func TestInvalidStrategy(t *testing.T) {
	t.Parallel()
	h := strategyHandler(newTables(t))
	for _, row := range []struct{ body, want string }{
		{`{"name":"default","parameters":{}}`,
			"400 ValidationError: The `/body/context` property is required; you did not send it."},
		{`{"name":"default","parameters":{},"context":{"properties":{"userId":"7"}}}`,
			"400 ValidationError: The `/body/context/properties/userId` property must be sent as `/body/context/userId`."},
		{`{"name":"flexibleRollout","parameters":{"rollout":"101","groupId":"t"},"context":{}}`,
			"400 ValidationError: The `/body/parameters/rollout` property must be a whole number from 0 to 100; " +
				`you sent "101".`},
		{`{"name":"default","parameters":{},"context":{},` +
			`"constraints":[{"contextName":"age","operator":"NUM_GT","value":"x"}]}`,
			"400 ValidationError: The `/body/constraints/0/value` property must be a number such as 5, -0.5 or 2e3; " +
				`you sent "x".`},
	} {
		h.Expect(t.Context(), t, "evaluate", "", row.body, row.want)
	}
}
