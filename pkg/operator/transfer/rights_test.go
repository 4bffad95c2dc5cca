package transfer_test

import (
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/test/helper/assert"
)

// teams has an account of each kind, custom roles, groups, and a private project.
func teams() transfer.Document {
	return transfer.Document{
		Environments: []transfer.Environment{{Name: "production", Type: "production"}},
		Accounts: []transfer.Account{
			{Kind: user.Person, Name: "Ada", Username: new("ada"), Email: new("ada@example.com"), Role: "Viewer"},
			{Kind: user.Person, Name: "Ben", Email: new("ben@example.com"), Role: "Planner"},
			{Kind: user.Person, Name: "Root", Email: new("root@example.com"), Role: "Admin"},
			{Kind: user.ServiceAccount, Name: "CI", Username: new("ci"), Role: "Viewer"},
		},
		Roles: []transfer.Role{
			{Name: "Planner", Type: access.RootCustomType, Permissions: []transfer.Permission{{Name: access.CreateProject}}},
			{Name: "Releaser", Type: access.CustomType, Description: "Releases.", Permissions: []transfer.Permission{
				{access.UpdateEnvironment, "production"}, {Name: access.UpdateFeature},
			}},
		},
		Groups: []transfer.Group{
			{Name: "Payments", Description: new("Pays."), Mappings: []string{"pay"}, RootRole: new("Planner"),
				Members: []string{"ci (service account)", "ada@example.com"}, CreatedAt: new("2020-01-01T00:00:00Z")},
			{Name: "Administrators", RootRole: new("Admin"), Members: []string{"root@example.com"}},
		},
		Projects: []transfer.Project{{
			ID: "shop", Name: "Shop", Mode: access.Private, DefaultStickiness: "default",
			Access: []transfer.Grant{
				{Account: "ada@example.com", Roles: []string{"Owner", "Releaser"}},
				{Account: "ben@example.com", Roles: []string{"Member"}},
				{Account: "ci (service account)", Roles: []string{"Releaser"}},
				{Group: "Payments", Roles: []string{"Reader"}},
			},
		}},
	}
}

// An import creates roles, groups, accounts, and who has which roles in projects; a dry run reports the same, a second
// import changes nothing, and an export makes another installation equal.
func TestRights(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), teams()
	before := s.export(t)
	want := s.run(t, d, transfer.Options{DryRun: true})
	same(t, before, s.export(t))
	want.DryRun = false
	same(t, want, s.run(t, d, transfer.Options{}))
	assert.JSON(t, "testdata/rights.json", want)
	stored, events := s.export(t), s.Events(t)
	assert.JSON(t, "testdata/rights-stored.json", stored)
	again := s.run(t, d, transfer.Options{})
	same(t, []int{4, 2, 2, 1}, []int{again.Accounts.Unchanged, again.Roles.Unchanged, again.Groups.Unchanged,
		again.Projects.Unchanged})
	same(t, []transfer.Remark(nil), append(again.Roles.Notes, append(again.Groups.Notes, again.Projects.Notes...)...))
	same(t, events, s.Events(t))

	movesUnchanged(t, stored)
}

// Without Options.Accounts, a document of this service gives no rights: its project stays open.
func TestNoRightsWithoutAccounts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, err := s.Import(t.Context(), teams(), transfer.Options{Progress: func(string, int, int) {}})
	assert.OK(t, err)
	d := s.export(t)
	same(t, []any{0, 0, 0}, []any{len(d.Accounts), len(d.Roles), len(d.Groups)})
	same(t, access.Open, d.Projects[1].Mode)
	same(t, []transfer.Grant(nil), d.Projects[1].Access)
}

// What was withdrawn here is not restored: existing accounts get rights only in projects and groups that the import
// creates, and the differences are listed. New accounts get theirs.
func TestWithdrawnRights(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), teams()
	ben := d.Accounts[1]
	d.Accounts = append(d.Accounts[:1:1], d.Accounts[2:]...)
	s.run(t, d, transfer.Options{})
	_, err := s.Groups.Update(t.Context(), 1, func(g *accesstable.Group) error {
		g.Members, g.RootRole = []int64{3}, 0
		return nil
	})
	assert.OK(t, err)
	_, err = s.Roles.Update(t.Context(), 8, func(r *access.RoleDefinition) error {
		r.Permissions = nil
		return nil
	})
	assert.OK(t, err)
	assert.OK(t, s.Projects.UpdateAccess(t.Context(), "shop", func(p *access.Project) { p.Users[1] = []access.Role{4} }, nil, project.Always))
	d.Accounts = append(d.Accounts, ben)
	d.Projects = append(d.Projects, transfer.Project{ID: "new", Name: "New", Mode: access.Open, DefaultStickiness: "default",
		Access: []transfer.Grant{{Account: "ada@example.com", Roles: []string{"Owner", "Gone"}}, {Group: "None", Roles: []string{"Owner"}}}})
	for _, dryRun := range []bool{true, false} {
		r := s.run(t, d, transfer.Options{DryRun: dryRun})
		same(t, []transfer.Remark{{"Releaser", "it exists with other properties, and was not changed: permissions"}}, r.Roles.Notes)
		same(t, []transfer.Remark{
			{"Payments", "it exists with other properties, and was not changed: rootRole"},
			{"Payments", "these accounts are not members here, and were not added: ada@example.com"},
		}, r.Groups.Notes)
		same(t, []transfer.Update{{"shop", []string{"access"}}}, r.Projects.Updated)
		same(t, []transfer.Remark{
			{"shop", "these get roles in it: ben@example.com: Member"},
			{"shop", "these have roles in it that they do not have here, and were not given: ada@example.com: Releaser"},
			{"new", "roles of ada@example.com in it do not exist here: Gone"},
			{"new", "these get roles in it: ada@example.com: Owner"},
			{"new", "these have roles in it and do not exist here: the group None: Owner"},
		}, r.Projects.Notes)
	}
	p, err := s.Projects.Get(t.Context(), "shop")
	assert.OK(t, err)
	same(t, map[int64][]access.Role{1: {4}, 3: {8}, 4: {5}}, p.Users)
}

// People of Unleash are imported only with Options.Accounts, and Admins only with Options.Admins.
func TestAdmins(t *testing.T) {
	t.Parallel()
	for _, o := range []transfer.Options{{}, {Accounts: true}, {Accounts: true, Admins: true}} {
		s, d := newStage(t), teams()
		d.Kept, o.Progress = true, func(string, int, int) {}
		r, err := s.Import(t.Context(), d, o)
		assert.OK(t, err)
		people := map[string]string{}
		for _, a := range s.export(t).Accounts {
			people[a.Name] = a.Role
		}
		groups := s.export(t).Groups
		switch {
		case !o.Accounts:
			same(t, map[string]string{}, people)
			same(t, []transfer.Other{{"people (--people)", new(int64(4))}}, r.NotImported)
		case !o.Admins:
			same(t, map[string]string{"Ada": "Viewer", "Ben": "Planner", "CI": "Viewer"}, people)
			same(t, []transfer.Remark{{"root@example.com", "it was not created, because it is an Admin: use --admins"}},
				r.Accounts.Notes[:1])
			same(t, false, r.HasLosses())
			same(t, (*string)(nil), groups[1].RootRole)
			same(t, transfer.Remark{"Administrators", "its root role Admin was left out: use --admins"},
				r.Groups.Notes[len(r.Groups.Notes)-1])
		default:
			same(t, map[string]string{"Ada": "Viewer", "Ben": "Planner", "CI": "Viewer", "Root": "Admin"}, people)
			same(t, new("Admin"), groups[1].RootRole)
		}
	}
}

// What a role or a group cannot have here is left out, or it is skipped.
func TestRightsSkipped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, err := s.Environments.Create(t.Context(), environment.Environment{Name: "production", Type: "production"})
	assert.OK(t, err)
	r := s.run(t, transfer.Document{
		Roles: []transfer.Role{
			{Name: "owner", Type: access.CustomType},
			{Name: "typeless", Type: access.ProjectType},
			{Name: "Partly", Type: access.CustomType, Permissions: []transfer.Permission{
				{Name: access.Admin}, {Name: "NONE"}, {Name: access.CreateProject}, {Name: access.UpdateEnvironment},
				{access.UpdateEnvironment, "nowhere"}, {access.UpdateEnvironment, "production"},
			}},
		},
		Groups: []transfer.Group{{Name: " "}, {Name: "Partly", RootRole: new("Owner"), Members: []string{"nobody"}}},
	}, transfer.Options{})
	assert.JSON(t, "testdata/rights-partly.json", []transfer.Section{r.Roles, r.Groups})
}
