package feature_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// A toggle has no state in an environment that its project does not have. Strategies that it had there are kept.
func TestEnvironmentThatTheProjectLacks(t *testing.T) {
	t.Parallel()
	a, ctx := toggles.NewActive(t), t.Context()
	a.Projects = a.ProjectReader()
	const strategies = `"environments":{"prod":{"strategies":[{"id":"a","name":"default"}]}}`
	a.Create(t, `{"project":"p",`+strategies+`}`, `{"name":"g","project":"q",`+strategies+`}`)
	p := access.NewProject("p", "p")
	p.Environments = []string{"dev"}
	a.PutProjects(t, p)

	const lacks = `404 NotFoundError: The project "p" has no environment with the name "prod".`
	toggles.Expect(ctx, t, a.Set, []toggles.Call{
		{"state", "p/f/prod", "", lacks},
		{"strategies", "p/f/prod", "", lacks},
		{"strategy", "p/f/prod/a", "", lacks},
		{"add strategy", "p/f/prod", `{"name":"default"}`, lacks},
		{"update strategy", "p/f/prod/a", `{"name":"default"}`, lacks},
		{"delete strategy", "p/f/prod/a", "", lacks},
		{"order", "p/f/prod", `[{"id":"a","sortOrder":1}]`, lacks},
		{"on", "p/f/prod", "", lacks},
		{"off", "p/f/prod", "", lacks},
		{"all on", "p//prod", `{"features":["f"]}`, lacks},
		{"all off", "p//prod", `{"features":["f"]}`, lacks},
		{"on", "p/f/dev", "", "200"},
	})
	// listed returns the toggles of a response with their environments.
	listed := func(name, path, query string) string {
		_, _, text := a.Serve(ctx, operation.Request{Operation: name, Path: path, Query: query})
		type shown struct {
			Name         string
			Environments []struct{ Name string }
		}
		var body struct {
			shown
			Features []shown
		}
		assert.OK(t, json.Unmarshal([]byte(text), &body))
		if body.Features == nil {
			body.Features = []shown{body.shown}
		}
		var all []string
		for _, f := range body.Features {
			all = append(all, fmt.Sprint(f.Name, f.Environments))
		}
		return strings.Join(all, " ")
	}
	assert.Equal(t, "f[{dev}]", listed("get", "p/f", ""))
	assert.Equal(t, "f[{dev}]", listed("list", "p", ""))
	assert.Equal(t, "f[{dev}] g[{dev} {prod}]", listed("search", "", ""))
	assert.Equal(t, "g[{dev} {prod}]", listed("search", "", "status=IS:prod:disabled"))
	assert.Equal(t, "a", a.Toggle(t, "f").Environments["prod"].Strategies[0].ID)
}
