package access_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
)

// The permissions of the roles in projects, as the documentation lists them.
const (
	member = "CREATE_FEATURE UPDATE_FEATURE DELETE_FEATURE UPDATE_FEATURE_VARIANTS UPDATE_FEATURE_DEPENDENCY " +
		"READ_PROJECT_API_TOKEN CREATE_PROJECT_API_TOKEN DELETE_PROJECT_API_TOKEN " +
		"CREATE_FEATURE_STRATEGY UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY UPDATE_FEATURE_ENVIRONMENT " +
		"UPDATE_FEATURE_ENVIRONMENT_VARIANTS APPLY_CHANGE_REQUEST"
	editor = member + " MOVE_FEATURE_TOGGLE"
	owner  = editor + " UPDATE_PROJECT DELETE_PROJECT UPDATE_PROJECT_SEGMENT UPDATE_PROJECT_CONTEXT " +
		"PROJECT_USER_ACCESS_READ PROJECT_USER_ACCESS_WRITE PROJECT_SETTINGS_READ PROJECT_SETTINGS_WRITE " +
		"PROJECT_CHANGE_REQUEST_READ PROJECT_CHANGE_REQUEST_WRITE APPROVE_CHANGE_REQUEST"
	editorAtRoot = "CREATE_CONTEXT_FIELD UPDATE_CONTEXT_FIELD DELETE_CONTEXT_FIELD CREATE_SEGMENT UPDATE_SEGMENT " +
		"DELETE_SEGMENT READ_CLIENT_API_TOKEN CREATE_PROJECT READ_ROLE CREATE_TAG_TYPE UPDATE_TAG_TYPE DELETE_TAG_TYPE"
)

// The custom roles of the tests.
const (
	rootCustom access.Role = 7
	releaser   access.Role = 8
)

func customRoles() access.CustomRoles {
	return access.NewCustomRoles(access.RoleDefinition{
		ID: releaser, Type: access.CustomType, Permissions: []access.RolePermission{
			{Permission: access.UpdateFeature}, {access.UpdateEnvironment, "staging"}, {access.CreateStrategy, "staging"},
		},
	}, access.RoleDefinition{ // not a role in projects
		ID: rootCustom, Type: access.RootCustomType, Permissions: []access.RolePermission{{Permission: access.DeleteProject}},
	})
}

// in reports whether a list of permissions contains one.
func in(list string, p access.Permission) bool {
	return slices.Contains(strings.Fields(list), string(p))
}

// TestDecide compares the decision for all root roles, roles in a project, ways to have them, modes, permissions and
// environments with the rules.
func TestDecide(t *testing.T) {
	t.Parallel()
	custom := map[access.Role][]access.Permission{rootCustom: {access.CreateProject}}
	cells := 0
	for _, root := range []access.Role{access.RoleAdmin, access.RoleEditor, access.RoleViewer, rootCustom, 99} {
		p := access.MemberPrincipal(5, root, []access.Group{{ID: 3}, {ID: 4}}, custom)
		for _, role := range []access.Role{0, access.RoleOwner, access.RoleMember, access.RoleReader, releaser, rootCustom, 99} {
			for _, way := range []string{"user", "group", "another user", "another group"} {
				for _, mode := range []access.Mode{access.Open, access.Protected, access.Private} {
					project := access.Project{ID: "p", Mode: mode}
					switch way {
					case "user":
						project.Users = map[int64][]access.Role{5: {role}}
					case "group":
						project.Groups = map[int64][]access.Role{4: {access.RoleReader, role}}
					case "another user":
						project.Users = map[int64][]access.Role{6: {role}}
					case "another group":
						project.Groups = map[int64][]access.Role{5: {role}}
					}
					has := role
					if strings.HasPrefix(way, "another") {
						has = 0
					}
					for _, info := range access.Permissions() {
						for _, environment := range []string{"", "staging", "production"} {
							want := allowed(root, has, mode, info, environment)
							if got := access.Decide(p, info.Name, &project, environment, customRoles()); got != want {
								t.Errorf("root role %s, role %s of %s, %s project, %s in %q: %t", root, role, way, mode, info.Name,
									environment, got)
							}
							cells++
						}
					}
				}
			}
		}
	}
	if cells < 20_000 {
		t.Errorf("%d cells", cells)
	}
}

// allowed is the rule, in words: what the root role and one role in the project grant.
func allowed(root, role access.Role, mode access.Mode, info access.PermissionInfo, environment string) bool {
	p := info.Name
	switch {
	case root == access.RoleAdmin:
		return true
	case info.Type == access.RootPermission:
		return root == access.RoleEditor && in(editorAtRoot, p) || root == rootCustom && p == access.CreateProject
	case root == access.RoleEditor && mode == access.Open && in(editor, p):
		return true
	case role == access.RoleOwner:
		return in(owner, p)
	case role == access.RoleMember:
		return in(member, p)
	case role == releaser:
		return p == access.UpdateFeature ||
			environment == "staging" && (p == access.UpdateEnvironment || p == access.CreateStrategy)
	}
	return false
}

func TestDecideWithoutAProject(t *testing.T) {
	t.Parallel()
	editor := access.UserPrincipal(2, access.RoleEditor)
	assert.Equal(t, true, access.Decide(editor, access.CreateSegment, nil, "", nil))
	assert.Equal(t, false, access.Decide(editor, access.UpdateFeature, nil, "", nil))
	assert.Equal(t, false, access.Decide(editor, "UNKNOWN", nil, "", nil))
	assert.Equal(t, true, access.Decide(access.APITokenPrincipal(access.Selector{}), access.UpdateFeature, nil, "", nil))
}

func TestIsVisible(t *testing.T) {
	t.Parallel()
	p := access.MemberPrincipal(5, access.RoleEditor, []access.Group{{ID: 3}}, nil)
	for _, test := range []struct {
		project access.Project
		want    bool
	}{
		{access.Project{Mode: access.Open}, true},
		{access.Project{Mode: access.Protected}, true},
		{access.Project{Mode: access.Private}, false},
		{access.Project{Mode: access.Private, Users: map[int64][]access.Role{6: {access.RoleOwner}}}, false},
		{access.Project{Mode: access.Private, Users: map[int64][]access.Role{5: {}}}, false},
		{access.Project{Mode: access.Private, Users: map[int64][]access.Role{5: {access.RoleReader}}}, true},
		{access.Project{Mode: access.Private, Groups: map[int64][]access.Role{3: {99}}}, true},
		// An API token has no account, and sees everything.
		{access.Project{Mode: access.Private, Users: map[int64][]access.Role{0: {access.RoleOwner}}}, false},
	} {
		assert.Equal(t, test.want, test.project.IsVisible(p))
		assert.Equal(t, true, test.project.IsVisible(access.UserPrincipal(7, access.RoleAdmin)))
		assert.Equal(t, true, test.project.IsVisible(access.APITokenPrincipal(access.Selector{})))
	}
}

func TestMemberPrincipal(t *testing.T) {
	t.Parallel()
	custom := map[access.Role][]access.Permission{rootCustom: {access.CreateProject, access.CreateSegment}}
	const viewer, editor, admin = access.RoleViewer, access.RoleEditor, access.RoleAdmin
	for _, test := range []struct {
		role  access.Role
		group access.Role
		want  string // the role, and the number of root permissions
	}{
		{viewer, 0, "Viewer 0"}, {viewer, viewer, "Viewer 0"}, {viewer, editor, "Editor 12"}, {viewer, admin, "Admin 1"},
		{editor, viewer, "Editor 12"}, {editor, admin, "Admin 1"}, {admin, editor, "Admin 1"},
		{viewer, rootCustom, "7 2"}, {rootCustom, viewer, "7 2"}, {rootCustom, editor, "Editor 12"}, {editor, rootCustom, "Editor 12"},
		{99, 0, "99 0"}, {access.RoleOwner, 0, "Owner 0"},
	} {
		p := access.MemberPrincipal(5, test.role, []access.Group{{ID: 3, RootRole: test.group}}, custom)
		assert.Equal(t, test.want, fmt.Sprint(p.Role, " ", len(p.Permissions)))
		assert.Equal(t, []int64{3}, p.Groups)
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	p := access.UserPrincipal(5, access.RoleViewer)
	project := access.Project{Mode: access.Private, Users: map[int64][]access.Role{5: {releaser}}}
	assert.Equal(t, []access.RolePermission{{Permission: access.UpdateFeature}, {access.CreateStrategy, "staging"},
		{access.UpdateEnvironment, "staging"}}, access.Held(p, &project, customRoles()))
	project.Users[5] = append(project.Users[5], access.RoleMember)
	all := access.Held(p, &project, customRoles())
	assert.Equal(t, len(strings.Fields(member)), len(all))
	for _, held := range all {
		assert.Equal(t, access.RolePermission{Permission: held.Permission}, held)
	}
}

// The roles grant permissions that exist, and only those of their type.
func TestFixedRoles(t *testing.T) {
	t.Parallel()
	var names []string
	for i, definition := range access.FixedRoles() {
		names = append(names, definition.Name)
		assert.Equal(t, access.Role(i+1), definition.ID)
		assert.Equal(t, definition.Name, definition.ID.String())
		for _, p := range definition.Permissions {
			info, ok := access.FindPermission(p.Permission)
			assert.Equal(t, true, ok)
			assert.Equal(t, definition.Type == access.RootType, info.Type == access.RootPermission)
		}
	}
	assert.Equal(t, "Admin Editor Viewer Owner Member Reader", strings.Join(names, " "))
}

func TestPermissionIDs(t *testing.T) {
	t.Parallel()
	var last int64
	for _, info := range access.Permissions() {
		if info.ID <= last || info.DisplayName == "" {
			t.Errorf("permission %+v after %d", info, last)
		}
		last = info.ID
		assert.Equal(t, []access.Permission{info.Name}, access.PermissionsOf(access.PermissionIDs([]access.Permission{info.Name})))
	}
	assert.Equal(t, []access.Permission(nil), access.PermissionsOf([]int64{0, 99}))
}

func TestRoleText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]access.Role{"Admin": 1, "Reader": 6, "7": 7, "2147483647": 2147483647} {
		var r access.Role
		assert.OK(t, r.UnmarshalText([]byte(text)))
		assert.Equal(t, want, r)
		assert.Equal(t, text, r.String())
	}
	for _, text := range []string{"", "admin", "0", "1", "6", "-7", "07", "2147483648"} {
		var r access.Role
		if r.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is a role", text)
		}
	}
	_, ok := access.ParseRole("Owner")
	assert.Equal(t, false, ok)
}

// BenchmarkDecide decides for an account with 50 roles in a project, the last of which grants the permission.
func BenchmarkDecide(b *testing.B) {
	var definitions []access.RoleDefinition
	project := access.Project{Mode: access.Private, Users: map[int64][]access.Role{}, Groups: map[int64][]access.Role{}}
	for i := range access.Role(50) {
		definition := access.RoleDefinition{ID: 100 + i, Type: access.CustomType}
		for _, environment := range []string{"development", "staging"} {
			definition.Permissions = append(definition.Permissions, access.RolePermission{
				Permission: access.UpdateEnvironment, Environment: environment,
			})
		}
		project.Users[5] = append(project.Users[5], definition.ID)
		definitions = append(definitions, definition)
	}
	definitions[49].Permissions[0].Environment = "production"
	custom := access.NewCustomRoles(definitions...)
	p := access.UserPrincipal(5, access.RoleEditor)
	for b.Loop() {
		if !access.Decide(p, access.UpdateEnvironment, &project, "production", custom) {
			b.Fatal("not permitted")
		}
	}
}
