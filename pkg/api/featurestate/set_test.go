package featurestate_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featurestate"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// setter has the environments dev and prod, the segment 1, and the operation "set".
func setter(t *testing.T) toggles.Active {
	t.Helper()
	a := toggles.NewActive(t)
	a.CreateSegments(t, "beta")
	created := 0
	a.Handlers["set"] = featurestate.Set(a.Store, environment.NewStore(a.Client, a.Tables, nil),
		tagtype.NewStore(a.Client, a.Tables, nil), 4, toggles.Now, func() string {
			created++
			return fmt.Sprint("new-", created)
		})
	return a
}

// expectSet sets the state of the toggle default/f, and compares the types of the differences in the response.
func expectSet(t *testing.T, a toggles.Active, body, want string) {
	t.Helper()
	status, _, text := a.Serve(t.Context(), operation.Request{Operation: "set", Path: "default/f", Body: body})
	var types []string
	for _, found := range regexp.MustCompile(`"type":"([a-z-]+)","summary"`).FindAllStringSubmatch(text, -1) {
		types = append(types, found[1])
	}
	if got := fmt.Sprint(status, " ", strings.Join(types, ", ")); got != want {
		t.Errorf("%s:\n got %s %s\nwant %s", body, got, text, want)
	}
}

// The whole state of a toggle is set with the events of its differences, and what is not named gets its default.
func TestSet(t *testing.T) {
	t.Parallel()
	a := setter(t)
	const quarter = `{"name":"flexibleRollout","title":"Quarter","parameters":{"rollout":"25","stickiness":"userId"},"segments":[1],` +
		`"constraints":[{"contextName":"a","operator":"IN","values":["x"]}],"variants":[{"name":"v"}]}`
	const everybody = `{"name":"default"}`
	const hosts = `{"name":"applicationHostname","parameters":{"hostNames":"one"}}`
	state := func(enabled bool, strategies ...string) string {
		return fmt.Sprintf(`{"environments":{"prod":{"enabled":%t,"strategies":[%s]}}}`, enabled, strings.Join(strategies, ","))
	}
	expectSet(t, a, state(true, quarter, everybody),
		"201 feature-created, feature-strategy-add, "+"feature-strategy-add, feature-environment-enabled")
	assert.Equal(t, "feature-strategy-add prod, feature-strategy-add prod, feature-environment-enabled prod", a.Recorded(t))
	ids := func() string {
		var all []string
		for _, s := range a.Toggle(t, "f").Environments["prod"].Strategies {
			all = append(all, s.ID+" "+s.Name)
		}
		return strings.Join(all, ", ")
	}
	assert.Equal(t, "new-1 flexibleRollout, new-2 default", ids())
	expectSet(t, a, state(true, quarter, everybody), "200 ")
	expectSet(t, a, `{}`, "200 ")
	// A strategy that is equal stays, wherever it is.
	expectSet(t, a, state(true, everybody), "200 feature-strategy-remove")
	assert.Equal(t, "new-2 default", ids())
	expectSet(t, a, state(true, quarter, everybody), "200 feature-strategy-add, strategy-order-changed")
	assert.Equal(t, "new-3 flexibleRollout, new-2 default", ids())
	expectSet(t, a, state(true, everybody, hosts), "200 feature-strategy-update, strategy-order-changed")
	assert.Equal(t, "new-2 default, new-3 applicationHostname", ids())
	expectSet(t, a, state(false), "200 feature-environment-disabled, feature-strategy-remove, feature-strategy-remove")

	expectSet(t, a, `{"type":"long","description":"d","impressionData":true,"managedBy":"https://example.com/toggles"}`,
		"200 feature-updated")
	assert.Equal(t, "https://example.com/toggles", a.Toggle(t, "f").ManagedBy)
	expectSet(t, a, `{"description":"d"}`, "200 feature-updated")
	f := a.Toggle(t, "f")
	assert.Equal(t, []any{"release", "d", false, ""}, []any{f.Type, *f.Description, f.ImpressionData, f.ManagedBy})

	a.Create(t, `{"name":"parent"}`)
	expectSet(t, a, `{"dependency":{"feature":"parent"}}`, "200 feature-dependency-added, feature-updated")
	expectSet(t, a, `{"dependency":{"feature":"parent","enabled":false}}`,
		"200 feature-dependency-removed, feature-dependency-added")
	expectSet(t, a, `{}`, "200 feature-dependency-removed")
}

// Tags are those of the body, and do not change without.
func TestSetTags(t *testing.T) {
	t.Parallel()
	a := setter(t)
	assert.OK(t, tagtype.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(), tagtype.TagType{Name: "team"}))
	expectSet(t, a, `{"tags":[{"type":"team","value":" b "},{"type":"simple","value":"beta"}]}`, "400 ")
	expectSet(t, a, `{"tags":[{"type":"team","value":" bb "},{"type":"simple","value":"beta"}]}`, "201 feature-created")
	assert.Equal(t, []toggle.Tag{{Type: "simple", Value: "beta"}, {Type: "team", Value: "bb"}}, a.Toggle(t, "f").Tags)
	_, before, _ := a.Serve(t.Context(), operation.Request{Operation: "set", Path: "default/f", Query: "dryRun=true", Body: `{}`})
	expectSet(t, a, `{}`, "200 ")
	expectSet(t, a, `{"tags":[{"type":"team","value":"cc"},{"type":"simple","value":"beta"}]}`, "200 feature-untagged, feature-tagged")
	a.With("If-Match", before.Get("ETag")).Expect(t.Context(), t, "set", "default/f", `{}`, toggles.Changed)
	expectSet(t, a, `{"tags":[]}`, "200 feature-untagged, feature-untagged")
	a.Expect(t.Context(), t, "set", "default/f", `{"tags":[{"type":"simple","value":"beta"},{"type":"none","value":"beta"}]}`,
		"400 ValidationError: The `/body/tags/1/type` property must be the name of a tag type; you sent \"none\".")
}

// A toggle that is archived is revived, and is on only where the body says so.
func TestSetRevives(t *testing.T) {
	t.Parallel()
	a := setter(t)
	const on = `{"enabled":true,"strategies":[{"name":"default"}]}`
	expectSet(t, a, `{"environments":{"dev":`+on+`,"prod":`+on+`}}`, "201 feature-created, feature-strategy-add, "+
		"feature-environment-enabled, feature-strategy-add, feature-environment-enabled")
	a.ExpectStatus(t.Context(), t, "archive", "default/f", "", 202)
	expectSet(t, a, `{"environments":{"prod":`+on+`}}`, "200 feature-revived, feature-environment-disabled")
	assert.Equal(t, "[prod]", fmt.Sprint(a.Toggle(t, "f").EnabledEnvironments()))
}

// A toggle is archived with its state, and its dependency ends in the same transaction.
func TestSetArchives(t *testing.T) {
	t.Parallel()
	a := setter(t)
	a.Create(t, `{"name":"parent"}`)
	expectSet(t, a, `{"archived":true}`, "400 ")
	expectSet(t, a, `{"dependency":{"feature":"parent"},"environments":{"prod":{"enabled":true,"strategies":[{"name":"default"}]}}}`,
		"201 feature-created, feature-strategy-add, feature-environment-enabled, feature-dependency-added")
	expectSet(t, a, `{"archived":true,"environments":{"prod":{"enabled":false}}}`, "400 ")
	expectSet(t, a, `{"archived":true}`, "200 feature-archived, feature-dependency-removed")
	f := a.Toggle(t, "f")
	assert.Equal(t, []any{true, true, "[prod]"}, []any{f.Archived, f.Dependency == nil, fmt.Sprint(f.EnabledEnvironments())})
	expectSet(t, a, `{"archived":true}`, "200 ")
	expectSet(t, a, `{}`, "200 feature-revived, feature-environment-disabled")
}

// A name that a toggle of another project has is taken, also if nothing is stored.
func TestSetTaken(t *testing.T) {
	t.Parallel()
	a := setter(t)
	a.Create(t, `{"project":"shop","name":"f"}`)
	for _, query := range []string{"", "dryRun=true"} {
		status, _, text := a.Serve(t.Context(), operation.Request{Operation: "set", Path: "default/f", Query: query, Body: `{}`})
		assert.Equal(t, `409 NameExistsError: A toggle with the name "f" exists. Names are unique in the installation, archived `+
			`toggles included.`, fmt.Sprint(status, " ", text))
	}
}

// Without storing anything, a request says what it would record, and the state that is stored.
func TestSetWithoutStoring(t *testing.T) {
	t.Parallel()
	a := setter(t)
	try := func(ctx context.Context, body string) (int, string, string) {
		status, header, text := a.Serve(ctx, operation.Request{Operation: "set", Path: "default/f", Query: "dryRun=true", Body: body})
		return status, header.Get("ETag"), text
	}
	viewer := access.WithPrincipal(t.Context(), access.UserPrincipal(3, access.RoleViewer))
	status, tag, text := try(viewer, `{"description":"d"}`)
	assert.Equal(t, []any{200, "", true}, []any{status, tag, strings.Contains(text, `"type":"feature-created"`)})
	assert.Equal(t, 0, len(a.List(t)))

	a.Create(t, `{}`)
	_, tag, text = try(viewer, `{"description":"d"}`)
	assert.Equal(t, true, strings.Contains(text, `updated the toggle f: description."`))
	assert.Equal(t, "", a.Recorded(t))
	set := a.With("If-Match", tag)
	set.ExpectStatus(t.Context(), t, "set", "default/f", `{"description":"d"}`, 200)
	set.Expect(t.Context(), t, "set", "default/f", `{}`, toggles.Changed)
	a.With("If-None-Match", "*").Expect(t.Context(), t, "set", "default/f", `{}`, toggles.Exists)
	set.Expect(t.Context(), t, "set", "default/unknown", `{}`,
		"412 PreconditionFailed: The resource does not exist, so it cannot match `If-Match`.")
}

// A body that is not possible is refused with the place of what is wrong, and changes nothing.
func TestSetRefuses(t *testing.T) {
	t.Parallel()
	a := setter(t)
	a.Create(t, `{}`)
	in := func(strategies string) string {
		return `{"environments":{"prod":{"enabled":true,"strategies":[{"name":"default"},` + strategies + `]}}}`
	}
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"set", "default/revive", `{}`, "400 ValidationError: The `/params/featureName` property must be the name of a toggle: " +
			"use 1 to 100 letters, digits and . _ ~ -, but not ., .. or revive; you sent \"revive\"."},
		{"set", "default/f", `{"stale":true}`, "400 ValidationError: The `/body/stale` property is unknown."},
		{"set", "default/f", `{"managedBy":"javascript:alert(1)"}`, "400 ValidationError: The `/body/managedBy` property must be " +
			"a URL that begins with https:// or http://; you sent \"javascript:alert(1)\"."},
		{"set", "default/f", `{"environments":{"prod":{"enabled":true}}}`, "400 ValidationError: The " +
			"`/body/environments/prod/enabled` property must be false, or the toggle must have a strategy there that is not disabled."},
		{"set", "default/f", `{"environments":{"test":{}}}`, "400 ValidationError: The `/body/environments/test` property must be " +
			"the state in an environment of the project."},
		{"set", "default/f", in(`{"name":"default","sortOrder":1}`), "400 ValidationError: The " +
			"`/body/environments/prod/strategies/1/sortOrder` property must not be sent: the order is that of the list."},
		{"set", "default/f", in(`{"name":"userWithId"}`), "400 ValidationError: The " +
			"`/body/environments/prod/strategies/1/name` property must not be userWithId, which is deprecated. Use a constraint on userId."},
		{"set", "default/f", in(`{"name":"default","segments":[9]}`), "400 ValidationError: The " +
			"`/body/environments/prod/strategies/1/segments` property must have the ids of segments; there is no segment with the id 9."},
		{"set", "default/f", in(`{"name":"default","constraints":[{"contextName":"z","operator":"IN","values":["x"]}]}`),
			"400 ValidationError: The `/body/environments/prod/strategies/1/constraints/0/contextName` property must be the " +
				"name of a context field; you sent \"z\"."},
		{"set", "default/f", `{"dependency":{"feature":"f"}}`, "400 ValidationError: The `/body/dependency/feature` property must not " +
			"be the name of the toggle itself; you sent \"f\"."},
		{"set", "other/f", `{}`, "409 NameExistsError: A toggle with the name \"f\" exists. Names are unique in the " +
			"installation, archived toggles included."},
	})
	assert.Equal(t, "", a.Recorded(t))
}

// Each difference needs the permission of the operation that makes it. An environment that needs change requests refuses
// all of them.
func TestSetRequiresPermissions(t *testing.T) {
	t.Parallel()
	a := setter(t)
	a.Projects = a.ProjectReader()
	a.Create(t, `{"project":"shop","name":"parent"}`, `{"project":"shop","environments":{"prod":{"strategies":[{"id":"s","name":"default"}]}}}`)
	shop := access.NewProject("shop", "shop")
	shop.Mode = access.Protected
	shop.Users = map[int64][]access.Role{5: {9}}
	a.PutProjects(t, shop)
	with := func(permissions ...access.Permission) context.Context {
		definition := access.RoleDefinition{ID: 9, Type: access.CustomType}
		for _, p := range permissions {
			one := access.RolePermission{Permission: p}
			if info, _ := access.FindPermission(p); info.Type == access.EnvironmentPermission {
				one.Environment = "prod"
			}
			definition.Permissions = append(definition.Permissions, one)
		}
		a.PutRoles(t, definition)
		return access.WithPrincipal(t.Context(), access.UserPrincipal(5, access.RoleEditor))
	}
	const refused = `403 NoAccessError: You need the %q permission in the %sproject "shop" to perform this operation.`
	const prod = `environment "prod" of the `
	const one = `{"environments":{"prod":{"strategies":[{"name":"default"}]}}}`
	a.Expect(with(access.UpdateFeature), t, "set", "shop/f", one, `200 {"changes":[]}`)
	for _, test := range []struct {
		path, body string
		needs      access.Permission
		where      string
	}{
		{"shop/g", `{}`, access.CreateFeature, ""},
		{"shop/f", `{"description":"d"}`, access.UpdateFeature, ""},
		{"shop/f", `{"dependency":{"feature":"parent"}}`, access.UpdateDependency, ""},
		{"shop/f", `{"environments":{"prod":{"strategies":[]}}}`, access.DeleteStrategy, prod},
		{"shop/f", `{"environments":{"prod":{"strategies":[{"name":"default","disabled":true}]}}}`, access.UpdateStrategy, prod},
		{"shop/f", `{"environments":{"prod":{"strategies":[{"name":"default"},{"name":"default"}]}}}`, access.CreateStrategy, prod},
		{"shop/f", `{"environments":{"prod":{"enabled":true,"strategies":[{"name":"default"}]}}}`, access.UpdateEnvironment, prod},
	} {
		a.Expect(with(access.MoveFeature), t, "set", test.path, test.body, fmt.Sprintf(refused, test.needs, test.where))
	}
	assert.OK(t, project.NewStore(a.Client, a.Tables, a.Log()).SetConfig(t.Context(), "shop", "prod",
		access.Protection{ChangeRequests: true}, project.Always))
	const on = `{"description":"d","environments":{"prod":{"enabled":true,"strategies":[{"name":"default"}]}}}`
	owner := with(access.UpdateFeature, access.UpdateEnvironment)
	a.Expect(owner, t, "set", "shop/f", on,
		`403 NoAccessError: Changes in the environment "prod" of the project "shop" need a change request.`)
	assert.Equal(t, (*string)(nil), a.Toggle(t, "f").Description)
	status, _, _ := a.Serve(owner, operation.Request{Operation: "set", Path: "shop/f", Query: "dryRun=true", Body: on})
	assert.Equal(t, 200, status)
}

// A strategy that an import has stored, and that cannot be created, stays as it is.
func TestSetKeepsImportedStrategies(t *testing.T) {
	t.Parallel()
	a := setter(t)
	f := toggles.New(t, `{}`)
	f.SetEnvironment("prod", toggle.Environment{Strategies: []toggle.Strategy{
		{ID: "old", Name: "userWithId", Parameters: map[string]string{"userIds": "1,2"}},
	}})
	_, err := a.Store.Create(t.Context(), f)
	assert.OK(t, err)
	expectSet(t, a, `{"environments":{"prod":{"strategies":[{"name":"userWithId","parameters":{"userIds":"1,2"}}]}}}`, "200 ")
}
