package accesstable_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// ids returns the ids of projects.
func ids(projects []*access.Project) (all []string) {
	for _, p := range projects {
		all = append(all, p.ID)
	}
	return all
}

func TestProjects(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	reader := accesstable.NewReader(db.Client, db.Tables)
	stored := func(id string) *access.Project {
		t.Helper()
		p, err := reader.Project(t.Context(), id)
		assert.OK(t, err)
		return p
	}
	assert.Equal(t, new(access.ImplicitDefaultProject()), stored("default"))
	assert.Equal(t, (*access.Project)(nil), stored("shop"))
	assert.Equal(t, (*access.Project)(nil), stored(""))

	at := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	full := access.Project{
		ID: "Shop", Name: "The shop", Description: new("Sells"), Mode: access.Private, DefaultStickiness: "userId",
		Environments: []string{}, Naming: &access.Naming{Pattern: "a+", Example: "aa"},
		LinkTemplates: []access.LinkTemplate{{URLTemplate: "https://example.com/{{feature}}"}},
		Protections: map[string]access.Protection{
			"production": {ChangeRequests: true, RequiredApprovals: 2, ForbidsTurningOff: true},
			"test":       {Freeze: &access.Freeze{From: at, Until: at.Add(time.Hour), Reason: "Sale"}},
		},
		Users: map[int64][]access.Role{5: {access.RoleOwner, 9}}, Groups: map[int64][]access.Role{3: {access.RoleReader}},
		CreatedAt: &at, UpdatedAt: &at, ArchivedAt: &at, LastEvent: 7,
	}
	small := access.NewProject("blog", "Blog")
	db.Put(t, db.Tables[accesstable.Table], accesstable.MarshalProject(full))
	db.Put(t, db.Tables[accesstable.Table], accesstable.MarshalProject(small))
	assert.Equal(t, &full, stored("Shop"))
	assert.Equal(t, (*access.Project)(nil), stored("shop")) // another spelling
	all, err := reader.Projects(t.Context())
	assert.OK(t, err)
	assert.Equal(t, []string{"Shop", "blog", "default"}, ids(all))

	changed := access.ImplicitDefaultProject()
	changed.Mode = access.Protected
	db.Put(t, db.Tables[accesstable.Table], accesstable.MarshalProject(changed))
	assert.Equal(t, access.Protected, stored("default").Mode)
	all, err = reader.Projects(t.Context())
	assert.OK(t, err)
	assert.Equal(t, []string{"Shop", "blog", "default"}, ids(all))
}

func TestRolesAndGroups(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	reader, table := accesstable.NewReader(db.Client, db.Tables), db.Tables[accesstable.Table]
	role := access.RoleDefinition{ID: 10, Type: access.CustomType, Name: "Releaser", Description: "Releases", LastEvent: 3,
		Permissions: []access.RolePermission{{Permission: access.UpdateFeature}, {Permission: access.UpdateEnvironment, Environment: "production"}}}
	other := access.RoleDefinition{ID: 9, Type: access.RootCustomType, Name: "Auditor", Permissions: []access.RolePermission{}}
	db.Put(t, table, accesstable.MarshalRole(role))
	db.Put(t, table, accesstable.MarshalRole(other))
	roles, err := reader.Roles(t.Context())
	assert.OK(t, err)
	assert.Equal(t, []access.RoleDefinition{other, role}, roles)
	got, ok, err := reader.Role(t.Context(), 10)
	assert.OK(t, err)
	assert.Equal(t, []any{role, true}, []any{got, ok})
	_, ok, err = reader.Role(t.Context(), 11)
	assert.OK(t, err)
	assert.Equal(t, false, ok)
	custom, err := reader.CustomRoles(t.Context(), []access.Role{9, 10, 11})
	assert.OK(t, err)
	project := access.Project{Mode: access.Private, Users: map[int64][]access.Role{5: {9, 10, 11}}}
	assert.Equal(t, role.Permissions, access.Held(access.UserPrincipal(5, access.RoleViewer), &project, custom))

	group := accesstable.Group{ID: 3, Name: "Payments", Description: new("d"), Mappings: []string{"pay"},
		RootRole: access.RoleEditor, Members: []int64{5, 7}, CreatedBy: "Ada", LastEvent: 4}
	empty := accesstable.Group{ID: 12, Name: "Empty", Mappings: []string{}, Members: []int64{}}
	db.Put(t, table, accesstable.MarshalGroup(empty))
	db.Put(t, table, accesstable.MarshalGroup(group))
	groups, err := reader.Groups(t.Context())
	assert.OK(t, err)
	assert.Equal(t, []accesstable.Group{group, empty}, groups)
	found, ok, err := reader.Group(t.Context(), 3)
	assert.OK(t, err)
	assert.Equal(t, []any{group, true}, []any{found, ok})
}

// TestDirectory checks that of two changes of the same version, only the first is written.
func TestDirectory(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	reader, table := accesstable.NewReader(db.Client, db.Tables), db.Tables[accesstable.Table]
	write := func(change func(*accesstable.Directory)) bool {
		t.Helper()
		first, err := reader.Directory(t.Context())
		assert.OK(t, err)
		second, err := reader.Directory(t.Context())
		assert.OK(t, err)
		change(&first)
		failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{first.Put(table)})
		assert.OK(t, err)
		assert.Equal(t, 0, len(failures))
		failures, err = dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{second.Put(table)})
		assert.OK(t, err)
		return len(failures) == 0
	}
	assert.Equal(t, false, write(func(d *accesstable.Directory) {
		d.Groups[3] = accesstable.GroupEntry{RootRole: 9, Mappings: []string{"pay", "all"}}
		d.Roles[9] = []access.Permission{access.CreateProject, access.CreateSegment}
	}))
	assert.Equal(t, false, write(func(d *accesstable.Directory) {
		d.Groups[4] = accesstable.GroupEntry{Mappings: []string{"all"}}
		d.Groups[5] = accesstable.GroupEntry{RootRole: access.RoleEditor}
	}))
	d, err := reader.Directory(t.Context())
	assert.OK(t, err)
	assert.Equal(t, map[access.Role][]access.Permission{9: {access.CreateProject, access.CreateSegment}}, d.Roles)
	for _, test := range []struct {
		ids   []int64
		claim []string
		want  []access.Group
	}{
		{nil, nil, nil},
		{nil, []string{"ALL", "al", ""}, nil},
		{[]int64{5, 6}, []string{"pay"}, []access.Group{{ID: 3, RootRole: 9}, {ID: 5, RootRole: access.RoleEditor}}},
		{[]int64{3}, []string{"pay", "all"}, []access.Group{{ID: 3, RootRole: 9}, {ID: 4}}},
	} {
		assert.Equal(t, test.want, d.MembersGroups(test.ids, test.claim))
	}
}

func TestCondition(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := db.Tables[accesstable.Table]
	now := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	archived, limited := access.NewProject("old", "Old"), access.NewProject("limited", "Limited")
	archived.ArchivedAt = &now
	limited.Environments = []string{"production"}
	for _, p := range []access.Project{access.NewProject("shop", "Shop"), archived, limited} {
		db.Put(t, table, accesstable.MarshalProject(p))
	}
	active := accesstable.Condition{Active: true}
	in := func(names ...string) accesstable.Condition { return accesstable.Condition{Environments: names} }
	for _, test := range []struct {
		project   string
		condition accesstable.Condition
		want      bool
	}{
		{"shop", active, true}, {"SHOP", active, false}, {"old", active, false}, {"none", active, false}, {"default", active, true},
		{"shop", in("production", "test"), true}, {"limited", in("production"), true}, {"limited", in("production", "test"), false},
		{"default", in("test"), true}, {"old", accesstable.Condition{}, true},
	} {
		actions := test.condition.Actions(table, test.project, now)
		if len(actions) == 0 {
			assert.Equal(t, test.want, true)
			continue
		}
		failures, err := dynamo.Transact(t.Context(), db.Client, actions)
		assert.OK(t, err)
		assert.Equal(t, test.want, len(failures) == 0)
	}
}
