package featurestrategy_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/toggles"
)

// A strategy that was deleted is restored with its id, if there is none with it.
func TestRestoreStrategy(t *testing.T) {
	t.Parallel()
	const id = "01M8C6835GR4MTXRYAH7NS32PH"
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	restore := a.With("If-None-Match", "*")
	editor := access.WithPrincipal(t.Context(), access.UserPrincipal(5, access.RoleEditor))
	viewer := access.WithPrincipal(t.Context(), access.UserPrincipal(6, access.RoleViewer))
	const body = `{"name":"flexibleRollout","disabled":true,"sortOrder":7}`
	for _, test := range []struct{ path, body, want string }{
		{"default/f/prod/" + id, `{}`, "400 ValidationError: The `/body/name` property is required; you did not send it."},
		{"default/f/prod/x", body,
			"400 ValidationError: The `/params/strategyId` property must be the id of a deleted strategy; you sent \"x\"."},
		{"default/f/prod/" + id, body, "200 " + toggles.Everybody(id, 7, true)},
		{"default/f/prod/" + id, body, "412 PreconditionFailed: The resource exists and matches `If-None-Match`."},
		{"default/f/dev/" + id, body, `409 ConflictError: The strategy "` + id + `" belongs to the environment "prod".`},
	} {
		restore.Expect(editor, t, "update strategy", test.path, test.body, test.want)
	}
	restore.Expect(viewer, t, "update strategy", "default/f/dev/"+id[:25]+"J", body,
		`403 NoAccessError: You need the "CREATE_FEATURE_STRATEGY" permission in the environment "dev" of the project `+
			`"default" to perform this operation.`)
	assert.Equal(t, "feature-strategy-add prod", a.Recorded(t))
}

// A constraint on a context field with legal values has only those, and a stickiness is a field that has it.
func TestFieldsOfStrategies(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	for _, f := range []contextfield.ContextField{
		{Name: "plan", Stickiness: true, LegalValues: []contextfield.LegalValue{{Value: "basic"}}},
		{Name: "appName", Stickiness: true},
		{Name: "environment"},
	} {
		_, err := contextfield.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(), f)
		assert.OK(t, err)
	}
	add := func(constraint, stickiness string) string {
		return a.Call(t.Context(), "add strategy", "default/f/prod", `{"name":"flexibleRollout","constraints":[`+constraint+
			`],"parameters":{"stickiness":"`+stickiness+`"}}`)[:3]
	}
	assert.Equal(t, "200", add(`{"contextName":"plan","operator":"IN","values":["basic"]}`, "plan"))
	assert.Equal(t, "400", add(`{"contextName":"plan","operator":"NOT_IN","values":["basic","premium"]}`, "plan"))
	assert.Equal(t, "200", add(`{"contextName":"plan","operator":"STR_CONTAINS","values":["premium"]}`, "default"))
	assert.Equal(t, "400", add("", "a"))
	assert.Equal(t, "400", add("", "unknown"))
	assert.Equal(t, "400", add("", ""))
	assert.Equal(t, "400", add("", strings.Repeat("x", 3000)))
	assert.Equal(t, "400", add("", "environment"))
	assert.Equal(t, "400", add("", "remoteAddress"))
	assert.Equal(t, "200", add("", "appName"))
	assert.Equal(t, "200", add("", "sessionId"))
}

// A strategy names segments that exist. An archived toggle holds them, a deleted one does not.
func TestSegmentsOfStrategies(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	created, err := segment.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(),
		segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "s"}}})
	assert.OK(t, err)
	used := func() string {
		t.Helper()
		name := segmenttable.Name(created.ID)
		found, err := segment.ReferencesStore(a.Client, a.Tables).Read(t.Context(), []string{name})
		assert.OK(t, err)
		return fmt.Sprintf("%d active, %d archived", found[name].Toggles(), found[name].Archived)
	}
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev",
		fmt.Sprintf(`{"name":"default","segments":[%d]}`, created.ID), 200)
	assert.Equal(t, "1 active, 0 archived", used())
	a.Expect(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default","segments":[99]}`,
		"400 ValidationError: The `/body/segments` property must have the ids of segments; there is no segment with the id 99.")
	a.ExpectStatus(t.Context(), t, "archive", "default/f", "", 202)
	assert.Equal(t, "0 active, 1 archived", used())
	assert.OK(t, a.Store.Delete(t.Context(), "f", nil))
	assert.Equal(t, "0 active, 0 archived", used())
}

// The order of strategies changes as a whole. Those that are not in the list do not move.
func TestOrderStrategies(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	for range 3 {
		a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", `{"name":"default"}`, 200)
	}
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default"}`, 200)
	order := func() string {
		var all []string
		for _, s := range a.Toggle(t, "f").Environments["prod"].Strategies {
			all = append(all, fmt.Sprint(s.ID, ":", s.SortOrder))
		}
		return strings.Join(all, " ")
	}
	assert.Equal(t, "s1:0 s2:1 s3:2", order())
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"order", "default/f/prod", `[{"id":"s3","sortOrder":0},{"id":"s1","sortOrder":2}]`, "200"},
		{"order", "default/f/prod", `[{"id":"s3","sortOrder":0}]`, "200"},
		{"order", "default/f/prod", `[]`, "200"},
		{"order", "default/f/test", `[]`, `404 NotFoundError: There is no environment with the name "test".`},
		{"order", "q/f/prod", `[]`, toggles.UnknownIn("q", "f")},
		{
			"order", "default/f/prod", `[{"id":"s2","sortOrder":7},{"id":"s4","sortOrder":0}]`,
			"400 ValidationError: The `/body/1/id` property must be the id of a strategy of the toggle in the environment; " +
				`you sent "s4".`,
		},
		{
			"order", "default/f/prod", `[{"id":"s1","sortOrder":1},{"id":"s2","sortOrder":0},{"id":"s1","sortOrder":0}]`,
			"400 ValidationError: The `/body/2/id` property must not be that of `/body/0`; you sent \"s1\".",
		},
		{
			"order", "default/f/prod", `[{"id":"s1","sortOrder":2147483648}]`,
			"400 ValidationError: The `/body/0/sortOrder` property must be at most 2147483647; you sent 2147483648.",
		},
	})
	assert.Equal(t, "s3:0 s2:1 s1:2", order())
	a.With("If-None-Match", "*").Expect(t.Context(), t, "order", "default/f/prod", `[]`, toggles.Exists)
	events := a.Events(t)
	assert.Equal(t, `strategy-order-changed toggle:f by system: {"strategyIds":["s3","s2","s1"]} `+
		`before {"strategyIds":["s1","s2","s3"]}`, events[len(events)-1])
}

// Who does not see the segment of a strategy gets its id, and a PUT of what was read keeps it.
func TestSegmentOfAPrivateProject(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.PutPrivateProject(t)
	_, err := segment.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(), segment.Segment{Segment: segmenttable.Segment{
		Segment: toggle.Segment{Name: "hidden"}, Project: new("secret"),
	}})
	assert.OK(t, err)
	a.Create(t, `{}`, `{"name":"g"}`)
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", `{"name":"default","segments":[1]}`, 200)
	a.Projects = a.ProjectReader()
	editor := access.WithPrincipal(t.Context(), access.UserPrincipal(9, access.RoleEditor))
	read := a.Call(editor, "strategy", "default/f/prod/s1", "")
	if !strings.Contains(read, `"segments":[1]`) {
		t.Fatal(read)
	}
	body := strings.Replace(strings.TrimPrefix(read, "200 "), `"title":null`, `"title":"x"`, 1)
	toggles.Expect(editor, t, a.Set, []toggles.Call{
		{"update strategy", "default/f/prod/s1", body, "200 " + body},
		{"add strategy", "default/f/dev", `{"name":"default","segments":[1]}`, "200 " + `{"id":"s2","name":"default",` +
			`"title":null,"disabled":false,"sortOrder":0,"constraints":[],"parameters":{},"variants":[],"segments":[1]}`},
		{"add strategy", "default/g/prod", `{"name":"default","segments":[1]}`,
			"400 ValidationError: The `/body/segments` property must have the ids of segments; there is no segment with the id 1."},
	})
	a.Handlers["clone"] = feature.Clone(a.Store, 9, toggles.Now, func() string { return "s3" })
	a.Expect(editor, t, "clone", "default/f", `{"name":"copy"}`,
		"403 NoAccessError: The toggle \"f\" cannot be copied: it uses the segment with the id 1, which you do not see.")
	a.ExpectStatus(t.Context(), t, "clone", "default/f", `{"name":"copy"}`, 201)
	if got := a.Call(editor, "get", "default/f", ""); !strings.Contains(got, `"segments":[],"dependencies"`) {
		t.Error(got)
	}
}
