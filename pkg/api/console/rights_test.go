package console_test

import (
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
)

// The pages say by the roles of the API what the role Editor may do in open projects.
func TestEditorInOpenProjects(t *testing.T) {
	t.Parallel()
	type granted struct {
		Name access.Permission `json:"name"`
	}
	var member []granted
	for _, role := range access.FixedRoles() {
		if role.ID == access.RoleMember {
			for _, p := range role.Permissions {
				member = append(member, granted{p.Permission})
			}
		}
	}
	names, want := []access.Permission{}, []bool{}
	project := access.NewProject("shop", "Shop")
	for _, info := range access.Permissions() {
		if info.Type != access.RootPermission {
			names = append(names, info.Name)
			want = append(want, access.Decide(access.UserPrincipal(7, access.RoleEditor), info.Name, &project, "", nil))
		}
	}
	assert.Equal(t, want, runModule[[]bool](t, "rights.js", map[string]any{"member": member, "names": names},
		`input.names.map((name) => editorInOpen(name, grants({ permissions: input.member }, name)))`))
}
