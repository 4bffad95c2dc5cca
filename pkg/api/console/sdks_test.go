package console_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
)

// The page Connect an SDK shows the programs that test/sdk runs, with the names of the application and of a toggle, and
// with the URL and the secret: as variables of the environment, or in a program for browsers as texts.
func TestPrograms(t *testing.T) {
	t.Parallel()
	const url, secret = "https://x.example", "*:development.v2_x_y"
	names := strings.NewReplacer("'shop'", "'web'", `"shop"`, `"web"`, "express-checkout", "new-cart")
	texts := strings.NewReplacer(
		"`${process.env.CLIENT_URL}/api/frontend`", "'"+url+"/api/frontend'",
		"`Bearer ${process.env.CLIENT_TOKEN}`", "'Bearer "+secret+"'",
		"process.env.CLIENT_URL", "'"+url+"'", "process.env.CLIENT_TOKEN", "'"+secret+"'",
	)
	var examples map[string]string
	decode(t, "static/examples.json", &examples)
	steps := runModule[map[string][]struct{ Label, Code string }](t, "sdks.js", map[string]any{
		"examples": examples,
		"values":   map[string]string{"url": url, "secret": secret, "app": "web", "toggle": "new-cart"},
	}, `Object.fromEntries(Object.values(sdks).map((sdk) =>
		[sdk.example, stepsOf(sdk, input.examples[sdk.example], input.values)]))`)
	assert.Equal(t, slices.Sorted(maps.Keys(examples)), slices.Sorted(maps.Keys(steps)))
	for name, example := range examples {
		installation, program, _ := strings.Cut(strings.TrimSpace(example), "\n")
		want := []string{strings.TrimLeft(installation, "/# ")}
		if program = names.Replace(program); name == "react.jsx" || name == "openfeature.js" {
			want = append(want, texts.Replace(program))
		} else {
			want = append(want, "export CLIENT_URL='"+url+"'\nexport CLIENT_TOKEN='"+secret+"'", program)
		}
		var got []string
		for _, step := range steps[name] {
			got = append(got, step.Code)
		}
		assert.Equal(t, want, got)
		if shown := got[len(got)-1]; strings.Contains(shown, "shop") || !strings.Contains(shown, "web") ||
			!strings.Contains(shown, "new-cart") {
			t.Errorf("%s does not have the names:\n%s", name, shown)
		}
	}
}
