package authorizer_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
)

// Groups, the own ones and those of an ID token, give their root role and are in the context. A PAT keeps the groups of
// the last ID token for some days. A deleted group gives nothing.
func TestGroups(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	groups := group.NewStore(f.Client, f.Tables, f.Log())
	planner, err := role.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(), access.RoleDefinition{
		Name: "Planner", Type: access.RootCustomType, Permissions: []access.RolePermission{{Permission: access.CreateProject}},
	})
	assert.OK(t, err)
	for _, g := range []accesstable.Group{
		{Name: "own", RootRole: planner.ID, Members: []int64{3}},
		{Name: "mapped", RootRole: access.RoleAdmin, Mappings: []string{"team"}},
	} {
		_, err := groups.Create(t.Context(), g)
		assert.OK(t, err)
	}
	a, tap, _ := f.authenticator(t, nil)
	a.GroupsMaxAgeDays = 30
	a.Issuer, err = oidc.New(oidc.Config{Issuer: f.issuer.URL, ClientID: issuer.ClientID, GroupsClaim: "groups", Now: now,
		Logger: a.Logger, Transport: f.issuer.Transport(), FetchTimeout: time.Minute})
	assert.OK(t, err)

	own := f.pat(t, 3, time.Hour).Reveal()
	assert.Equal(t, "user:3 Allow map[groups:1 name:Viewer permissions:CREATE_PROJECT role:7 tokenId:1 userId:3]",
		authorize(t, a, own))
	if calls := tap.Calls(); !strings.HasPrefix(calls, "BatchGetItem") || strings.Count(calls, "BatchGetItem") != 1 {
		t.Error(calls)
	}
	assert.OK(t, groups.Delete(t.Context(), 1, func(accesstable.Group) error { return nil }))
	assert.Equal(t, "user:3 Allow map[name:Viewer permissions: role:Viewer tokenId:1 userId:3]", authorize(t, a, own))

	const admin = "user:11 Allow map[groups:2 name:Editor permissions:ADMIN role:Admin tokenId:"
	ada := f.pat(t, 11, 40*24*time.Hour).Reveal()
	isAdmin := func(credential string) bool { return strings.HasPrefix(authorize(t, a, credential), admin) }
	assert.Equal(t, false, isAdmin(ada))
	assert.Equal(t, true, isAdmin(f.issuer.Token(now(), map[string]any{"groups": []string{"other", "team"}})))
	assert.Equal(t, true, isAdmin(ada))
	for age, want := range map[time.Duration]bool{29 * 24 * time.Hour: true, 30 * 24 * time.Hour: false} {
		a.Now = func() time.Time { return now().Add(age) }
		assert.Equal(t, want, isAdmin(ada))
	}
	a.Now = now
	assert.Equal(t, false, isAdmin(f.issuer.Token(now(), nil))) // the issuer has removed the person from the group
	assert.Equal(t, false, isAdmin(ada))
	earlier := f.issuer.Token(now().Add(-time.Second), map[string]any{"groups": []string{"team"}})
	assert.Equal(t, true, isAdmin(earlier))
	assert.Equal(t, false, isAdmin(ada))
}
