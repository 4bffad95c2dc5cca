package changerequest_test

import (
	"context"
	"strings"
	"testing"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// An approver who loses the right after it was read, and before the request is applied, prevents that.
func TestRightLostWhileApplied(t *testing.T) {
	t.Parallel()
	viewer := func(id int64, groups ...access.Group) access.Principal {
		return access.MemberPrincipal(id, access.RoleViewer, groups, nil)
	}
	const aGroup = 1
	for name, test := range map[string]struct {
		approver access.Principal
		grant    func(*testing.T, fixture) // before the request is made; nil: nothing
		lose     func(*testing.T, fixture)
	}{
		"the role in the project": {viewer(owner), nil, inProject(ownerIsMember)},
		"the root role":           {access.UserPrincipal(root, access.RoleAdmin), nil, withoutRootRole},
		"the account is disabled": {viewer(owner), nil, disableOwner},
		"the account is deleted":  {viewer(owner), nil, deleteOwner},
		"the membership of a group": {viewer(guest, access.Group{ID: aGroup}), withGroup(0),
			changeGroup(func(g *accesstable.Group) { g.Members = nil })},
		"the role of a group": {viewer(guest, access.Group{ID: aGroup}), withGroup(0),
			inProject(func(p *access.Project) { p.Groups = nil })},
		"the root role of a group": {viewer(guest, access.Group{ID: aGroup, RootRole: access.RoleAdmin}),
			withGroup(access.RoleAdmin), changeGroup(func(g *accesstable.Group) { g.RootRole = 0 })},
		"a permission of a role":                 {viewer(guest), withRole, withoutPermission},
		"the project needs two":                  {viewer(owner), nil, twoInProject},
		"the environment needs two":              {viewer(owner), nil, twoInEnvironment},
		"the role in the project, for a segment": {viewer(owner), withSegment, inProject(ownerIsMember)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if test.grant != nil {
				test.grant(t, f)
			}
			change := turnOnF
			if strings.HasSuffix(name, "segment") {
				change = constrainSegment
			}
			f.ask(t, amy, change)
			f.expect(t, "payments/1", "amy In review -> 200")
			ctx := access.WithProjects(access.WithPrincipal(t.Context(), test.approver), f.ProjectReader())
			approved, err := f.store.Become(ctx, "payments", 1, changerequest.Asked{State: changerequest.Approved}, "",
				func(changerequest.Request) error { return nil })
			assert.OK(t, err)
			assert.Equal(t, changerequest.Approved, approved.State)
			before := f
			f.store = f.storeOn(f.Before(t, "TransactWriteItems", 1, func() { test.lose(t, before) }))
			f.expect(t, "payments/1", "ben Applied -> 409 ConflictError: The change request 1 needs 1 more approval")
			assert.Equal(t, false, f.Toggle(t, "f").Environments["production"].Enabled)
		})
	}
}

// Two changes of a request at the same time are both made.
func TestChangedAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, turnOnF)
	first, second := f, f
	second.store = f.storeOn(f.Before(t, "TransactWriteItems", 1, func() {
		first.requests().ExpectStatus(as(t.Context(), ben), t, "comment", "payments/1", `{"text":"Why?"}`, 204)
	}))
	second.requests().ExpectStatus(as(t.Context(), amy), t, "title", "payments/1", `{"title":"Start"}`, 204)
	second.store = f.storeOn(f.Before(t, "TransactWriteItems", 1, func() { first.ask(t, amy, addStrategy) }))
	second.ask(t, amy, archiveF)
	_, r := f.call(t.Context(), f.requests(), amy, "get", "payments/1", "")
	assert.Equal(t, "Start Why?", r.Title+" "+r.Comments[0].Text)
	assert.Equal(t, 3, len(r.Features[0].Changes))
	for i, c := range r.Features[0].Changes {
		assert.Equal(t, []int64{1, 3, 4}[i], c.ID) // the comment is 2
	}
}

// A request that becomes possible while it is made is made, and otherwise it is refused.
func TestBecomesPossible(t *testing.T) {
	t.Parallel()
	changes := "[" + archiveF + "," + constrainSegment + "]"
	results := map[string]bool{}
	for read, reached := 1, true; reached; read++ {
		reached = false
		f := newFixture(t)
		withSegment(t, f)
		before := f
		f.store = f.storeOn(f.Before(t, "BatchGetItem", read, func() {
			reached = true
			before.Update(t, "f", `{"environments":{"production":{"strategies":[{"id":"a","name":"default"}]}}}`)
		}))
		got, _ := f.call(t.Context(), f.set("projectId", "environment"), amy, "create", "payments/production", changes)
		results[got] = true
	}
	assert.Equal(t, map[string]bool{
		"200 Draft": true,
		"400 ValidationError: The `/body/1` property cannot be in one change request with the others: changes of segments, and " +
			"of strategies or segments that use the same segment or context field, need several requests.": true,
	}, results)
}

// The first changes of a person that are sent at the same time are in one draft. A draft that is sent or deleted at the
// same time is not changed.
func TestDraftsAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := func(do func(first fixture)) fixture {
		first, second := f, f
		second.store = f.storeOn(f.Before(t, "TransactWriteItems", 1, func() { do(first) }))
		return second
	}
	r := at(func(first fixture) { first.ask(t, amy, turnOnF) }).ask(t, amy, archiveF)
	assert.Equal(t, int64(1), r.ID)
	assert.Equal(t, 2, len(r.Features[0].Changes))
	r = at(func(first fixture) { first.ask(t, ben, turnOnF) }).askIn(t, amy, "payments/development", archiveF)
	assert.Equal(t, int64(3), r.ID)
	r = at(func(first fixture) { first.expect(t, "payments/1", "amy In review -> 200") }).ask(t, amy, archiveF)
	assert.Equal(t, int64(4), r.ID)
	r = at(func(first fixture) {
		first.requests().ExpectStatus(as(t.Context(), amy), t, "delete", "payments/4", "", 200)
	}).ask(t, amy, archiveF)
	assert.Equal(t, int64(5), r.ID)
	assert.Equal(t, 1, len(r.Features[0].Changes))
}

// inProject returns what changes who has which roles in the project.
func inProject(edit func(*access.Project)) func(*testing.T, fixture) {
	return func(t *testing.T, f fixture) {
		t.Helper()
		mayGive := func(context.Context, *access.Project, access.RoleDefinition) error { return nil }
		assert.OK(t, project.NewStore(f.Client, f.Tables, f.Log()).UpdateAccess(t.Context(), "payments", edit, mayGive, project.Always))
	}
}

func ownerIsMember(p *access.Project) { p.Users[owner] = []access.Role{access.RoleMember} }

func withoutRootRole(t *testing.T, f fixture) {
	t.Helper()
	users := user.NewStore(f.Client, f.Tables, f.Log())
	assert.OK(t, users.SetRole(t.Context(), root, access.RoleViewer, true))
}

func disableOwner(t *testing.T, f fixture) {
	t.Helper()
	assert.OK(t, user.NewStore(f.Client, f.Tables, f.Log()).SetDisabled(t.Context(), owner, true, false))
}

func deleteOwner(t *testing.T, f fixture) {
	t.Helper()
	_, err := user.NewStore(f.Client, f.Tables, f.Log()).BeginDeletion(t.Context(), user.Person, owner, nil)
	assert.OK(t, err)
}

// withGroup makes the guest a member of a group, which has a root role or is an Owner of the project.
func withGroup(rootRole access.Role) func(*testing.T, fixture) {
	return func(t *testing.T, f fixture) {
		t.Helper()
		_, err := group.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(),
			accesstable.Group{Name: "approvers", Members: []int64{guest}, RootRole: rootRole})
		assert.OK(t, err)
		if rootRole == 0 {
			inProject(func(p *access.Project) { p.Groups = map[int64][]access.Role{1: {access.RoleOwner}} })(t, f)
		}
	}
}

// changeGroup returns what changes the group.
func changeGroup(edit func(*accesstable.Group)) func(*testing.T, fixture) {
	return func(t *testing.T, f fixture) {
		t.Helper()
		_, err := group.NewStore(f.Client, f.Tables, f.Log()).Update(t.Context(), 1, func(g *accesstable.Group) error {
			edit(g)
			return nil
		})
		assert.OK(t, err)
	}
}

// withRole gives the guest a custom role with which they approve.
func withRole(t *testing.T, f fixture) {
	t.Helper()
	r, err := role.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(), access.RoleDefinition{Type: access.CustomType,
		Name: "approver", Permissions: []access.RolePermission{{Permission: access.ApproveChangeRequest}}})
	assert.OK(t, err)
	inProject(func(p *access.Project) { p.Users[guest] = []access.Role{r.ID} })(t, f)
}

func withoutPermission(t *testing.T, f fixture) {
	t.Helper()
	_, err := role.NewStore(f.Client, f.Tables, f.Log()).Update(t.Context(), access.FirstCustomRole,
		func(r *access.RoleDefinition) error {
			r.Permissions = nil
			return nil
		})
	assert.OK(t, err)
}

// withSegment creates a segment that f uses in production.
func withSegment(t *testing.T, f fixture) {
	t.Helper()
	_, err := segment.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(),
		segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "s"}}})
	assert.OK(t, err)
	f.Update(t, "f", `{"environments":{"production":{"strategies":[{"id":"a","name":"default","segments":[1]}]}}}`)
}

func twoInProject(t *testing.T, f fixture) {
	t.Helper()
	assert.OK(t, project.NewStore(f.Client, f.Tables, f.Log()).SetConfig(t.Context(), "payments", "production",
		access.Protection{ChangeRequests: true, RequiredApprovals: 2}, project.Always))
}

func twoInEnvironment(t *testing.T, f fixture) {
	t.Helper()
	_, err := environment.NewStore(f.Client, f.Tables, f.Log()).Update(t.Context(), "production",
		func(e *environment.Environment) error {
			e.RequiredApprovals = 2
			return nil
		})
	assert.OK(t, err)
}
