package project_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// fixture has the people Ada (1) and Ben (2), the service account CI (3), the group 1 with Ben, the custom role 7, which
// switches toggles in the environment development, and the environments development and production.
type fixture struct {
	*database.Database
	operation.Set
	store    *project.Store
	features *feature.Store
	access   *accesstable.Reader
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db := database.New(t)
	f := fixture{
		Database: db,
		store:    project.NewStore(db.Client, db.Tables, db.Log()),
		features: feature.NewStore(db.Client, db.Tables, db.Log()),
		access:   accesstable.NewReader(db.Client, db.Tables),
	}
	environments := environment.NewStore(db.Client, db.Tables, db.Log())
	f.Set = operation.Set{Projects: f.access, Parameters: []string{"projectId", "userId"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list":              project.List(f.store),
		"create":            project.Create(f.store, environments),
		"validate":          project.Validate(f.store),
		"overview":          project.Overview(f.store, environments),
		"update":            project.Update(f.store),
		"settings":          project.UpdateSettings(f.store),
		"archive":           project.Archive(f.store),
		"revive":            project.Revive(f.store),
		"delete":            project.Delete(f.store),
		"addEnvironment":    project.AddEnvironment(f.store, environments),
		"removeEnvironment": project.RemoveEnvironment(f.store, environments),
		"getAccess":         project.GetAccess(f.store),
		"setAccess":         project.SetAccess(f.store),
		"addAccess":         project.AddAccess(f.store),
		"setUser":           project.SetUserRoles(f.store),
		"removeUser":        project.RemoveUserRoles(f.store),
	}}
	for _, e := range environment.Defaults() {
		_, err := environments.Create(t.Context(), e)
		assert.OK(t, err)
	}
	users := user.NewStore(db.Client, db.Tables, db.Log())
	for _, u := range []user.User{
		{Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleViewer},
		{Kind: user.Person, Name: "Ben", Email: "ben@example.com", Role: access.RoleViewer},
		{Kind: user.ServiceAccount, Name: "CI", Username: "ci", Role: access.RoleViewer},
	} {
		_, err := users.Add(t.Context(), u, user.DefaultLimit)
		assert.OK(t, err)
	}
	table := db.Tables[accesstable.Table]
	f.Put(t, table, accesstable.MarshalGroup(accesstable.Group{ID: 1, Name: "Payments", Members: []int64{2}, LastEvent: 1}))
	f.Put(t, table, accesstable.MarshalRole(access.RoleDefinition{ID: 7, Type: access.CustomType, Name: "Switcher",
		LastEvent:   1,
		Permissions: []access.RolePermission{{Permission: access.UpdateEnvironment, Environment: "development"}}}))
	return f
}

// as returns the context of a request of a principal.
func (f fixture) as(t *testing.T, p access.Principal) context.Context {
	t.Helper()
	return access.WithProjects(access.WithPrincipal(t.Context(), p), f.access)
}

// ada returns the context of a request of Ada, who is an Editor.
func (f fixture) ada(t *testing.T) context.Context { //nolint:thelper // not a helper
	return f.as(t, access.UserPrincipal(1, access.RoleEditor))
}

// admin returns the context of a request of an API token.
func (f fixture) admin(t *testing.T) context.Context { //nolint:thelper // not a helper
	return f.as(t, access.APITokenPrincipal(access.Selector{}))
}

// toggle creates a toggle.
func (f fixture) toggle(t *testing.T, created toggle.Feature) {
	t.Helper()
	_, err := f.features.Create(t.Context(), created)
	assert.OK(t, err)
}

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func expectPart(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const all = `"environments":["development","production"],"changeRequestEnvironments":[]}`
	const sent = `"defaultStickiness":"default","featureLimit":null,`
	for _, call := range []struct{ body, want string }{
		{`{"id":"shop","name":"Shop"}`, `201 {"id":"shop","name":"Shop","mode":"open",` + sent + all},
		{`{"name":"Große Straße 7!"}`, `201 {"id":"gro-e-stra-e-7","name":"Große Straße 7!","mode":"open",` + sent + all},
		{`{"id":"","name":"Shop"}`, `201 {"id":"shop-2","name":"Shop","mode":"open",` + sent + all},
		{`{"name":"—"}`, `201 {"id":"project","name":"—","mode":"open",` + sent + all},
		{`{"id":"p","name":"P","description":"d","mode":"private","defaultStickiness":"userId","environments":["production"]}`,
			`201 {"id":"p","name":"P","description":"d","mode":"private","defaultStickiness":"userId","featureLimit":null,` +
				`"environments":["production"],"changeRequestEnvironments":[]}`},
		{`{"id":"SHOP","name":"Shop"}`, `409 NameExistsError: There is already a project with the id "SHOP".`},
		{`{"id":"Default","name":"x"}`, `409 NameExistsError: There is already a project with the id "Default".`},
		{`{"id":"Archive","name":"x"}`, "400 ValidationError: The `/body/id` property must not be \"Archive\", which is a path of the API."},
		{`{"id":"q","name":"Q","environments":["test"]}`,
			"400 ValidationError: The `/body/environments/0` property must be the name of an environment; you sent \"test\"."},
	} {
		f.Expect(f.ada(t), t, "create", "", call.body, call.want)
	}
	created, err := f.store.Get(t.Context(), "p")
	assert.OK(t, err)
	assert.Equal(t, "map[1:[Owner]]", fmt.Sprint(created.Users))
	f.ExpectStatus(f.ada(t), t, "validate", "", `{"id":"new"}`, http.StatusOK)
	f.Expect(f.ada(t), t, "validate", "", `{"id":"Shop"}`, `409 NameExistsError: There is already a project with the id "Shop".`)
	f.Expect(f.admin(t), t, "create", "", `{"id":"r","name":"R","mode":"private"}`, "409 ConflictError: A private project needs "+
		"an Owner, and a project that is created with an API token has none. Create an open project, add an Owner, then change the mode.")
}

func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range project.Limit - 1 { // with the default project
		f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalProject(access.NewProject(fmt.Sprint("p", i), "P")))
	}
	f.Expect(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, "400 ValidationError: Failed to create project. You can't "+
		"create more than the established limit of 500. Delete a project first.")
}

func TestList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	defaultProject := `{"id":"default","name":"Default","description":"Default project","mode":"open",` +
		`"defaultStickiness":"default","favorite":false,"featureCount":0,"staleFeatureCount":0,"potentiallyStaleFeatureCount":0,"memberCount":0,` +
		`"owners":[{"ownerType":"system"}],"createdAt":null,"updatedAt":null,"archivedAt":null}`
	f.Expect(f.admin(t), t, "list", "", "", `200 {"version":1,"projects":[`+defaultProject+`]}`)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop","mode":"private"}`, http.StatusCreated)
	f.ExpectStatus(f.admin(t), t, "addAccess", "shop", `{"roles":[4,5],"groups":[1],"users":[]}`, http.StatusOK)
	for _, created := range []toggle.Feature{
		{Name: "a", Project: "shop"}, {Name: "b", Project: "shop", Stale: true}, {Name: "c", Project: "shop", Archived: true},
	} {
		f.toggle(t, created)
	}
	_, _, text := f.Serve(f.ada(t), operation.Request{Operation: "list"})
	expectPart(t, text, `"mode":"private","defaultStickiness":"default","favorite":false,"featureCount":2,"staleFeatureCount":1,`+
		`"potentiallyStaleFeatureCount":0,"memberCount":2,"owners":[{"ownerType":"user","name":"Ada","email":"ada@example.com"},`+
		`{"ownerType":"group","name":"Payments"}],`)
	f.Expect(f.as(t, access.UserPrincipal(3, access.RoleEditor)), t, "list", "", "", `200 {"version":1,"projects":[`+defaultProject+`]}`)
	f.ExpectQuery(f.admin(t), t, "list", "archived=true", `200 {"version":1,"projects":[]}`)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"old","name":"Old"}`, http.StatusCreated)
	f.ExpectStatus(f.admin(t), t, "archive", "old", "", http.StatusOK)
	for query, want := range map[string]string{"": "default shop", "archived=true": "old", "archived=all": "default old shop"} {
		_, _, text := f.Serve(f.admin(t), operation.Request{Operation: "list", Query: query})
		var list struct{ Projects []struct{ ID string } }
		assert.OK(t, json.Unmarshal([]byte(text), &list))
		var ids []string
		for _, listed := range list.Projects {
			ids = append(ids, listed.ID)
		}
		assert.Equal(t, query+" "+want, query+" "+strings.Join(ids, " "))
	}
}

// The list says in which projects accounts and groups have roles.
func TestListOfGrants(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, http.StatusCreated)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"hidden","name":"Hidden","mode":"private"}`, http.StatusCreated)
	f.ExpectStatus(f.admin(t), t, "addAccess", "shop", `{"roles":[5,7],"groups":[1],"users":[3]}`, http.StatusOK)
	ada := `"users":[{"id":1,"name":"Ada","email":"ada@example.com","rootRole":3,"accountType":"User","roleId":4,"roles":[4]}`
	ci := func(roles string) string {
		return `{"id":3,"name":"CI","username":"ci","rootRole":3,"accountType":"Service Account",` + roles + `}`
	}
	payments := func(roles string) string {
		return `"access":{"groups":[{"id":1,"name":"Payments","description":null,"mappingsSSO":[],"createdAt":null,"userCount":1,` +
			roles + `}],`
	}
	const both = `"roleId":5,"roles":[5,7]`
	ben := f.as(t, access.UserPrincipal(2, access.RoleViewer))
	for _, call := range []struct {
		ctx   context.Context //nolint:containedctx // of the request
		query string
		want  []string
	}{
		{f.admin(t), "users=1", []string{`"access":{"groups":[],` + ada + `]}}`, `"access":{"groups":[],` + ada + `]}}`}},
		{ben, "users=1", []string{`"access":{"groups":[],` + ada + `]}}`}},
		{ben, "groups=1&users=2,3", []string{payments(both) + `"users":[` + ci(both) + `]}}`}},
		{ben, "roles=7", []string{payments(`"roleId":7,"roles":[7]`) + `"users":[` + ci(`"roleId":7,"roles":[7]`) + `]}}`}},
		{ben, "users=1&roles=4&roles=5", []string{`"access":{"groups":[],` + ada + `]}}`}},
		{ben, "groups=1&roles=4", nil},
		{ben, "users=77", nil},
		{ben, "users=1&archived=true", nil},
	} {
		_, _, text := f.Serve(call.ctx, operation.Request{Operation: "list", Query: call.query})
		var got []string
		for _, project := range strings.SplitAfter(text, "}}")[:strings.Count(text, "}}")] {
			_, shown, _ := strings.Cut(project, `"archivedAt":null,`)
			got = append(got, shown)
		}
		assert.Equal(t, fmt.Sprint(call.query, call.want), fmt.Sprint(call.query, got))
	}
	f.ExpectQuery(ben, t, "list", "users=1,x", "400 ValidationError: The `/query/users` parameter must be ids of people and service "+
		"accounts, separated by commas; you sent \"1,x\".")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, http.StatusCreated)
	_, header, _ := f.Serve(f.ada(t), operation.Request{Operation: "overview", Path: "shop"})
	tag := header.Get("ETag")
	environments := environment.NewStore(f.Client, f.Tables, nil)
	assert.OK(t, f.store.RemoveEnvironment(t.Context(), "shop", "development", environments, project.Always)) // not in the tag
	f.With("If-Match", tag).ExpectStatus(f.ada(t), t, "update", "shop", `{"name":"The shop","description":"d"}`, http.StatusOK)
	f.With("If-Match", tag).ExpectStatus(f.ada(t), t, "update", "shop", `{"name":"Shop"}`, http.StatusPreconditionFailed)
	for _, call := range []struct{ operation, body, want string }{
		{"settings", `{"featureNaming":{"pattern":"shop\\.[a-z]+","example":"shop.cart"},"linkTemplates":[{"title":"T","urlTemplate":"https://x.example/{{feature}}"}]}`, "200"},
		{"settings", `{"featureNaming":{"pattern":"(","example":""}}`,
			"400 ValidationError: The `/body/featureNaming/pattern` property must be a regular expression (RE2); you sent \"(\"."},
		{"settings", `{"featureNaming":{"pattern":"a+","example":"b"}}`,
			"400 ValidationError: The `/body/featureNaming/example` property must match the pattern; you sent \"b\"."},
		{"settings", `{"featureNaming":{"example":"b"}}`,
			"400 ValidationError: The `/body/featureNaming/pattern` property is required with an example or a description."},
		{"settings", `{"linkTemplates":[{"urlTemplate":"javascript:alert(1)"}]}`, "400 ValidationError: The " +
			"`/body/linkTemplates/0/urlTemplate` property must be an http or https URL; you sent \"javascript:alert(1)\"."},
		{"update", `{"id":"web","name":"x"}`, "400 ValidationError: The `/body/id` property must be \"shop\", as in the path; you sent \"web\"."},
		{"update", `{"name":"Shop","mode":"protected"}`, "200"},
		{"update", `{"name":"Shop","featureNaming":{"pattern":"("}}`,
			"400 ValidationError: The `/body/featureNaming/pattern` property must be a regular expression (RE2); you sent \"(\"."},
		{"update", `{"name":"Shop","featureNaming":{"pattern":"shop-.*"},"linkTemplates":[{"urlTemplate":"https://x.example/"}]}`, "200"},
		{"create", `{"id":"named","name":"N","linkTemplates":[{"urlTemplate":"x"}]}`, "400 ValidationError: The " +
			"`/body/linkTemplates/0/urlTemplate` property must be an http or https URL; you sent \"x\"."},
	} {
		f.Expect(f.ada(t), t, call.operation, "shop", call.body, call.want)
	}
	p, err := f.store.Get(t.Context(), "shop")
	assert.OK(t, err)
	assert.Equal(t, []any{"shop-.*", access.LinkTemplate{URLTemplate: "https://x.example/"}}, []any{p.Naming.Pattern, p.LinkTemplates[0]})
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"named","name":"N","featureNaming":{"pattern":"n-.*"}}`, http.StatusCreated)
	p, err = f.store.Get(t.Context(), "named")
	assert.OK(t, err)
	assert.Equal(t, "n-.*", p.Naming.Pattern)
	f.ExpectStatus(f.ada(t), t, "update", "default", `{"name":"Everything"}`, http.StatusOK)
	p, err = f.store.Get(t.Context(), "default")
	assert.OK(t, err)
	assert.Equal(t, "Everything", p.Name)
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, http.StatusCreated)
	f.toggle(t, toggle.Feature{Name: "a", Project: "shop"})
	for _, call := range []struct{ operation, id, want string }{
		{"archive", "default", "403 NoAccessError: The default project can be neither archived nor deleted."},
		{"delete", "default", "403 NoAccessError: The default project can be neither archived nor deleted."},
		{"archive", "shop", `409 ConflictError: The project "shop" has toggles that are not archived: 1. Archive or move them first.`},
		{"delete", "shop", `409 ConflictError: The project "shop" cannot be deleted, because it has toggles: 1.`},
		{"revive", "shop", "200"},
	} {
		f.Expect(f.admin(t), t, call.operation, call.id, "", call.want)
	}
	f.toggle(t, toggle.Feature{Name: "b", Project: "shop"}) // the failed attempts left no mark
	for _, name := range []string{"a", "b"} {
		_, err := f.features.Update(t.Context(), name, func(old toggle.Feature) (toggle.Feature, error) {
			old.Archived = true
			return old, nil
		})
		assert.OK(t, err)
	}
	f.Expect(f.admin(t), t, "archive", "shop", "", "200")
	f.Expect(f.admin(t), t, "archive", "shop", "", "200")
	_, err := f.features.Create(t.Context(), toggle.Feature{Name: "c", Project: "shop"})
	expectError(t, err, `The project "shop" is archived.`)
	f.Expect(f.admin(t), t, "delete", "shop", "",
		`409 ConflictError: The project "shop" cannot be deleted, because it has archived toggles: 2.`)
	for _, name := range []string{"a", "b"} {
		assert.OK(t, f.features.Delete(t.Context(), name, nil))
	}
	f.Expect(f.admin(t), t, "delete", "shop", "", "200")
	f.Expect(f.admin(t), t, "delete", "shop", "", `404 NotFoundError: There is no project with the id "shop".`)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, http.StatusCreated)
}

// A project that is being archived or deleted takes no toggles, for a minute.
func TestClosing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	item := accesstable.MarshalProject(access.NewProject("shop", "Shop"))
	for _, test := range []struct {
		age  time.Duration
		want string
	}{
		{0, `The project "shop" is being archived or deleted.`}, {59 * time.Second, "is being"}, {2 * time.Minute, ""},
		{-2 * time.Minute, ""},
	} {
		item[accesstable.AttributeClosing] = dynamo.N(f.Log().Now().Add(-test.age).UnixMilli())
		f.Put(t, f.Tables[accesstable.Table], item)
		_, err := f.features.Create(t.Context(), toggle.Feature{Name: fmt.Sprint("a", test.age), Project: "shop"})
		if test.want == "" {
			assert.OK(t, err)
		} else {
			expectError(t, err, test.want)
		}
	}
}

func TestEnvironments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, http.StatusCreated)
	on := toggle.Feature{Name: "a", Project: "shop"}
	on.SetEnvironment("production", toggle.Environment{Enabled: true})
	f.toggle(t, on)
	for _, call := range []struct{ operation, path, body, want string }{
		{"removeEnvironment", "shop/production", "", `409 ConflictError: The number of toggles of the project "shop" that are on ` +
			`in the environment "production" is 1. Turn them off first.`},
		{"removeEnvironment", "shop/development", "", "200"},
		{"removeEnvironment", "shop/development", "",
			`404 NotFoundError: The project "shop" has no environment with the name "development".`},
		{"addEnvironment", "shop", `{"environment":"production"}`,
			`409 ConflictError: The project "shop" has the environment "production".`},
		{"addEnvironment", "shop", `{"environment":"test"}`,
			"400 ValidationError: The `/body/environment` property must be the name of an environment; you sent \"test\"."},
	} {
		f.Set.Parameters = []string{"projectId", "environment"}
		f.Expect(f.admin(t), t, call.operation, call.path, call.body, call.want)
	}
	_, err := f.features.Update(t.Context(), "a", func(old toggle.Feature) (toggle.Feature, error) {
		old.SetEnvironment("development", toggle.Environment{Enabled: true})
		return old, nil
	})
	expectError(t, err, `The project "shop" does not have the environment "development".`)
	f.Expect(f.admin(t), t, "addEnvironment", "shop", `{"environment":"development"}`, "200")
}

func TestAccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop","mode":"protected"}`, http.StatusCreated)
	for _, call := range []struct{ operation, path, body, want string }{
		{"setAccess", "shop", `{"roles":[{"id":5,"users":[2],"groups":[1]}]}`, "409 ConflictError: The project \"shop\" is protected " +
			"and would have no Owner. Give somebody else the role first."},
		{"addAccess", "shop", `{"roles":[5,7],"groups":[1],"users":[2,3]}`, "200"},
		{"addAccess", "shop", `{"roles":[5],"groups":[],"users":[99]}`,
			"400 ValidationError: There is no person and no service account with the id 99."},
		{"addAccess", "shop", `{"roles":[5],"groups":[9],"users":[]}`, "400 ValidationError: There is no group with the id 9."},
		{"addAccess", "shop", `{"roles":[2],"groups":[],"users":[2]}`, "400 ValidationError: There is no project role with the id 2."},
		{"removeUser", "shop/1", "", "409 ConflictError: The project \"shop\" is protected and would have no Owner. Give somebody " +
			"else the role first."},
		{"removeUser", "shop/3", "", "200"},
		{"addAccess", "shop", `{"roles":[],"groups":[],"users":[]}`, "200"},
		{"setUser", "shop/77", "", `404 NotFoundError: There is no person and no service account with the id "77".`},
	} {
		f.Expect(f.ada(t), t, call.operation, call.path, call.body, call.want)
	}
	for _, query := range []string{"roles=5,7", "roles=6&roles=7"} {
		status, _, text := f.Serve(f.ada(t), operation.Request{Operation: "setUser", Path: "shop/3", Query: query})
		assert.Equal(t, "200 ", fmt.Sprint(status, " ", text))
	}
	status, _, text := f.Serve(f.ada(t), operation.Request{Operation: "removeUser", Path: "shop/3", Query: "roles=6"})
	assert.Equal(t, "200 ", fmt.Sprint(status, " ", text))
	groups := f.Set
	groups.Parameters = []string{"projectId", "groupId"}
	groups.Handlers = map[string]lambdahttp.HandlerFunc{"set": project.SetGroupRoles(f.store)}
	_, _, ofUser := f.Serve(f.ada(t), operation.Request{Operation: "setUser", Path: "shop/3", Query: "role=4"})
	_, _, ofGroup := groups.Serve(f.ada(t), operation.Request{Operation: "set", Path: "shop/1"})
	for _, text := range []string{ofUser, ofGroup} {
		assert.Equal(t, "ValidationError: The `/query/roles` parameter is required; you did not send it.", text)
	}
	_, _, text = f.Serve(f.ada(t), operation.Request{Operation: "setUser", Path: "shop/3", Query: "roles=x"})
	assert.Equal(t, "ValidationError: The `/query/roles` parameter must be ids of roles, separated by commas; you sent \"x\".", text)
	p, err := f.store.Get(t.Context(), "shop")
	assert.OK(t, err)
	assert.Equal(t, "map[1:[Owner] 2:[Member 7] 3:[7]] map[1:[Member 7]]", fmt.Sprint(p.Users, p.Groups))
	f.Expect(f.admin(t), t, "addAccess", "default", `{"roles":[5],"groups":[1],"users":[3]}`, "200") // it has no item yet
	_, _, text = f.Serve(f.ada(t), operation.Request{Operation: "getAccess", Path: "shop"})
	expectPart(t, text, `"name":"Payments","description":null,"mappingsSSO":[],"createdAt":null,"userCount":1,"roleId":5,"roles":[5,7]}]`)
	expectPart(t, text, `"name":"Ben","email":"ben@example.com","rootRole":3,"accountType":"User","roleId":5,"roles":[5,7]}`)
}

// Who has which roles in a project has an entity tag, which other changes of the project do not change. A write compares it
// with the project that it changes.
func TestAccessTag(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, http.StatusCreated)
	tag := func() string {
		_, header, _ := f.Serve(f.ada(t), operation.Request{Operation: "getAccess", Path: "shop"})
		return header.Get("ETag")
	}
	const member = `{"roles":[5],"groups":[1],"users":[]}`
	first := tag()
	f.ExpectStatus(f.ada(t), t, "update", "shop", `{"name":"The shop"}`, http.StatusOK)
	f.With("If-Match", first).ExpectStatus(f.ada(t), t, "addAccess", "shop", member, http.StatusOK)
	second := tag()
	for name, body := range map[string]string{"addAccess": member, "setAccess": `{"roles":[{"id":4,"users":[1],"groups":[]}]}`} {
		f.With("If-Match", first).ExpectStatus(f.ada(t), t, name, "shop", body, http.StatusPreconditionFailed)
	}
	f.With("If-Match", first).ExpectStatus(f.ada(t), t, "removeUser", "shop/3", "", http.StatusPreconditionFailed)
	f.With("If-Match", second).ExpectStatus(f.ada(t), t, "removeUser", "shop/3", "", http.StatusOK)
	assert.Equal(t, second, tag()) // nothing has changed

	// A change between reading and writing.
	client := f.Before(t, "TransactWriteItems", 1, func() {
		f.ExpectStatus(f.ada(t), t, "addAccess", "shop", `{"roles":[6],"groups":[1],"users":[]}`, http.StatusOK)
	})
	groups := f.Set
	groups.Parameters = []string{"projectId", "groupId"}
	groups.Handlers = map[string]lambdahttp.HandlerFunc{
		"remove": project.RemoveGroupRoles(project.NewStore(client, f.Tables, f.LogThrough(client))),
	}
	groups.With("If-Match", second).ExpectStatus(f.ada(t), t, "remove", "shop/1", "", http.StatusPreconditionFailed)
	p, err := f.store.Get(t.Context(), "shop")
	assert.OK(t, err)
	assert.Equal(t, []access.Role{5, 6}, p.Groups[1])
}

// Nobody gives a role with a permission that they lack.
func TestGiveMoreThanOneHas(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := access.NewProject("shop", "Shop")
	p.Users = map[int64][]access.Role{1: {access.RoleOwner}, 2: {8}}
	f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalProject(p))
	f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalRole(access.RoleDefinition{ID: 8, Type: access.CustomType,
		Name: "Access", Permissions: []access.RolePermission{{Permission: access.WriteProjectAccess},
			{Permission: access.UpdateEnvironment, Environment: "development"}}}))
	ben := func() context.Context { return f.as(t, access.UserPrincipal(2, access.RoleViewer)) }
	got := f.Call(ben(), "addAccess", "shop", `{"roles":[4],"groups":[],"users":[2]}`)
	if !strings.HasPrefix(got, `403 NoAccessError: You cannot give the role "Owner" in the project "shop", because you do not have`) {
		t.Error(got)
	}
	f.Expect(ben(), t, "addAccess", "shop", `{"roles":[7],"groups":[],"users":[3]}`, "200")
	f.Expect(ben(), t, "removeUser", "shop/3", "", "200")
}

// A toggle that is turned on while its environment is removed from the project prevents that.
func TestTurnedOnMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, http.StatusCreated)
	f.toggle(t, toggle.Feature{Name: "a", Project: "shop"})
	client := f.Before(t, "TransactWriteItems", 1, func() {
		_, err := f.features.Update(t.Context(), "a", func(old toggle.Feature) (toggle.Feature, error) {
			old.SetEnvironment("production", toggle.Environment{Enabled: true})
			return old, nil
		})
		assert.OK(t, err)
	})
	projects := project.NewStore(client, f.Tables, f.LogThrough(client))
	err := projects.RemoveEnvironment(t.Context(), "shop", "production", environment.NewStore(client, f.Tables, nil), project.Always)
	expectError(t, err, `that are on in the environment "production" is 1. Turn them off first.`)
}

// The name of a toggle that does not match the pattern of a project is an error at what was sent.
func TestFeatureNames(t *testing.T) {
	t.Parallel()
	p := access.NewProject("shop", "Shop")
	assert.OK(t, project.CheckFeatureName(&p, "cart"))
	assert.OK(t, project.CheckMove(&p, "cart"))
	p.Naming = &access.Naming{Pattern: "shop-.+", Example: "shop-cart", Description: "with the project"}
	assert.OK(t, project.CheckFeatureName(&p, "shop-cart"))
	assert.OK(t, project.CheckMove(&p, "shop-cart"))
	const rule = `must match the pattern "shop-.+" of the project "shop", such as "shop-cart" (with the project)`
	assert.Equal(t, "The `/body/name` property "+rule+`; you sent "my-shop-cart".`,
		apierror.From(project.CheckFeatureName(&p, "my-shop-cart")).Message)
	assert.Equal(t, "The `/body/newProjectId` property must be a project in which the toggle can have its name: "+
		`"my-shop-cart" `+rule+".", apierror.From(project.CheckMove(&p, "my-shop-cart")).Message)
}
