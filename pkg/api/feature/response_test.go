package feature_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/toggles"
)

// A toggle is returned with its state in all environments, in the order of the environments, and with the names of its
// segments. Only operations on one toggle return strategies.
func TestEnvironmentsInResponses(t *testing.T) {
	t.Parallel()
	a, ctx := toggles.NewActive(t), t.Context()
	_, err := environment.NewStore(a.Client, a.Tables, a.Log()).Create(ctx,
		environment.Environment{Name: "test", Type: "x", SortOrder: -1})
	assert.OK(t, err)
	a.CreateSegments(t, "Zurich", "Beta", "unused")
	a.Create(t, `{"type":"endless"}`, `{"name":"g","type":"endless"}`)
	const split = `{"name":"flexibleRollout","segments":[1,2],"variants":[{"name":"x","weight":1},{"name":"y","weight":1}]}`
	a.ExpectStatus(ctx, t, "add strategy", "default/f/dev", `{"name":"default","disabled":true,"segments":[2]}`, 200)
	a.ExpectStatus(ctx, t, "add strategy", "default/f/prod", split, 200)
	a.ExpectStatus(ctx, t, "add strategy", "default/f/prod", strings.Replace(split, `"y"`, `"z"`, 1), 200)
	a.ExpectStatus(ctx, t, "on", "default/f/prod", "", 200)

	enabledStrategies := map[bool]int{true: 2}

	// state returns the state in an environment.
	state := func(name, kind string, order int, enabled, has, hasEnabled bool, variants int, strategies string) string {
		return fmt.Sprintf(`{"name":%q,"type":%q,"sortOrder":%d,"enabled":%t,"hasStrategies":%t,"hasEnabledStrategies":%t,`+
			`"variantCount":%d,"reach":{"strategies":%d,"percentage":null},"lastSeenAt":null,"yes":0,"no":0%s}`,
			name, kind, order, enabled, has, hasEnabled, variants, enabledStrategies[hasEnabled], strategies)
	}
	// response returns the toggle f. strategies returns what is added to the state of an environment.
	response := func(strategies func(environment string) string) string {
		return `{"name":"f","type":"endless","project":"default","description":null,"impressionData":false,"stale":false,` +
			`"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":null,"owner":null,"keepUntil":null,"keepReason":null,"archivedAt":null,` +
			`"potentiallyStale":false,"potentiallyStaleAt":null,"stage":"new",` +
			`"lifecycle":{"stage":"initial","enteredStageAt":"2026-11-20T05:39:00.123Z"},"lastSeenAt":null,"environments":[` +
			state("test", "x", -1, false, false, false, 0, strategies("test")) + "," +
			state("dev", "development", 1, false, true, false, 0, strategies("dev")) + "," +
			state("prod", "prodelopment", 2, true, true, true, 3, strategies("prod")) +
			`],"segments":["Beta","Zurich"],"dependencies":[],"children":[],"dependencyType":null,"tags":[],"favorite":false`
	}
	full := "200 " + response(func(environment string) string {
		return `,"strategies":` + strings.TrimPrefix(a.Call(ctx, "strategies", "default/f/"+environment, ""), "200 ")
	}) + `,"contextFields":[],"links":[]}`
	listed := response(func(string) string { return "" }) + "}"
	empty := strings.NewReplacer(`"name":"f"`, `"name":"g"`, `"enabled":true`, `"enabled":false`, `"hasStrategies":true`,
		`"hasStrategies":false`, `"hasEnabledStrategies":true`, `"hasEnabledStrategies":false`, `"variantCount":3`,
		`"variantCount":0`, `"strategies":2`, `"strategies":0`, `["Beta","Zurich"]`, `[]`).Replace(listed)
	a.Expect(ctx, t, "get", "default/f", "", full)
	a.Expect(ctx, t, "update", "default/f", "{}", full)
	a.Expect(ctx, t, "list", "default/", "", `200 {"version":2,"features":[`+listed+","+empty+"]}")
	a.ExpectQuery(ctx, t, "search", "", `200 {"features":[`+listed+","+empty+`],"total":2}`)
}

// A toggle is returned with the toggle that it depends on, and with those that depend on it.
func TestDependenciesInResponses(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"parent"}`, `{"name":"other","dependency":{"feature":"parent"}}`,
		`{"name":"child","dependency":{"feature":"parent","enabled":false}}`)
	h := toggles.Handlers(db.Store)
	for name, want := range map[string]string{
		"parent": `"dependencies":[],"children":["child","other"],"dependencyType":"parent"`,
		"child": `"dependencies":[{"feature":"parent","enabled":false,"variants":[]}],"children":[],` +
			`"dependencyType":"child"`,
	} {
		if got := h.Call(t.Context(), "get", "default/"+name, ""); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
