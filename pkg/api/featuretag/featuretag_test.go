package featuretag_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

func handlers(db toggles.Fixture) operation.Set {
	return operation.Set{
		Parameters: []string{"featureName", "type", "value"},
		Handlers: map[string]lambdahttp.HandlerFunc{
			"list": featuretag.List(db.Store.Reader), "add": featuretag.Add(db.Store),
			"update": featuretag.Update(db.Store), "remove": featuretag.Remove(db.Store),
		},
	}
}

// Each tag that is added or removed is an event of its toggle.
func TestTags(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a"}`)
	types := tagtype.NewStore(db.Client, db.Tables, db.Log())
	assert.OK(t, types.Create(t.Context(), tagtype.TagType{Name: "team"}))
	toggles.Expect(t.Context(), t, handlers(db), []toggles.Call{
		{"list", "a", "", `200 {"version":1,"tags":[]}`},
		{"add", "a", `{"type":"team","value":" checkout "}`, `201 {"type":"team","value":"checkout"}`},
		{"add", "a", `{"type":"team","value":"checkout"}`, `201 {"type":"team","value":"checkout"}`}, // records nothing
		{"add", "a", `{"type":"none","value":"checkout"}`, `404 NotFoundError: There is no tag type with the name "none".`},
		{
			"add", "a", `{"type":"simple","value":" x "}`,
			"400 ValidationError: The `/body/value` property must have between 2 and 50 characters; you sent \" x \".",
		},
		{
			"update", "a", `{"addedTags":[{"type":"simple","value":"a:b"}],"removedTags":[{"type":"team","value":"checkout"}]}`,
			`200 {"version":1,"tags":[{"type":"simple","value":"a:b"}]}`,
		},
		{
			"update", "a", `{"addedTags":[{"type":"simple","value":"a\u0001b"}],"removedTags":[]}`,
			"400 ValidationError: The `/body/addedTags/0/value` property must have no control characters except " +
				`tabs and line breaks; you sent "a\u0001b".`,
		},
		{"list", "a", "", `200 {"version":1,"tags":[{"type":"simple","value":"a:b"}]}`},
		{"remove", "a/simple/other", "", "200"},
		{"remove", "a/simple/a:b", "", "200"},
		{"list", "a", "", `200 {"version":1,"tags":[]}`},
		{"list", "x", "", toggles.Unknown("x")},
		{"add", "x", `{"type":"team","value":"checkout"}`, toggles.Unknown("x")},
		{"remove", "%FF/simple/a", "", toggles.Unknown("%FF")},
	})
	var events []string
	for _, e := range database.About(db.Events(t), "toggle:a") {
		if strings.Contains(e, "tagged") {
			events = append(events, e)
		}
	}
	assert.Equal(t, []string{
		`feature-tagged toggle:a by system: {"type":"team","value":"checkout"}`,
		`feature-untagged toggle:a by system: before {"type":"team","value":"checkout"}`,
		`feature-tagged toggle:a by system: {"type":"simple","value":"a:b"}`,
		`feature-untagged toggle:a by system: before {"type":"simple","value":"a:b"}`,
	}, events)
}

// All toggles of a request change, or none. A toggle has at most 50 tags.
func TestTagsOfToggles(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a"}`, `{"name":"b"}`, `{"name":"foreign","project":"p"}`)
	all := operation.Set{Parameters: []string{"projectId"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"update": featuretag.UpdateAll(db.Store),
	}}
	body := func(names, added, removed string) string {
		return fmt.Sprintf(`{"features":[%s],"tags":{"addedTags":[%s],"removedTags":[%s]}}`, names, added, removed)
	}
	const design, team = `{"type":"simple","value":"design"}`, `{"type":"simple","value":"team"}`
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf(`{"type":"simple","value":"tag-%d"}`, i))
	}
	toggles.Expect(t.Context(), t, all, []toggles.Call{
		{"update", "default", body(`"a","b","a"`, design+","+team, ""), "200"},
		{"update", "default", body(`"a","foreign"`, team, design), toggles.UnknownIn("default", "foreign")},
		{"update", "default", body(`"b"`, "", design), "200"},
		{
			"update", "default", body(`"a"`, `{"type":"simple","value":"x"}`, ""),
			"400 ValidationError: The `/body/tags/addedTags/0/value` property must have 2 or more characters; you sent \"x\".",
		},
		{
			"update", "default", body(`"b"`, strings.Join(many, ","), ""),
			`400 ValidationError: The toggle "b" would have 51 tags. The maximum is 50.`,
		},
	})
	assert.Equal(t, 2, len(db.Toggle(t, "a").Tags))
	assert.Equal(t, "simple:team", db.Toggle(t, "b").Tags[0].String())
}

// A toggle of a project that the caller does not see is unknown, and who may only read it does not change it.
func TestRights(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","project":"p"}`)
	h := handlers(db)
	viewer := operation.Viewer(t.Context())
	h.ExpectStatus(viewer, t, "list", "a", "", 200)
	h.ExpectStatus(viewer, t, "add", "a", `{"type":"simple","value":"design"}`, 403)
	h.ExpectStatus(viewer, t, "remove", "a/simple/design", "", 403)
}

// All tags are those of the toggles that the caller sees.
func TestAllTags(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.PutPrivateProject(t)
	db.Create(t, `{"name":"a","Tags":[{"type":"simple","value":"web"},{"type":"simple","value":"app"}]}`,
		`{"name":"b","archived":true,"Tags":[{"type":"simple","value":"web"}]}`,
		`{"name":"c","project":"secret","Tags":[{"type":"simple","value":"hidden"}]}`)
	store := featuretag.NewStore(db.Client, db.Tables)
	h := operation.Set{
		Projects: db.ProjectReader(), Parameters: []string{"type", "value"},
		Handlers: map[string]lambdahttp.HandlerFunc{
			"all": featuretag.ListAll(store), "type": featuretag.ListOfType(store), "get": featuretag.Get(store),
		},
	}
	const tags = `{"version":1,"tags":[{"type":"simple","value":"app"},{"type":"simple","value":"web"}]}`
	toggles.Expect(operation.Viewer(t.Context()), t, h, []toggles.Call{
		{"all", "", "", "200 " + tags},
		{"type", "simple", "", "200 " + tags},
		{"type", "team", "", `200 {"version":1,"tags":[]}`},
		{"type", "%FF", "", `200 {"version":1,"tags":[]}`},
		{"get", "simple/web", "", `200 {"version":1,"tag":{"type":"simple","value":"web"}}`},
		{"get", "simple/hidden", "", `404 NotFoundError: No toggle has the tag "simple:hidden".`},
	})
}
