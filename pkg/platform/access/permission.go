package access

import "slices"

// Permission is what a role grants and an operation requires.
type Permission string

// The permissions that operations require or fixed roles contain. Admin includes all others.
const (
	Admin Permission = "ADMIN"

	CreateFieldPermission Permission = "CREATE_CONTEXT_FIELD"
	UpdateFieldPermission Permission = "UPDATE_CONTEXT_FIELD"
	DeleteFieldPermission Permission = "DELETE_CONTEXT_FIELD"
	CreateSegment         Permission = "CREATE_SEGMENT"
	UpdateSegment         Permission = "UPDATE_SEGMENT"
	DeleteSegment         Permission = "DELETE_SEGMENT"
	CreateProject         Permission = "CREATE_PROJECT"
	ReadRole              Permission = "READ_ROLE"
	CreateTagType         Permission = "CREATE_TAG_TYPE"
	UpdateTagType         Permission = "UPDATE_TAG_TYPE"
	DeleteTagType         Permission = "DELETE_TAG_TYPE"
	ReadClientToken       Permission = "READ_CLIENT_API_TOKEN" //nolint:gosec // not a credential
	CreateClientToken     Permission = "CREATE_CLIENT_API_TOKEN"
	UpdateClientToken     Permission = "UPDATE_CLIENT_API_TOKEN"
	DeleteClientToken     Permission = "DELETE_CLIENT_API_TOKEN"

	// In a project.

	CreateFeature            Permission = "CREATE_FEATURE"
	UpdateFeature            Permission = "UPDATE_FEATURE"
	DeleteFeature            Permission = "DELETE_FEATURE"
	MoveFeature              Permission = "MOVE_FEATURE_TOGGLE"
	UpdateVariants           Permission = "UPDATE_FEATURE_VARIANTS"
	UpdateDependency         Permission = "UPDATE_FEATURE_DEPENDENCY"
	UpdateProject            Permission = "UPDATE_PROJECT"
	DeleteProject            Permission = "DELETE_PROJECT"
	ReadProjectToken         Permission = "READ_PROJECT_API_TOKEN"
	CreateProjectToken       Permission = "CREATE_PROJECT_API_TOKEN"
	DeleteProjectToken       Permission = "DELETE_PROJECT_API_TOKEN"
	UpdateProjectSegment     Permission = "UPDATE_PROJECT_SEGMENT"
	UpdateProjectContext     Permission = "UPDATE_PROJECT_CONTEXT"
	ReadProjectAccess        Permission = "PROJECT_USER_ACCESS_READ"
	WriteProjectAccess       Permission = "PROJECT_USER_ACCESS_WRITE"
	ReadProjectSettings      Permission = "PROJECT_SETTINGS_READ"
	WriteProjectSettings     Permission = "PROJECT_SETTINGS_WRITE"
	ReadChangeRequestConfig  Permission = "PROJECT_CHANGE_REQUEST_READ"
	WriteChangeRequestConfig Permission = "PROJECT_CHANGE_REQUEST_WRITE"

	// In an environment of a project.

	UpdateEnvironment         Permission = "UPDATE_FEATURE_ENVIRONMENT" // turning toggles on and off
	UpdateEnvironmentVariants Permission = "UPDATE_FEATURE_ENVIRONMENT_VARIANTS"
	CreateStrategy            Permission = "CREATE_FEATURE_STRATEGY"
	UpdateStrategy            Permission = "UPDATE_FEATURE_STRATEGY"
	DeleteStrategy            Permission = "DELETE_FEATURE_STRATEGY"
	ApproveChangeRequest      Permission = "APPROVE_CHANGE_REQUEST"
	ApplyChangeRequest        Permission = "APPLY_CHANGE_REQUEST"
	SkipChangeRequest         Permission = "SKIP_CHANGE_REQUEST" // changing a protected or frozen environment directly
)

// PermissionType is where a permission counts.
type PermissionType string

// The types of permissions.
const (
	RootPermission        PermissionType = "root"        // in the whole installation
	ProjectPermission     PermissionType = "project"     // in one project
	EnvironmentPermission PermissionType = "environment" // in one environment of a project
)

// PermissionInfo describes a permission. Ids and names are those of Unleash.
type PermissionInfo struct {
	ID          int64
	Name        Permission
	DisplayName string
	Type        PermissionType
	Decides     bool // an operation requires it; roles can contain the others, too, which have no effect
}

// catalog contains all permissions, ordered by id. The position of a permission is its bit in a permissionSet.
var catalog = []PermissionInfo{
	{1, Admin, "Admin", RootPermission, true},
	{2, CreateFeature, "Create toggles", ProjectPermission, true},
	{3, "CREATE_STRATEGY", "Create activation strategies", RootPermission, false},
	{4, "CREATE_ADDON", "Create integrations", RootPermission, false},
	{5, "DELETE_ADDON", "Delete integrations", RootPermission, false},
	{6, "UPDATE_ADDON", "Update integrations", RootPermission, false},
	{7, UpdateFeature, "Update toggles", ProjectPermission, true},
	{8, DeleteFeature, "Archive and delete toggles", ProjectPermission, true},
	{9, "UPDATE_APPLICATION", "Update applications", RootPermission, false},
	{10, UpdateTagType, "Update tag types", RootPermission, true},
	{11, DeleteTagType, "Delete tag types", RootPermission, true},
	{12, CreateProject, "Create projects", RootPermission, true},
	{13, UpdateProject, "Update the project", ProjectPermission, true},
	{14, DeleteProject, "Archive and delete the project", ProjectPermission, true},
	{15, "UPDATE_STRATEGY", "Update activation strategies", RootPermission, false},
	{16, "DELETE_STRATEGY", "Delete activation strategies", RootPermission, false},
	{17, UpdateFieldPermission, "Update context fields", RootPermission, true},
	{18, CreateFieldPermission, "Create context fields", RootPermission, true},
	{19, DeleteFieldPermission, "Delete context fields", RootPermission, true},
	{20, ReadRole, "Read roles", RootPermission, false},
	{25, CreateStrategy, "Create strategies of toggles", EnvironmentPermission, true},
	{26, UpdateStrategy, "Update strategies of toggles", EnvironmentPermission, true},
	{27, DeleteStrategy, "Delete strategies of toggles", EnvironmentPermission, true},
	{28, UpdateEnvironment, "Turn toggles on and off", EnvironmentPermission, true},
	{29, UpdateVariants, "Update variants of toggles", ProjectPermission, false},
	{30, MoveFeature, "Move toggles to another project", ProjectPermission, true},
	{31, CreateSegment, "Create segments", RootPermission, true},
	{32, UpdateSegment, "Update segments", RootPermission, true},
	{33, DeleteSegment, "Delete segments", RootPermission, true},
	{35, ApproveChangeRequest, "Approve and reject change requests", EnvironmentPermission, true},
	{36, ApplyChangeRequest, "Apply change requests", EnvironmentPermission, true},
	{37, UpdateEnvironmentVariants, "Update variants in an environment", EnvironmentPermission, false},
	{38, SkipChangeRequest, "Change protected environments without change requests", EnvironmentPermission, true},
	{42, ReadProjectToken, "Read client tokens of the project", ProjectPermission, true},
	{43, CreateProjectToken, "Create client tokens of the project", ProjectPermission, true},
	{44, DeleteProjectToken, "Delete client tokens of the project", ProjectPermission, true},
	{45, UpdateProjectSegment, "Create, update and delete segments of the project", ProjectPermission, true},
	{50, CreateClientToken, "Create client tokens", RootPermission, true},
	{51, UpdateClientToken, "Update client tokens", RootPermission, true},
	{52, DeleteClientToken, "Delete client tokens", RootPermission, true},
	{53, ReadClientToken, "Read client tokens", RootPermission, true},
	{54, "CREATE_FRONTEND_API_TOKEN", "Create frontend tokens", RootPermission, false},
	{55, "UPDATE_FRONTEND_API_TOKEN", "Update frontend tokens", RootPermission, false},
	{56, "DELETE_FRONTEND_API_TOKEN", "Delete frontend tokens", RootPermission, false},
	{57, "READ_FRONTEND_API_TOKEN", "Read frontend tokens", RootPermission, false},
	{58, UpdateDependency, "Update the parent of toggles", ProjectPermission, true},
	{59, CreateTagType, "Create tag types", RootPermission, true},
	{60, ReadProjectAccess, "Read who has access to the project", ProjectPermission, false},
	{61, "PROJECT_DEFAULT_STRATEGY_READ", "Read default strategies of the project", ProjectPermission, false},
	{62, ReadChangeRequestConfig, "Read the change request settings of the project", ProjectPermission, false},
	{63, ReadProjectSettings, "Read the settings of the project", ProjectPermission, false},
	{64, WriteProjectAccess, "Change who has access to the project", ProjectPermission, true},
	{65, "PROJECT_DEFAULT_STRATEGY_WRITE", "Change default strategies of the project", ProjectPermission, false},
	{66, WriteChangeRequestConfig, "Protect and freeze environments of the project", ProjectPermission, true},
	{67, WriteProjectSettings, "Change the settings of the project", ProjectPermission, false},
	{70, "RELEASE_PLAN_TEMPLATE_CREATE", "Create release plan templates", RootPermission, false},
	{71, "RELEASE_PLAN_TEMPLATE_UPDATE", "Update release plan templates", RootPermission, false},
	{72, "RELEASE_PLAN_TEMPLATE_DELETE", "Delete release plan templates", RootPermission, false},
	{73, "UPDATE_MAINTENANCE_MODE", "Change the maintenance mode", RootPermission, false},
	{74, "UPDATE_INSTANCE_BANNERS", "Change banners", RootPermission, false},
	{75, "UPDATE_AUTH_CONFIGURATION", "Change the configuration of sign-in", RootPermission, false},
	{76, "READ_LOGS", "Read logs", RootPermission, false},
	{77, "UPDATE_CORS", "Change the CORS settings", RootPermission, false},
	{78, UpdateProjectContext, "Update context fields of the project", ProjectPermission, false},
	{79, "UPDATE_PROJECT_RELEASE_TEMPLATE", "Update release plan templates of the project", ProjectPermission, false},
}

// Permissions returns all permissions, ordered by id.
func Permissions() []PermissionInfo { return slices.Clone(catalog) }

// FindPermission returns the description of a permission.
func FindPermission(name Permission) (info PermissionInfo, ok bool) {
	position, ok := positions[name]
	if !ok {
		return PermissionInfo{}, false
	}
	return catalog[position], true
}

// positions contains the positions in the catalog by name.
var positions = func() map[Permission]int {
	all := make(map[Permission]int, len(catalog))
	for i, info := range catalog {
		all[info.Name] = i
	}
	return all
}()

// permissionSet is a set of permissions: bit 64·i + j is the one at this position of the catalog.
type permissionSet [2]uint64

// setOf returns the set of permissions. Unknown ones are left out.
func setOf(permissions ...Permission) (s permissionSet) {
	for _, p := range permissions {
		if position, ok := positions[p]; ok {
			s = s.with(position)
		}
	}
	return s
}

func (s permissionSet) with(position int) permissionSet {
	s[position/64] |= 1 << (position % 64)
	return s
}

func (s permissionSet) has(position int) bool { return s[position/64]&(1<<(position%64)) != 0 }

// PermissionIDs returns the ids of permissions.
func PermissionIDs(permissions []Permission) []int64 {
	var ids []int64
	for _, p := range permissions {
		if info, ok := FindPermission(p); ok {
			ids = append(ids, info.ID)
		}
	}
	return ids
}

// PermissionsOf returns the permissions with ids. Unknown ones are left out.
func PermissionsOf(ids []int64) []Permission {
	var permissions []Permission
	for _, info := range catalog {
		if slices.Contains(ids, info.ID) {
			permissions = append(permissions, info.Name)
		}
	}
	return permissions
}
