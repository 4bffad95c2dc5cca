package group_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_987_654, time.UTC) }

// fixture has the people 1 and 2 and the service account 3.
type fixture struct {
	*database.Database
	operation.Set
	store  *group.Store
	users  *user.Store
	access *accesstable.Reader
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db := database.New(t)
	f := fixture{
		Database: db,
		store:    group.NewStore(db.Client, db.Tables, db.Log()),
		users:    user.NewStore(db.Client, db.Tables, db.Log()),
		access:   accesstable.NewReader(db.Client, db.Tables),
	}
	f.Set = operation.Set{Projects: f.access, Parameters: []string{"groupId"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list":   group.List(f.store),
		"get":    group.Get(f.store, f.users),
		"create": group.Create(f.store, f.users, now),
		"update": group.Update(f.store, f.users),
		"delete": group.Delete(f.store),
	}}
	for _, u := range []user.User{
		{Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleViewer},
		{Kind: user.Person, Name: "Ben", Email: "ben@example.com", Role: access.RoleViewer},
		{Kind: user.ServiceAccount, Name: "CI", Username: "ci", Role: access.RoleViewer},
	} {
		_, err := f.users.Add(t.Context(), u, user.DefaultLimit)
		assert.OK(t, err)
	}
	return f
}

// ctx returns the context of a request of the principal.
func (f fixture) ctx(t *testing.T, p access.Principal) context.Context {
	t.Helper()
	return access.WithProjects(access.WithPrincipal(t.Context(), p), f.access)
}

// admin returns the context of a request of an Admin.
func (f fixture) admin(t *testing.T) context.Context {
	t.Helper()
	return f.ctx(t, access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "9", Permissions: []access.Permission{access.Admin}})
}

// groups returns the groups of an account.
func (f fixture) groups(t *testing.T, id int64) []int64 {
	t.Helper()
	u, err := f.users.Get(t.Context(), id)
	assert.OK(t, err)
	return u.Groups
}

// members is the property users of a body.
func members(ids ...int) string {
	var all []string
	for _, id := range ids {
		all = append(all, fmt.Sprintf(`{"user":{"id":%d}}`, id))
	}
	return `"users":[` + strings.Join(all, ",") + "]"
}

const (
	shownAda = `{"user":{"id":1,"name":"Ada","email":"ada@example.com","rootRole":3,"accountType":"User"}}`
	shownCI  = `{"user":{"id":3,"name":"CI","username":"ci","rootRole":3,"accountType":"Service Account"}}`
	created  = `"createdAt":"2026-11-20T05:39:00.123Z"`
)

func TestOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	missing := func(id string) string { return fmt.Sprintf("404 NotFoundError: There is no group with the id %q.", id) }
	const exists = `409 NameExistsError: There is already a group with the name "a".`
	for _, call := range []struct{ operation, id, body, want string }{
		{"list", "", "", `200 {"groups":[]}`},
		{"create", "", `{"name":" a "}`, `201 {"id":1,"name":"a","description":null,"mappingsSSO":[],"rootRole":null,` + created +
			`,"userCount":0,"projects":[],"users":[]}`},
		{"create", "", `{"name":"A"}`, exists},
		{"create", "", `{"name":"b","description":"d","mappingsSSO":["x"],"rootRole":2,` + members(3, 1, 3) + `}`,
			`201 {"id":2,"name":"b","description":"d","mappingsSSO":["x"],"rootRole":2,` + created +
				`,"userCount":2,"projects":[],"users":[` + shownAda + "," + shownCI + `]}`},
		{"list", "", "", `200 {"groups":[{"id":1,"name":"a","description":null,"mappingsSSO":[],"rootRole":null,` + created +
			`,"userCount":0,"projects":[]},{"id":2,"name":"b","description":"d","mappingsSSO":["x"],"rootRole":2,` + created +
			`,"userCount":2,"projects":[]}]}`},
		{"update", "2", `{"name":"A"}`, exists},
		{"update", "2", `{"name":"b","description":null,"rootRole":null,"mappingsSSO":[]}`,
			`200 {"id":2,"name":"b","description":null,"mappingsSSO":[],"rootRole":null,` + created +
				`,"userCount":2,"projects":[],"users":[` + shownAda + "," + shownCI + `]}`},
		{"update", "2", `{"name":"c",` + members(1) + `}`,
			`200 {"id":2,"name":"c","description":null,"mappingsSSO":[],"rootRole":null,` + created +
				`,"userCount":1,"projects":[],"users":[` + shownAda + `]}`},
		{"create", "", `{"name":"B"}`, `201 {"id":3,"name":"B","description":null,"mappingsSSO":[],"rootRole":null,` + created +
			`,"userCount":0,"projects":[],"users":[]}`},
		{"delete", "2", "", "200"},
		{"get", "2", "", missing("2")},

		{"get", "x", "", missing("x")},
		{"update", "99", `{"name":"n"}`, missing("99")},
		{"delete", "99", "", missing("99")},

		{"update", "1", `{"name":"a",` + members(1, 99) + `}`, "400 ValidationError: The `/body/users` property must have the ids of " +
			"people and service accounts; there is no account 99."},
		{"update", "1", `{"name":"a","rootRole":4}`, "400 ValidationError: The `/body/rootRole` property must be the id of a root " +
			"role or null; you sent 4."},
		{"update", "1", `{"name":"a","rootRole":7}`, "400 ValidationError: The `/body/rootRole` property must be the id of a root " +
			"role or null; you sent 7."},
	} {
		f.Expect(f.admin(t), t, call.operation, call.id, call.body, call.want)
	}
	assert.Equal(t, "[] []", fmt.Sprint(f.groups(t, 1), f.groups(t, 3)))
}

// The directory has the root roles and mappings of all groups, and accounts have their groups.
func TestDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	expect := func(want string) {
		t.Helper()
		directory, err := f.access.Directory(t.Context())
		assert.OK(t, err)
		assert.Equal(t, want, fmt.Sprint(directory.Groups, f.groups(t, 1), f.groups(t, 3)))
	}
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a","mappingsSSO":["x","y"],`+members(1)+`}`, 201)
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"b","rootRole":2,`+members(1, 3)+`}`, 201)
	expect("map[1:{0 [x y]} 2:{Editor []}] [1 2] [2]")
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a","mappingsSSO":[]}`, 200)
	f.ExpectStatus(f.admin(t), t, "update", "2", `{"name":"b",`+members(1)+`}`, 200)
	expect("map[1:{0 []} 2:{Editor []}] [1 2] []")
	f.ExpectStatus(f.admin(t), t, "delete", "2", "", 200)
	expect("map[1:{0 []}] [1] []")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range group.Limit - 1 {
		f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalGroup(accesstable.Group{ID: int64(i + 1000), Name: fmt.Sprint("g", i)}))
	}
	var many []int
	for id := range 91 {
		many = append(many, id+1)
	}
	f.Expect(f.admin(t), t, "create", "", `{"name":"a",`+members(many...)+`}`, "400 ValidationError: The `/body/users` property must "+
		"add and remove at most 90 members; it changes 91. Send several requests.")
	large := `"` + strings.Repeat("x", 255) + `"`
	mappings := `"mappingsSSO":[` + strings.TrimSuffix(strings.Repeat(large+",", 20), ",") + "]"
	for i := range 10 { // 51,000 bytes with the ten
		f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalGroup(accesstable.Group{ID: int64(i + 1000), Name: fmt.Sprint("g", i),
			Mappings: []string{strings.Repeat("x", 4600)}}))
	}
	f.Expect(f.admin(t), t, "create", "", `{"name":"a",`+mappings+`}`, "400 ValidationError: The `/body/mappingsSSO` property must "+
		"not make the values of all groups larger than 50000 bytes; with this change they have 51100.")
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a"}`, 201)
	f.Expect(f.admin(t), t, "create", "", `{"name":"b"}`, "400 ValidationError: Failed to create group. You can't create more than "+
		"the established limit of 200. Delete a group first.")

	for i := range int64(user.MaxGroups) {
		_, err := dynamo.Transact(t.Context(), f.Client, []types.TransactWriteItem{f.users.Join(1, i+1000)})
		assert.OK(t, err)
	}
	f.Expect(f.admin(t), t, "update", "1", `{"name":"a",`+members(1)+`}`, "400 ValidationError: The account 1 is a member of 50 "+
		"groups, which is the maximum.")
}

// project stores a protected project.
func (f fixture) project(t *testing.T, id string, users, groups map[int64][]access.Role) {
	t.Helper()
	p := access.NewProject(id, id)
	p.Mode, p.Users, p.Groups = access.Protected, users, groups
	f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalProject(p))
}

func TestLastOwner(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := []access.Role{access.RoleMember, access.RoleOwner}
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a",`+members(1, 2)+`}`, 201)
	f.project(t, "p", nil, map[int64][]access.Role{1: owner})
	const noOwner = `409 ConflictError: The project "p" is protected and would have no Owner. Give somebody else the role first.`
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a",`+members(1)+`}`, 200)
	f.Expect(f.admin(t), t, "update", "1", `{"name":"a",`+members()+`}`, noOwner)
	f.Expect(f.admin(t), t, "delete", "1", "", noOwner)
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a",`+members(3)+`}`, 200)

	f.project(t, "p", map[int64][]access.Role{2: owner, 99: owner}, map[int64][]access.Role{1: owner})
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a",`+members(2)+`}`, 200)
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a",`+members()+`}`, 200) // 2 leaves the group, and is Owner
	f.ExpectStatus(f.admin(t), t, "delete", "1", "", 200)
	p, err := f.access.Project(t.Context(), "p")
	assert.OK(t, err)
	assert.Equal(t, 0, len(p.Groups))
}

// The only other Owner is deleted at the same time.
func TestOwnerIsDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := []access.Role{access.RoleOwner}
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a",`+members(1)+`}`, 201)
	f.project(t, "p", map[int64][]access.Role{2: owner}, map[int64][]access.Role{1: owner})
	client := f.Before(t, "TransactWriteItems", 1, func() {
		_, err := f.users.BeginDeletion(t.Context(), user.Person, 2, nil)
		assert.OK(t, err)
	})
	err := group.NewStore(client, f.Tables, f.LogThrough(client)).Delete(t.Context(), 1,
		func(accesstable.Group) error { return nil })
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
}

// Only a caller who sees a project learns that a group has a role in it.
func TestHiddenProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a"}`, 201)
	p := access.NewProject("secret", "secret")
	p.Mode, p.Groups = access.Private, map[int64][]access.Role{1: {access.RoleReader}}
	f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalProject(p))
	for want, caller := range map[string]access.Principal{
		`"projects":[]`:         {ID: "user:2", UserID: 2},
		`"projects":["secret"]`: {ID: "user:3", UserID: 3, Groups: []int64{1}},
	} {
		for _, operation := range []string{"list", "get"} {
			if got := f.Call(f.ctx(t, caller), operation, "1", ""); !strings.Contains(got, want) {
				t.Errorf("%s: %s", operation, got)
			}
		}
	}
}

func TestCustomRootRole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	roles := role.NewStore(f.Client, f.Tables, f.Log())
	r, err := roles.Create(t.Context(), access.RoleDefinition{Name: "r", Type: access.RootCustomType})
	assert.OK(t, err)
	f.ExpectStatus(f.admin(t), t, "create", "", fmt.Sprintf(`{"name":"a","rootRole":%d}`, int64(r.ID)), 201)
	err = roles.Delete(t.Context(), r.ID, func(access.RoleDefinition) error { return nil })
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a"}`, 201)
	_, header, _ := f.Serve(f.admin(t), operation.Request{Operation: "get", Path: "1"})
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a",`+members(1)+`}`, 200)
	old := f.With("If-Match", header.Get("ETag"))
	old.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"b"}`, 412)
	old.ExpectStatus(f.admin(t), t, "delete", "1", "", 412)
}

func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a"}`, 201)
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a","rootRole":3,`+members(2, 1)+`}`, 200)
	f.ExpectStatus(f.admin(t), t, "update", "1", `{"name":"a",`+members(1, 2)+`}`, 200) // nothing changes
	f.ExpectStatus(f.admin(t), t, "delete", "1", "", 200)
	const (
		by     = " group:1 by user 1, token 9: "
		first  = `{"id":1,"name":"a","description":null,"mappingsSSO":[],"rootRole":null,"users":[]}`
		second = `{"id":1,"name":"a","description":null,"mappingsSSO":[],"rootRole":3,"users":[1,2]}`
	)
	assert.Equal(t, []string{
		"group-created" + by + first, "group-updated" + by + second + " before " + first, "group-deleted" + by + "before " + second,
	}, database.About(f.Events(t), "group:1"))
}

// A deletion ends the roles of the group in projects. Those that fit into its transaction change with it, the others
// afterwards, each with its event.
func TestDeletionEndsRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(f.admin(t), t, "create", "", `{"name":"a",`+members(1)+`}`, 201)
	member, owner := []access.Role{access.RoleMember}, []access.Role{access.RoleOwner}
	for n := range 60 {
		f.project(t, fmt.Sprintf("p%02d", n), map[int64][]access.Role{2: owner}, map[int64][]access.Role{1: member})
	}
	f.project(t, "p00", map[int64][]access.Role{2: owner}, map[int64][]access.Role{1: owner})
	f.project(t, "other", map[int64][]access.Role{2: owner}, nil)
	client, tap := f.Through(t, nil)
	store := group.NewStore(client, f.Tables, f.LogThrough(client))
	assert.OK(t, store.Delete(t.Context(), 1, func(accesstable.Group) error { return nil }))
	// The group, its name, the directory, its event and the conditions of p00 leave room for 46 projects. The member
	// leaves, and the other 14 projects change.
	assert.Equal(t, 1+1+14, strings.Count(tap.Calls(), "TransactWriteItems"))
	projects, err := f.access.Projects(t.Context())
	assert.OK(t, err)
	for _, p := range projects {
		assert.Equal(t, 0, len(p.Groups))
	}
	const by = "project-access-updated project:p00 by system: "
	assert.Equal(t, []string{
		by + `{"users":[{"id":2,"roles":[4]}],"groups":[]} before {"users":[{"id":2,"roles":[4]}],"groups":[{"id":1,"roles":[4]}]}`,
	}, database.About(f.Events(t), "project:p00"))
	assert.Equal(t, 1, len(database.About(f.Events(t), "project:p59")))
	assert.Equal(t, 0, len(database.About(f.Events(t), "project:other")))
}
