package access

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// DefaultProject is the id of the project that always exists. It is neither archived nor deleted.
const DefaultProject = "default"

// Mode is who may read and change a project.
type Mode string

// The modes of projects.
const (
	Open      Mode = "open"      // everybody reads it, and Editors change it
	Protected Mode = "protected" // everybody reads it, and accounts with a role in it change it
	Private   Mode = "private"   // only accounts with a role in it see it
)

// Project is a project, and who has which roles in it.
type Project struct {
	ID                string
	Name              string
	Description       *string // nil: none
	Mode              Mode
	DefaultStickiness string
	Environments      []string // in which its toggles can be switched; nil: all
	Naming            *Naming  // of its toggles; nil: any name
	LinkTemplates     []LinkTemplate
	Protections       map[string]Protection // by environment; one without an entry is not protected
	Users             map[int64][]Role      // by the id of the account
	Groups            map[int64][]Role      // by the id of the group
	CreatedAt         *time.Time            // nil: unknown
	UpdatedAt         *time.Time            // nil: never
	ArchivedAt        *time.Time            // nil: it is not archived
	LastEvent         int64                 // the id of its last event
}

// Naming is how the toggles of a project are named.
type Naming struct {
	Pattern     string `dynamodbav:"pattern"` // RE2; the whole name matches it
	Example     string `dynamodbav:"example,omitempty"`
	Description string `dynamodbav:"description,omitempty"`
}

// LinkTemplate is a link that each new toggle of a project has.
type LinkTemplate struct {
	Title       *string `dynamodbav:"title,omitempty"` // nil: none
	URLTemplate string  `dynamodbav:"urlTemplate"`
}

// URL returns the URL of the link of a toggle.
func (t LinkTemplate) URL(project, feature string) string {
	return strings.NewReplacer("{{project}}", project, "{{feature}}", feature).Replace(t.URLTemplate)
}

// NewProject returns an open project without members.
func NewProject(id, name string) Project {
	return Project{ID: id, Name: name, Mode: Open, DefaultStickiness: "default"}
}

// ImplicitDefaultProject returns the default project as it is before it is changed for the first time.
func ImplicitDefaultProject() Project {
	p := NewProject(DefaultProject, "Default")
	description := "Default project"
	p.Description = &description
	return p
}

// HasEnvironment reports whether the toggles of the project can be switched in an environment that exists. A project that
// does not exist is nil, and has all environments.
func (project *Project) HasEnvironment(name string) bool {
	return project == nil || project.Environments == nil || slices.Contains(project.Environments, name)
}

// HaveEnvironments returns a function that reports HasEnvironment of projects by their ids.
func HaveEnvironments(projects []*Project) func(project, environment string) bool {
	byID := make(map[string]*Project, len(projects))
	for _, project := range projects {
		byID[project.ID] = project
	}
	return func(project, environment string) bool { return byID[project].HasEnvironment(environment) }
}

// IsVisible reports whether a principal may know that a project exists.
func (project *Project) IsVisible(p Principal) bool {
	return project.Mode != Private || p.Has(Admin) || project.HasMember(p)
}

// HasMember reports whether a principal has a role in the project, directly or by a group.
func (project *Project) HasMember(p Principal) bool { return len(project.rolesOf(p)) > 0 }

// rolesOf returns the roles that a principal has in the project, directly and by its groups.
func (project *Project) rolesOf(p Principal) []Role {
	var roles []Role
	if p.UserID != 0 {
		roles = project.Users[p.UserID]
	}
	for _, group := range p.Groups {
		if more := project.Groups[group]; len(more) > 0 {
			roles = append(slices.Clip(roles), more...)
		}
	}
	return roles
}

// CustomRolesOf returns the custom roles that a principal has in the project, which Decide needs.
func (project *Project) CustomRolesOf(p Principal) []Role {
	var custom []Role
	for _, r := range project.rolesOf(p) {
		if r.IsCustom() && !slices.Contains(custom, r) {
			custom = append(custom, r)
		}
	}
	return custom
}

// Decide reports whether a principal may do what needs a permission. A permission of the type root needs no project. One
// of the type environment is for one environment of the project; an empty environment stands for all of them together.
// custom contains at least those of CustomRolesOf.
func Decide(p Principal, need Permission, project *Project, environment string, custom CustomRoles) bool {
	position, ok := positions[need]
	switch {
	case p.Has(Admin):
		return true
	case !ok:
		return false
	case catalog[position].Type == RootPermission:
		return p.Has(need)
	case project == nil:
		return false
	case project.Mode == Open && p.Role == RoleEditor && editorSet.has(position):
		return true
	}
	if p.UserID != 0 {
		for _, r := range project.Users[p.UserID] {
			if g := custom.grants(r); g != nil && g.has(position, environment) {
				return true
			}
		}
	}
	for _, group := range p.Groups {
		for _, r := range project.Groups[group] {
			if g := custom.grants(r); g != nil && g.has(position, environment) {
				return true
			}
		}
	}
	return false
}

var editorSet = setOf(editorInOpen()...)

// MayApprove reports whether a principal may approve change requests for an environment of a project. An API token never
// may, and a service account only by a custom role in the project. The other parameters are those of Decide.
func MayApprove(p Principal, project *Project, environment string, custom CustomRoles) bool {
	if p.UserID == 0 || project == nil {
		return false
	}
	if p.IsServiceAccount {
		p.Role, p.Permissions = 0, nil
		project = project.withCustomRoles()
	}
	return Decide(p, ApproveChangeRequest, project, environment, custom)
}

// withCustomRoles returns a copy of the project without the fixed roles that accounts and groups have in it.
func (project *Project) withCustomRoles() *Project {
	only := func(all map[int64][]Role) map[int64][]Role {
		custom := map[int64][]Role{}
		for id, roles := range all {
			custom[id] = slices.DeleteFunc(slices.Clone(roles), func(r Role) bool { return !r.IsCustom() })
		}
		return custom
	}
	restricted := *project
	restricted.Users, restricted.Groups = only(project.Users), only(project.Groups)
	return &restricted
}

// Held returns what a principal may do in a project, as Decide does: the permissions of the types project and
// environment, ordered by id. The environment of the latter is empty if they count in all environments.
func Held(p Principal, project *Project, custom CustomRoles) []RolePermission {
	var environments []string
	for _, r := range project.CustomRolesOf(p) {
		if g := custom[r]; g != nil {
			environments = append(environments, slices.Collect(maps.Keys(g.in))...)
		}
	}
	slices.Sort(environments)
	environments = slices.Compact(environments)
	var held []RolePermission
	for _, info := range catalog {
		switch {
		case info.Type == RootPermission:
		case Decide(p, info.Name, project, "", custom):
			held = append(held, RolePermission{Permission: info.Name})
		case info.Type == EnvironmentPermission:
			for _, environment := range environments {
				if Decide(p, info.Name, project, environment, custom) {
					held = append(held, RolePermission{info.Name, environment})
				}
			}
		}
	}
	return held
}

// Owners returns the ids of the accounts and groups that have the role Owner in the project, ascending.
func (project *Project) Owners() (accounts, groups []int64) {
	return withOwner(project.Users), withOwner(project.Groups)
}

func withOwner(roles map[int64][]Role) (ids []int64) {
	for _, id := range slices.Sorted(maps.Keys(roles)) {
		if slices.Contains(roles[id], RoleOwner) {
			ids = append(ids, id)
		}
	}
	return ids
}
