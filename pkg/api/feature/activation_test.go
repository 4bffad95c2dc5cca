package feature_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// An archived toggle keeps its switches, and cannot be turned on. A toggle that is revived is off everywhere, or on
// where it was if the request asks for it.
func TestArchivedToggleIsRevived(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"on", "default/f/prod", "", "200"},
		{"archive", "default/f", "", "202"},
		{"on", "default/f/dev", "", `409 ConflictError: The toggle "f" is archived. Revive it before you turn it on.`},
	})
	assert.Equal(t, []string{"prod"}, a.Toggle(t, "f").EnabledEnvironments())
	revive := toggles.Activation(a.Store)
	revive.Parameters = []string{"featureName"}
	revive.Projects = a.ProjectReader()
	project := access.ImplicitDefaultProject()
	keep := func(mode access.Mode, permissions ...access.RolePermission) (status int, text string) {
		project.Mode, project.Users = mode, map[int64][]access.Role{6: {access.RoleReader}}
		if len(permissions) > 0 {
			project.Users[5] = []access.Role{9}
		}
		a.PutRoles(t, access.RoleDefinition{ID: 9, Type: access.CustomType, Permissions: permissions})
		a.PutProjects(t, project)
		ctx := access.WithPrincipal(t.Context(), access.UserPrincipal(5, access.RoleEditor))
		status, _, text = revive.Serve(ctx, operation.Request{Operation: "revive", Path: "f", Query: "keepEnabled=true"})
		return status, text
	}
	update := access.RolePermission{Permission: access.UpdateFeature}
	enable := access.RolePermission{Permission: access.UpdateEnvironment, Environment: "prod"}
	elsewhere := access.RolePermission{Permission: access.UpdateEnvironment, Environment: "dev"}
	status, text := keep(access.Private)
	assert.Equal(t, []any{404, `NotFoundError: There is no toggle with the name "f".`}, []any{status, text})
	status, text = keep(access.Protected, enable)
	assert.Equal(t, []any{403, `NoAccessError: You need the "UPDATE_FEATURE" permission in the project "default" to ` +
		`perform this operation.`}, []any{status, text})
	status, text = keep(access.Protected, update, elsewhere)
	assert.Equal(t, []any{403, `NoAccessError: You need the "UPDATE_FEATURE_ENVIRONMENT" permission in the environment ` +
		`"prod" of the project "default" to perform this operation.`}, []any{status, text})
	status, _ = keep(access.Private, update, enable)
	assert.Equal(t, 200, status)
	assert.Equal(t, []string{"prod"}, a.Toggle(t, "f").EnabledEnvironments())
	assert.Equal(t, "feature-strategy-add prod, feature-environment-enabled prod, feature-archived, feature-revived",
		a.Recorded(t))
	a.Expect(t.Context(), t, "archive", "default/f", "", "202")
	revive.Expect(t.Context(), t, "revive", "f", "", "200")
	revive.Expect(t.Context(), t, "revive", "f", "", "200")
	assert.Equal(t, 0, len(a.Toggle(t, "f").EnabledEnvironments()))
	assert.Equal(t, "feature-strategy-add prod, feature-environment-enabled prod, feature-archived, feature-revived, "+
		"feature-archived, feature-revived, feature-environment-disabled prod", a.Recorded(t))
}

// A request can require the state of the toggle in the environment that was read.
func TestStateMustBeAsItWasRead(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	tag := func() string {
		t.Helper()
		_, header, _ := a.Serve(t.Context(), operation.Request{Operation: "state", Path: "default/f/prod"})
		return header.Get("ETag")
	}
	empty := tag()
	a.With("If-Match", empty).Expect(t.Context(), t, "on", "default/f/prod", "", "200")
	on := tag()
	for _, o := range []string{"on", "off"} {
		a.With("If-Match", empty).Expect(t.Context(), t, o, "default/f/prod", "", toggles.Changed)
	}
	a.With("If-Match", empty).Expect(t.Context(), t, "order", "default/f/prod", "[]", toggles.Changed)
	a.With("If-Match", on).Expect(t.Context(), t, "order", "default/f/prod", `[{"id":"s1","sortOrder":5}]`, "200")
	a.With("If-Match", on).Expect(t.Context(), t, "off", "default/f/prod", "", toggles.Changed)
	a.With("If-Match", tag()).Expect(t.Context(), t, "off", "default/f/prod", "", "200")
	assert.Equal(t, false, a.Toggle(t, "f").Environments["prod"].Enabled)
}

// An update that changes the state of an environment and something else records both. The context fields of strategies
// are a part of the strategies.
func TestMixedUpdate(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	strategy := toggle.Strategy{
		ID:          "s1",
		Name:        "default",
		Constraints: []toggle.Constraint{{ContextName: "a", Operator: toggle.OperatorIn, Values: []string{"x"}}},
	}
	const added = "feature-strategy-add dev, feature-environment-enabled dev"
	for _, test := range []struct {
		environment toggle.Environment
		other       func(*toggle.Feature)
		recorded    string
	}{
		{
			environment: toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}},
			other:       func(*toggle.Feature) {},
			recorded:    added,
		},
		{
			environment: toggle.Environment{},
			other:       func(f *toggle.Feature) { f.ContextFields = []string{"b"} },
			recorded:    "feature-environment-disabled dev, feature-strategy-remove dev, feature-updated",
		},
		{
			environment: toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}},
			other:       func(f *toggle.Feature) { f.Description = new("both") },
			recorded:    added + ", feature-updated",
		},
		{
			environment: toggle.Environment{Strategies: []toggle.Strategy{strategy}},
			other:       func(f *toggle.Feature) { f.ContextFields = []string{"a"} },
			recorded:    "feature-environment-disabled dev, feature-updated",
		},
		{
			environment: toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}},
			other:       func(f *toggle.Feature) { f.Stale = true },
			recorded:    "feature-stale-on, feature-environment-enabled dev",
		},
	} {
		before := a.Recorded(t)
		_, err := a.Store.Update(t.Context(), "f", func(f toggle.Feature) (toggle.Feature, error) {
			test.other(&f)
			f.SetEnvironment("dev", test.environment)
			return f, nil
		})
		assert.OK(t, err)
		after := strings.TrimPrefix(a.Recorded(t), before)
		assert.Equal(t, test.recorded, strings.TrimPrefix(after, ", "))
	}
}

// The state of a toggle needs an environment and a toggle of the project.
func TestUnknownState(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	const noEnvironment = `404 NotFoundError: There is no environment with the name "test".`
	const noStrategy = `404 NotFoundError: The toggle "f" has no strategy with the id "x" in the environment "prod".`
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"state", "default/f/test", "", noEnvironment},
		{"on", "default/f/test", "", noEnvironment},
		{"on", "default/f/%FF", "", `404 NotFoundError: There is no environment with the name "%FF".`},
		{"off", "q/f/prod", "", toggles.UnknownIn("q", "f")},
		{"strategies", "default/g/prod", "", toggles.UnknownIn("default", "g")},
		{"add strategy", "default/f/test", `{"name":"default"}`, noEnvironment},
		{"add strategy", "default/f/dev", `{"name":"default"}`, `200 {"id":"s2","name":"default","title":null,` +
			`"disabled":false,"sortOrder":0,"constraints":[],"parameters":{},"variants":[],"segments":[]}`},
		{"strategy", "default/f/prod/s2", "", strings.Replace(noStrategy, `"x"`, `"s2"`, 1)},
		{"strategy", "default/f/prod/x", "", noStrategy},
		{"update strategy", "default/f/prod/x", `{}`, noStrategy},
		{"delete strategy", "default/f/prod/x", "", noStrategy},
	})
}

// The use of context fields and environments is counted with the change, and a field that does not exist is rejected.
func TestStateIsCounted(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	used := func() string {
		t.Helper()
		environments, err := environment.NewStore(a.Client, a.Tables, nil).List(t.Context())
		assert.OK(t, err)
		text := a.References(t)
		for _, e := range environments {
			text += fmt.Sprintf("; %s: %d", e.Name, e.References.Toggles())
		}
		return text
	}
	const constraint = `{"name":"default","constraints":[{"contextName":"a","operator":"IN","values":["x"]},` +
		`{"contextName":"userId","operator":"IN","values":["7"]}]}`
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", constraint, 200)
	assert.Equal(t, "a/default: 1; dev: 0; prod: 0", used())
	a.ExpectStatus(t.Context(), t, "on", "default/f/prod", "", 200)
	assert.Equal(t, "a/default: 1; dev: 0; prod: 1", used())
	a.ExpectStatus(t.Context(), t, "update strategy", "default/f/prod/s1", strings.Replace(constraint, `"a"`, `"b"`, 1), 200)
	assert.Equal(t, "b/default: 1; dev: 0; prod: 1", used())
	a.Expect(t.Context(), t, "update strategy", "default/f/prod/s1", strings.Replace(constraint, `"a"`, `"x"`, 1),
		"400 ValidationError: The `/body/constraints/0/contextName` property must be the name of a context field; "+
			`you sent "x".`)
	a.ExpectStatus(t.Context(), t, "archive", "default/f", "", 202)
	assert.Equal(t, "; dev: 0; prod: 0", used())
}

// A change that one transaction cannot contain is rejected: here the fields of a strategy, each of which begins or ends
// to be used and must not change, and its segments.
func TestStrategyThatNeedsTooManyActions(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	strategy := func(kind string) string {
		var constraints []string
		var segments []int64
		for i := range toggle.MaxConstraints {
			name := fmt.Sprint(kind, i)
			_, err := contextfield.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(),
				contextfield.ContextField{Name: name})
			assert.OK(t, err)
			constraints = append(constraints, fmt.Sprintf(`{"contextName":%q,"operator":"IN","values":["x"]}`, name))
		}
		for i := range toggle.MaxStrategySegments {
			created, err := segment.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(),
				segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: fmt.Sprint(kind, i)}}})
			assert.OK(t, err)
			segments = append(segments, created.ID)
		}
		return fmt.Sprintf(`{"name":"default","constraints":[%s],"segments":%s}`, strings.Join(constraints, ","),
			strings.ReplaceAll(fmt.Sprint(segments), " ", ","))
	}
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", strategy("old"), 200)
	before := a.Toggle(t, "f")
	a.Expect(t.Context(), t, "update strategy", "default/f/prod/s1", strategy("new"), "400 ValidationError: The change is "+
		"too large for one transaction: it needs 105 actions, and the maximum is 100. Make smaller changes, one after the other.")
	assert.Equal(t, before, a.Toggle(t, "f"))
}
