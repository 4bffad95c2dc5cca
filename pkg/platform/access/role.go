package access

import (
	"fmt"
	"slices"
	"strconv"
)

// Role is the id of a role. Those up to 6 are fixed; the others are custom roles.
type Role int64

// The fixed roles. An account has one root role, and any number of roles in each project.
const (
	RoleAdmin  Role = 1
	RoleEditor Role = 2
	RoleViewer Role = 3

	RoleOwner  Role = 4
	RoleMember Role = 5
	RoleReader Role = 6

	lastFixedRole = RoleReader

	FirstCustomRole = lastFixedRole + 1
)

// RoleType is what a role is for.
type RoleType string

// The types of roles.
const (
	RootType       RoleType = "root"        // a fixed root role
	ProjectType    RoleType = "project"     // a fixed role in projects
	RootCustomType RoleType = "root-custom" // a custom root role
	CustomType     RoleType = "custom"      // a custom role in projects
)

// RoleDefinition is a role with its permissions.
type RoleDefinition struct {
	ID          Role
	Type        RoleType
	Name        string
	Description string
	Permissions []RolePermission
	LastEvent   int64 // of a custom role: the id of its last event
}

// RolePermission is a permission that a role grants. Environment is the only environment of a project in which it counts;
// empty: all, or the permission is not of the type environment.
type RolePermission struct {
	Permission  Permission
	Environment string
}

// Environments returns the environments in which the role has permissions, sorted.
func (r RoleDefinition) Environments() []string {
	var names []string
	for _, p := range r.Permissions {
		if p.Environment != "" {
			names = append(names, p.Environment)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// RootPermissions returns the permissions of the type root that the role has.
func (r RoleDefinition) RootPermissions() []Permission {
	var all []Permission
	for _, p := range r.Permissions {
		if info, ok := FindPermission(p.Permission); ok && info.Type == RootPermission {
			all = append(all, p.Permission)
		}
	}
	return all
}

// Grants reports whether the role has a permission: in an environment or, without one, in at least one. The role Admin has
// all of them. Permissions without effect, because the role has another type, do not count.
func (r RoleDefinition) Grants(need Permission, environment string) bool {
	info, _ := FindPermission(need)
	isRoot := r.Type == RootType || r.Type == RootCustomType
	return slices.ContainsFunc(r.Permissions, func(has RolePermission) bool {
		if has.Permission == Admin {
			return true
		}
		return has.Permission == need && isRoot == (info.Type == RootPermission) &&
			(environment == "" || has.Environment == "" || has.Environment == environment)
	})
}

// editorInOpen returns what the root role Editor may do in each open project.
func editorInOpen() []Permission { return append(memberPermissions(), MoveFeature) }

func memberPermissions() []Permission {
	return []Permission{
		CreateFeature, UpdateFeature, DeleteFeature, UpdateVariants, UpdateDependency,
		ReadProjectToken, CreateProjectToken, DeleteProjectToken,
		CreateStrategy, UpdateStrategy, DeleteStrategy, UpdateEnvironment, UpdateEnvironmentVariants,
		ApplyChangeRequest,
	}
}

// FixedRoles returns the fixed roles, ordered by id.
func FixedRoles() []RoleDefinition {
	owner := append(memberPermissions(), MoveFeature, UpdateProject, DeleteProject, UpdateProjectSegment,
		UpdateProjectContext, ReadProjectAccess, WriteProjectAccess, ReadProjectSettings, WriteProjectSettings,
		ReadChangeRequestConfig, WriteChangeRequestConfig, ApproveChangeRequest)
	return []RoleDefinition{
		{
			ID:          RoleAdmin,
			Type:        RootType,
			Name:        "Admin",
			Description: "May use every operation.",
			Permissions: everywhere(Admin),
		},
		{
			ID:          RoleEditor,
			Type:        RootType,
			Name:        "Editor",
			Description: "May change context fields, tag types, segments and the toggles of open projects, and create projects.",
			Permissions: everywhere(
				CreateFieldPermission, UpdateFieldPermission, DeleteFieldPermission, CreateSegment, UpdateSegment, DeleteSegment,
				ReadClientToken, CreateProject, ReadRole, CreateTagType, UpdateTagType, DeleteTagType,
			),
		},
		{
			ID:          RoleViewer,
			Type:        RootType,
			Name:        "Viewer",
			Description: "May read everything outside private projects.",
		},
		{
			ID:          RoleOwner,
			Type:        ProjectType,
			Name:        "Owner",
			Description: "May change the project, its toggles and client tokens, and who has access to it.",
			Permissions: everywhere(owner...),
		},
		{
			ID:          RoleMember,
			Type:        ProjectType,
			Name:        "Member",
			Description: "May change the toggles and client tokens of the project.",
			Permissions: everywhere(memberPermissions()...),
		},
		{
			ID:          RoleReader,
			Type:        ProjectType,
			Name:        "Reader",
			Description: "May read the project, also if it is private.",
		},
	}
}

func everywhere(permissions ...Permission) []RolePermission {
	all := make([]RolePermission, len(permissions))
	for i, p := range permissions {
		all[i].Permission = p
	}
	return all
}

// Roles returns the fixed root roles, ordered by id.
func Roles() []Role { return []Role{RoleAdmin, RoleEditor, RoleViewer} }

// ParseRole returns the fixed root role with the name.
func ParseRole(name string) (r Role, ok bool) {
	for _, r := range Roles() {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}

// IsCustom reports whether the role is not a fixed one.
func (r Role) IsCustom() bool { return r > lastFixedRole }

// String returns the name of a fixed role, or the id of another one.
func (r Role) String() string {
	if r < 1 || r.IsCustom() {
		return strconv.FormatInt(int64(r), 10)
	}
	return [...]string{"Admin", "Editor", "Viewer", "Owner", "Member", "Reader"}[r-1]
}

// MarshalText returns String. In JSON, a fixed role is its name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the name of a fixed role, or the id of a custom one.
func (r *Role) UnmarshalText(text []byte) error {
	for fixed := RoleAdmin; fixed <= lastFixedRole; fixed++ {
		if fixed.String() == string(text) {
			*r = fixed
			return nil
		}
	}
	id, ok := ParseID(string(text))
	if !ok || !Role(id).IsCustom() {
		return fmt.Errorf("there is no role %q", text)
	}
	*r = Role(id)
	return nil
}

// RootPermissions returns what the root role grants. Without a custom root role with this id, it is nothing.
func (r Role) RootPermissions(custom map[Role][]Permission) []Permission {
	if r.IsCustom() {
		return custom[r]
	}
	var all []Permission
	for _, definition := range FixedRoles() {
		if definition.ID == r && definition.Type == RootType {
			for _, p := range definition.Permissions {
				all = append(all, p.Permission)
			}
		}
	}
	return all
}

// higher returns the one of two root roles that decides: an Admin's, an Editor's, a custom one, a Viewer's.
func higher(a, b Role) Role {
	order := func(r Role) int {
		if r.IsCustom() {
			return 2
		}
		return slices.Index([]Role{RoleAdmin, RoleEditor, 0, RoleViewer}, r)
	}
	if order(b) < order(a) {
		return b
	}
	return a
}

// grants is what a role grants in a project.
type grants struct {
	everywhere permissionSet            // and in all of its environments
	in         map[string]permissionSet // in one environment
}

func (g *grants) has(position int, environment string) bool {
	return g.everywhere.has(position) || environment != "" && g.in[environment].has(position)
}

func grantsOf(definition RoleDefinition) *grants {
	g := &grants{in: map[string]permissionSet{}}
	for _, p := range definition.Permissions {
		position, ok := positions[p.Permission]
		switch {
		case !ok:
		case p.Environment == "":
			g.everywhere = g.everywhere.with(position)
		default:
			g.in[p.Environment] = g.in[p.Environment].with(position)
		}
	}
	return g
}

// projectRoles contains what the fixed roles grant in a project, by id.
var projectRoles = func() (all [lastFixedRole + 1]*grants) {
	for _, definition := range FixedRoles() {
		all[definition.ID] = &grants{}
		if definition.Type == ProjectType {
			all[definition.ID] = grantsOf(definition)
		}
	}
	return all
}()

// CustomRoles contains custom roles in projects, prepared for decisions.
type CustomRoles map[Role]*grants

// NewCustomRoles returns the roles with the definitions, which must be of the type custom: others grant nothing in a
// project.
func NewCustomRoles(definitions ...RoleDefinition) CustomRoles {
	all := CustomRoles{}
	for _, definition := range definitions {
		if definition.ID.IsCustom() && definition.Type == CustomType {
			all[definition.ID] = grantsOf(definition)
		}
	}
	return all
}

func (c CustomRoles) grants(r Role) *grants {
	if r.IsCustom() {
		return c[r]
	}
	if r < 1 {
		return nil
	}
	return projectRoles[r]
}
