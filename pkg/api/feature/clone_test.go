package feature_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/toggles"
)

// A copy has the properties and the strategies of a toggle, with ids of their own. It is off, is not archived and
// depends on no toggle. Its creation is one event that has everything.
func TestClone(t *testing.T) {
	t.Parallel()
	f := toggles.NewActive(t)
	f.Create(t, `{"name":"parent"}`, `{"description":"d","type":"long","impressionData":true,"stale":true}`)
	created := 0
	f.Handlers["clone"] = feature.Clone(f.Store, 4, toggles.Now, func() string {
		created++
		return fmt.Sprint("copied-", created)
	})
	const strategy = `{"name":"flexibleRollout","title":"a","constraints":[{"contextName":"a","operator":"IN","values":["x"]}]}`
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{
		{"depend", "default/f", `{"feature":"parent"}`, "200"},
		{"on", "default/f/dev", "", "200"},
	})
	f.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", strategy, 200)
	f.ExpectStatus(t.Context(), t, "archive", "default/f", "", 202)
	f.ExpectStatus(t.Context(), t, "clone", "default/f", `{"name":"copy"}`, 201)
	source, copied := f.Toggle(t, "f"), f.Toggle(t, "copy")
	assert.Equal(t, "[dev]", fmt.Sprint(source.EnabledEnvironments()))

	want := source
	want.Name, want.Archived, want.ArchivedAt, want.Dependency = "copy", false, nil, nil
	want.CreatedAt, want.LastEvent = toggles.Now(), copied.LastEvent
	for n, environment := range []string{"dev", "prod"} {
		e := source.Environments[environment]
		e.Enabled = false
		s := e.Strategies[0]
		s.ID = fmt.Sprint("copied-", n+1)
		s.Parameters = map[string]string{"groupId": "copy", "rollout": "100", "stickiness": "default"}
		e.Strategies = []toggle.Strategy{s}
		want.SetEnvironment(environment, e)
	}
	assert.Equal(t, want.Normalized(), copied.Normalized())
	assert.Equal(t, "a/default: 1", f.References(t))

	var types []string
	for _, line := range f.Events(t) {
		if strings.Contains(line, "toggle:copy ") {
			types = append(types, strings.Fields(line)[0])
			for _, part := range []string{`"copied-1"`, `"copied-2"`} {
				assert.Equal(t, true, strings.Contains(line, part))
			}
		}
	}
	assert.Equal(t, []string{string(eventlog.FeatureCreated)}, types)

	f.ExpectStatus(t.Context(), t, "clone", "default/f", `{"name":"same-group","replaceGroupId":false}`, 201)
	assert.Equal(t, "f", f.Toggle(t, "same-group").Environments["prod"].Strategies[0].Parameters["groupId"])
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{
		{"clone", "default/x", `{"name":"y"}`, toggles.UnknownIn("default", "x")},
		{"clone", "other/f", `{"name":"y"}`, toggles.UnknownIn("other", "f")},
		{
			"clone", "default/f", `{"name":"y"}`,
			"403 NoAccessError: The maximum number of toggles (4), including archived ones, is reached. Delete one first.",
		},
		{
			"clone", "default/f", `{"name":"revive"}`,
			"400 ValidationError: The `/body/name` property must not be \"revive\", which is a path of the API.",
		},
	})
}
