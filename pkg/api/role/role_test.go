package role_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// fixture has the environment prod.
type fixture struct {
	*database.Database
	operation.Set
	store        *role.Store
	environments *environment.Store
	users        *user.Store
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db := database.New(t)
	f := fixture{
		Database:     db,
		store:        role.NewStore(db.Client, db.Tables, db.Log()),
		environments: environment.NewStore(db.Client, db.Tables, db.Log()),
		users:        user.NewStore(db.Client, db.Tables, db.Log()),
	}
	f.Set = operation.Set{Parameters: []string{"roleId"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"permissions": role.Permissions(f.environments),
		"list":        role.List(f.store),
		"get":         role.Get(f.store),
		"create":      role.Create(f.store),
		"validate":    role.Validate(f.store),
		"update":      role.Update(f.store),
		"delete":      role.Delete(f.store),
	}}
	_, err := f.environments.Create(t.Context(), environment.Environment{Name: "prod", Type: "production"})
	assert.OK(t, err)
	return f
}

const (
	releaser = `{"name":" Releaser ","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"prod"},{"id":7},` +
		`{"name":"UPDATE_FEATURE","environment":null}]}`
	planner = `{"name":"Planner","description":"Plans","type":"root-custom","permissions":[{"name":"UPDATE_PROJECT"},` +
		`{"name":"CREATE_PROJECT"}]}`

	shownReleaser = `{"id":7,"name":"Releaser","type":"custom","description":""}`
	shownPlanner  = `{"id":8,"name":"Planner","type":"root-custom","description":"Plans"}`
)

func TestOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	missing := func(id string) string { return fmt.Sprintf("404 NotFoundError: There is no role with the id %q.", id) }
	const fixed = `400 ValidationError: The role "Owner" belongs to the service. Only custom roles can be changed.`
	for _, call := range []struct{ operation, id, body, want string }{
		{"validate", "", releaser, "200"},
		{"create", "", releaser, `200 {"version":1,"roles":` + shownReleaser + `}`},
		{"create", "", planner, `200 {"version":1,"roles":` + shownPlanner + `}`},
		{"validate", "", `{"name":"RELEASER"}`, `409 NameExistsError: There is already a role with the name "Releaser".`},
		{"create", "", `{"name":"releaser"}`, `409 NameExistsError: There is already a role with the name "Releaser".`},
		{"create", "", `{"name":"owner"}`, `409 NameExistsError: There is already a role with the name "Owner".`},
		{"get", "7", "", "200 " + strings.TrimSuffix(shownReleaser, "}") + `,"permissions":[` +
			`{"id":7,"name":"UPDATE_FEATURE","displayName":"Update toggles","type":"project"},` +
			`{"id":28,"name":"UPDATE_FEATURE_ENVIRONMENT","displayName":"Turn toggles on and off","type":"environment",` +
			`"environment":"prod"}]}`},
		{"get", "6", "", `200 {"id":6,"name":"Reader","type":"project","description":"May read the project, also if it is private.",` +
			`"permissions":[]}`},

		{"update", "8", `{"name":"RELEASER"}`, `409 NameExistsError: There is already a role with the name "Releaser".`},
		{"update", "7", `{"name":"releaser"}`, `200 {"version":1,"roles":` +
			strings.Replace(shownReleaser, "Releaser", "releaser", 1) + `}`},
		{"update", "7", `{"name":"Releaser","type":"root-custom"}`, "400 ValidationError: The `/body/type` property must be " +
			`"custom", because the type of a role cannot be changed; you sent "root-custom".`},
		{"update", "4", `{"name":"Owner"}`, fixed},
		{"delete", "4", "", fixed},
		{"delete", "7", "", "200"},
		{"get", "7", "", missing("7")},
		{"create", "", `{"name":"Releaser"}`, `200 {"version":1,"roles":` + strings.Replace(shownReleaser, "7", "9", 1) + `}`},

		{"get", "x", "", missing("x")},
		{"update", "99", `{"name":"n"}`, missing("99")},
		{"delete", "99", "", missing("99")},
	} {
		f.Expect(t.Context(), t, call.operation, call.id, call.body, call.want)
	}
	got := f.Call(t.Context(), "list", "", "")
	if !strings.HasPrefix(got, `200 {"version":1,"roles":[{"id":1,"name":"Admin","type":"root"`) ||
		!strings.HasSuffix(got, shownPlanner+`,`+strings.Replace(shownReleaser, "7", "9", 1)+`]}`) {
		t.Error(got)
	}
}

// The list says which roles have a permission.
func TestListByPermission(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", releaser, http.StatusOK)
	f.ExpectStatus(t.Context(), t, "create", "", planner, http.StatusOK)
	for query, want := range map[string][]string{
		"permission=ADMIN":                                       {"Admin"},
		"permission=CREATE_PROJECT":                              {"Admin", "Editor", "Planner"},
		"permission=UPDATE_FEATURE":                              {"Admin", "Owner", "Member", "Releaser"},
		"permission=UPDATE_PROJECT":                              {"Admin", "Owner"}, // it has no effect in a root role
		"permission=UPDATE_FEATURE_ENVIRONMENT":                  {"Admin", "Owner", "Member", "Releaser"},
		"permission=UPDATE_FEATURE_ENVIRONMENT&environment=prod": {"Admin", "Owner", "Member", "Releaser"},
		"permission=UPDATE_FEATURE_ENVIRONMENT&environment=test": {"Admin", "Owner", "Member"},
	} {
		_, _, text := f.Serve(t.Context(), operation.Request{Operation: "list", Query: query})
		var list struct{ Roles []role.Response }
		assert.OK(t, json.Unmarshal([]byte(text), &list))
		var got []string
		for _, r := range list.Roles {
			got = append(got, r.Name)
		}
		assert.Equal(t, fmt.Sprint(query, want), fmt.Sprint(query, got))
	}
	f.ExpectQuery(t.Context(), t, "list", "permission=FLY",
		"400 ValidationError: The `/query/permission` parameter must be the name of a permission; you sent \"FLY\".")
	f.ExpectQuery(t.Context(), t, "list", "environment=prod",
		"400 ValidationError: The `/query/permission` property is required with `/query/environment`; you did not send it.")
}

func TestInvalidRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for body, want := range map[string]string{
		`{"name":" "}`: "The `/body/name` property must have a visible character and no control characters.",
		`{"name":"r","permissions":[{"name":"FLY"}]}`: "The `/body/permissions/0` property must have the name or the id of a " +
			"permission.",
		`{"name":"r","permissions":[{"id":21}]}`: "The `/body/permissions/0` property must have the name or the id of a " +
			"permission.",
		`{"name":"r","type":"root-custom","permissions":[{"name":"ADMIN"}]}`: "The `/body/permissions/0` property must not be " +
			"the permission ADMIN, which only the role Admin has.",
		`{"name":"r","permissions":[{"name":"UPDATE_FEATURE"},{"name":"CREATE_PROJECT"}]}`: "The `/body/permissions/1` " +
			"property must be a permission in a project, because the role has the type custom; CREATE_PROJECT is of the type root.",
		`{"name":"r","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT"}]}`: "The `/body/permissions/0/environment` property " +
			"is required for the permission UPDATE_FEATURE_ENVIRONMENT; you did not send it.",
		`{"name":"r","permissions":[{"name":"UPDATE_FEATURE","environment":"prod"}]}`: "The `/body/permissions/0/environment` " +
			"property must not be sent for the permission UPDATE_FEATURE, which is of the type project; you sent \"prod\".",
		`{"name":"r","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"prdo"}]}`: "The " +
			"`/body/permissions/0/environment` property must be the name of an environment; you sent \"prdo\".",
	} {
		f.Expect(t.Context(), t, "create", "", body, "400 ValidationError: "+want)
		f.Expect(t.Context(), t, "validate", "", body, "400 ValidationError: "+want)
	}
	assert.Equal(t, 0, len(f.Scan(t, f.Tables[accesstable.Table])))
}

func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range role.Limit {
		r := access.RoleDefinition{ID: access.Role(i + 7), Type: access.CustomType, Name: fmt.Sprint("r", i)}
		f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalRole(r))
	}
	f.Expect(t.Context(), t, "create", "", `{"name":"one more"}`, "400 ValidationError: Failed to create role. You can't create "+
		"more than the established limit of 100. Delete a role first.")
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	got := f.Call(t.Context(), "permissions", "", "")
	for _, want := range []string{
		`{"permissions":{"environments":[{"name":"prod","permissions":[{"id":25,"name":"CREATE_FEATURE_STRATEGY",`,
		`"environment":"prod"}`,
		`"root":[{"id":10,"name":"UPDATE_TAG_TYPE","displayName":"Update tag types","type":"root"}`,
		`"project":[{"id":2,"name":"CREATE_FEATURE"`,
		`"version":1}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", releaser, 200)
	_, header, _ := f.Serve(t.Context(), operation.Request{Operation: "get", Path: "7"})
	f.ExpectStatus(t.Context(), t, "update", "7", `{"name":"Releaser","permissions":[]}`, 200)
	old := f.With("If-Match", header.Get("ETag"))
	old.ExpectStatus(t.Context(), t, "update", "7", `{"name":"x"}`, 412)
	old.ExpectStatus(t.Context(), t, "delete", "7", "", 412)
}

// A role that an account, a group or a project has is not deleted, not even if it gets the role at the same time.
func TestRoleInUse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", releaser, 200)
	f.ExpectStatus(t.Context(), t, "create", "", planner, 200)
	add := func(name string) {
		_, err := f.users.Add(t.Context(), user.User{Kind: user.Person, Name: name, Email: name + "@example.com", Role: 8},
			user.DefaultLimit)
		assert.OK(t, err)
	}
	client := f.Before(t, "TransactWriteItems", 1, func() { add("ada") })
	err := role.NewStore(client, f.Tables, f.LogThrough(client)).Delete(t.Context(), 8,
		func(access.RoleDefinition) error { return nil })
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	add("ben")
	project := access.NewProject("p", "p")
	project.Users = map[int64][]access.Role{1: {7}}
	f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalProject(project))
	f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalGroup(accesstable.Group{ID: 1, Name: "g", RootRole: 8}))
	f.Expect(t.Context(), t, "delete", "8", "", `409 ConflictError: The role "Planner" is in use: 2 people have it, `+
		"1 group has it. Give them another role first.")
	f.Expect(t.Context(), t, "delete", "7", "", `409 ConflictError: The role "Releaser" is in use: 1 project gives it. `+
		"Give them another role first.")
}

// An account gets a role that is deleted at the same time.
func TestRoleOfAccountIsDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"r","type":"root-custom"}`, 200)
	client := f.Before(t, "TransactWriteItems", 1, func() { f.ExpectStatus(t.Context(), t, "delete", "7", "", 200) })
	_, err := user.NewStore(client, f.Tables, f.LogThrough(client)).Add(t.Context(),
		user.User{Kind: user.Person, Name: "ada", Role: 7}, user.DefaultLimit)
	assert.Equal(t, "ValidationError: There is no root role with the id 7.", apierror.From(err).Error())
}

// The directory has what custom root roles permit, and environments count the roles with permissions in them.
func TestDirectoryAndEnvironments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	reader := accesstable.NewReader(f.Client, f.Tables)
	expect := func(want string, roles int64) {
		t.Helper()
		directory, err := reader.Directory(t.Context())
		assert.OK(t, err)
		assert.Equal(t, want, fmt.Sprint(directory.Roles))
		used, err := environment.ReferencesStore(f.Client, f.Tables).Read(t.Context(), []string{"prod"})
		assert.OK(t, err)
		assert.Equal(t, roles, used["prod"].Roles)
	}
	f.ExpectStatus(t.Context(), t, "create", "", releaser, 200)
	f.ExpectStatus(t.Context(), t, "create", "", planner, 200)
	expect("map[8:[CREATE_PROJECT]]", 1)
	_, err := f.environments.MarkDeleted(t.Context(), "prod", func(environment.Environment) error { return nil })
	assert.Equal(t, "ConflictError: The environment \"prod\" is in use. The number of roles with permissions in it is 1. "+
		"Remove these permissions first.", apierror.From(err).Error())
	_, found, err := f.environments.Check(f.environments.CountReferences)(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 0, len(found))
	f.ExpectStatus(t.Context(), t, "update", "7", `{"name":"Releaser","permissions":[{"name":"UPDATE_FEATURE"}]}`, 200)
	f.ExpectStatus(t.Context(), t, "update", "8", `{"name":"Planner","permissions":[{"name":"CREATE_SEGMENT"}]}`, 200)
	expect("map[8:[CREATE_SEGMENT]]", 0)
	f.ExpectStatus(t.Context(), t, "delete", "8", "", 200)
	expect("map[]", 0)
}

func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := access.WithPrincipal(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "9"})
	f.ExpectStatus(ada, t, "create", "", releaser, 200)
	f.ExpectStatus(ada, t, "update", "7", `{"name":"R","permissions":[]}`, 200)
	f.ExpectStatus(ada, t, "update", "7", `{"name":"R"}`, 200) // nothing changes
	f.ExpectStatus(ada, t, "update", "7", `{"name":"R","permissions":[]}`, 200)
	f.ExpectStatus(ada, t, "delete", "7", "", 200)
	const (
		by    = " role:7 by user 1, token 9: "
		first = `{"id":7,"name":"Releaser","type":"custom","description":"","permissions":[{"name":"UPDATE_FEATURE"},` +
			`{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"prod"}]}`
		second = `{"id":7,"name":"R","type":"custom","description":"","permissions":[]}`
	)
	assert.Equal(t, []string{
		"role-created" + by + first, "role-updated" + by + second + " before " + first, "role-deleted" + by + "before " + second,
	}, database.About(f.Events(t), "role:7"))
	for _, item := range f.Scan(t, f.Tables[accesstable.Table]) {
		if item.String("kind") != "counter" {
			t.Errorf("%v is left", item)
		}
	}
}
