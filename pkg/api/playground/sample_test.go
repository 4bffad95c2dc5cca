package playground_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// A sample has random users with the other fields of the context, as if the toggle were switched on.
func TestSample(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	rollout := func(id, percentage string, values ...string) toggle.Strategy {
		s := toggle.Strategy{ID: id, Name: toggle.StrategyFlexibleRollout, Parameters: map[string]string{
			"rollout": percentage, "stickiness": "userId", "groupId": "g",
		}}
		if values != nil {
			s.Constraints = []toggle.Constraint{{ContextName: "plan", Operator: toggle.OperatorIn, Values: values}}
		}
		return s
	}
	split := rollout("2", "25")
	for _, name := range []string{"blue", "red"} {
		split.Variants = append(split.Variants, toggle.Variant{Name: name, Weight: 500, WeightType: "variable", Stickiness: "userId"})
	}
	for name, strategies := range map[string][]toggle.Strategy{
		"split": {rollout("1", "100", "pro"), split}, "other": {rollout("1", "50")},
	} {
		f := toggle.Feature{Name: name, Project: "default", Type: "release"}
		f.SetEnvironment("production", toggle.Environment{Strategies: strategies}) // off
		db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(f.Normalized()))
	}
	samples := func(context string) map[string]string {
		response := handler(db).Call(t.Context(), "evaluate", "", `{"environments":["production"],"sample":["split"],"context":`+context+`}`)
		var got struct {
			Features []struct {
				Name         string
				Environments map[string][]struct{ Sample json.RawMessage }
			}
		}
		assert.OK(t, json.Unmarshal([]byte(strings.TrimPrefix(response, "200 ")), &got))
		all := map[string]string{}
		for _, f := range got.Features {
			all[f.Name] = string(f.Environments["production"][0].Sample)
		}
		return all
	}
	assert.Equal(t, map[string]string{"split": `{"users":1000,"on":1000,"variants":{}}`, "other": ""}, samples(`{"properties":{"plan":"pro"}}`))
	var part struct {
		On       int
		Variants struct{ Blue, Red int }
	}
	assert.OK(t, json.Unmarshal([]byte(samples(`{"userId":"7"}`)["split"]), &part))
	if part.On < 200 || part.On > 300 || part.Variants.Blue < 80 || part.Variants.Blue+part.Variants.Red != part.On {
		t.Errorf("%+v", part)
	}
}
