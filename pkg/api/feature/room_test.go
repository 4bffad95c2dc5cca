package feature_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/toggles"
)

// In an environment that is full, toggles are turned on and off, restricted, archived and deleted, but do not become
// larger. A toggle that becomes larger in all environments is one of them, too.
func TestFullEnvironment(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Handlers["clone"] = feature.Clone(a.Store, 100, toggles.Now, func() string { return "copied" })
	environments := environment.NewStore(a.Client, a.Tables, a.Log())
	const strategy = `{"name":"flexibleRollout","parameters":{"rollout":"50","groupId":"g"},"constraints":[%s]}`
	large := fmt.Sprintf(strategy, `{"contextName":"userId","operator":"IN","values":["`+strings.Repeat("x", 99)+`","`+
		strings.Repeat("y", 99)+`","`+strings.Repeat("z", 99)+`"]}`)
	small := fmt.Sprintf(strategy, `{"contextName":"userId","operator":"IN","values":["7"]}`)
	a.CreateSegments(t, "large")
	for _, name := range []string{"one", "two", "gone"} {
		a.ExpectStatus(t.Context(), t, "create", "default/", `{"name":"`+name+`"}`, 201)
	}
	a.Expect(t.Context(), t, "archive", "default/gone", "", "202")
	a.ExpectStatus(t.Context(), t, "add strategy", "default/one/prod", fmt.Sprintf(strategy, ""), 200)
	a.ExpectStatus(t.Context(), t, "on", "default/one/prod", "", 200)
	assert.OK(t, environments.SetFull(t.Context(), "prod", true))
	_, err := environments.Update(t.Context(), "prod", func(e *environment.Environment) error { e.Type = "p"; return nil })
	assert.OK(t, err) // which keeps it

	long := `{"description":"` + strings.Repeat("x", 250) + `"}`
	for _, step := range []struct {
		operation, path, body string
		want                  int
	}{
		{"add strategy", "default/one/prod", large, 403},
		{"add strategy", "default/one/dev", large, 200},
		{"update strategy", "default/one/prod/s1", large, 403},
		{"update strategy", "default/one/prod/s1", `{"name":"flexibleRollout","segments":[1]}`, 403},
		{"update", "default/one", long, 403},
		{"create", "default/", `{"name":"three"}`, 403},
		{"clone", "default/one", `{"name":"copy"}`, 403},
		{"revive", "default/gone", "", 403},

		{"update strategy", "default/one/prod/s1", small, 200},
		{"off", "default/one/prod", "", 200},
		{"on", "default/one/prod", "", 200},
		{"on", "default/two/prod", "", 200}, // with a strategy for everybody
		{"delete strategy", "default/one/prod/s1", "", 200},
		{"archive", "default/two", "", 202},
		{"remove", "default/gone", "", 200},
	} {
		got := a.Call(t.Context(), step.operation, step.path, step.body)
		if !strings.HasPrefix(got, fmt.Sprint(step.want)) {
			t.Errorf("%s %s: %s, want %d", step.operation, step.path, got, step.want)
		}
		if step.want == 403 && !strings.HasPrefix(got, "403 NoAccessError: Applications can download at most 4600000 bytes of "+
			"toggles, compressed, in an environment, and those in \"prod\" have reached 4140000. Archive toggles") {
			t.Errorf("%s %s: %s", step.operation, step.path, got)
		}
	}
	assert.OK(t, environments.SetFull(t.Context(), "prod", false))
	a.ExpectStatus(t.Context(), t, "create", "default/", `{"name":"three"}`, 201)
}
