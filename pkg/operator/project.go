package operator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/spelling"
)

// Project is a project.
type Project struct {
	ID                string      `json:"id"`
	Name              string      `json:"name"`
	Description       *string     `json:"description"`
	Mode              access.Mode `json:"mode"`
	DefaultStickiness string      `json:"defaultStickiness"`
	Environments      []string    `json:"environments"`  // null: all
	Naming            *Naming     `json:"featureNaming"` // of toggles; null: any name
	Toggles           int         `json:"toggles"`       // their number, without archived ones
	Owners            []string    `json:"owners"`        // names of accounts and groups
	CreatedAt         *string     `json:"createdAt"`     // null: unknown
	UpdatedAt         *string     `json:"updatedAt"`
	ArchivedAt        *string     `json:"archivedAt"`
}

// Naming is how the toggles of a project are named.
type Naming struct {
	Pattern     string `json:"pattern"` // RE2; the whole name matches it
	Example     string `json:"example"`
	Description string `json:"description"`
}

// Grant is the roles that an account or a group has in a project.
type Grant struct {
	Kind  string      `json:"kind"` // user, service-account or group
	ID    int64       `json:"id"`
	Name  string      `json:"name"`
	Roles []GrantRole `json:"roles"`
}

// GrantRole is a role in a project.
type GrantRole struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// kindGroup is the kind of a group in a Grant.
const kindGroup = "group"

// directory is the names of who and what projects refer to.
type directory struct {
	accounts map[int64]user.User
	groups   map[int64]string
	roles    map[access.Role]string
}

// directory reads what projects refer to.
func (o *Operator) directory(ctx context.Context, projects []*access.Project) (directory, error) {
	d := directory{groups: map[int64]string{}, roles: map[access.Role]string{}}
	var ids []int64
	for _, p := range projects {
		ids = slices.AppendSeq(ids, maps.Keys(p.Users))
	}
	var err error
	if d.accounts, err = o.users.Accounts(ctx, ids); err != nil {
		return d, err
	}
	groups, err := o.groups.List(ctx)
	if err != nil {
		return d, err
	}
	for _, g := range groups {
		d.groups[g.ID] = g.Name
	}
	roles, err := o.roles.List(ctx)
	for _, r := range roles {
		d.roles[r.ID] = r.Name
	}
	return d, err
}

// grants returns who has which roles in a project: accounts, then groups, each ordered by id. Those that do not exist
// any more are left out.
func (d directory) grants(p *access.Project) []Grant {
	grants := []Grant{}
	add := func(kind string, id int64, name string, roles []access.Role) {
		g := Grant{kind, id, name, []GrantRole{}}
		for _, r := range roles {
			g.Roles = append(g.Roles, GrantRole{int64(r), cmp.Or(d.roles[r], r.String())})
		}
		grants = append(grants, g)
	}
	for _, id := range slices.Sorted(maps.Keys(p.Users)) {
		if u, ok := d.accounts[id]; ok {
			add(string(u.Kind), id, u.Name, p.Users[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.Groups)) {
		if name, ok := d.groups[id]; ok {
			add(kindGroup, id, name, p.Groups[id])
		}
	}
	return grants
}

func (d directory) project(p *access.Project, toggles map[string]int) Project {
	shown := Project{
		ID:                p.ID,
		Name:              p.Name,
		Description:       p.Description,
		Mode:              p.Mode,
		DefaultStickiness: p.DefaultStickiness,
		Environments:      p.Environments,
		Naming:            (*Naming)(p.Naming),
		Toggles:           toggles[p.ID],
		Owners:            []string{},
		CreatedAt:         datetime.FormatOptional(p.CreatedAt),
		UpdatedAt:         datetime.FormatOptional(p.UpdatedAt),
		ArchivedAt:        datetime.FormatOptional(p.ArchivedAt),
	}
	accounts, groups := p.Owners()
	for _, id := range accounts {
		if u, ok := d.accounts[id]; ok {
			shown.Owners = append(shown.Owners, u.Name)
		}
	}
	for _, id := range groups {
		if name, ok := d.groups[id]; ok {
			shown.Owners = append(shown.Owners, name)
		}
	}
	return shown
}

// activeToggles returns the number of toggles of each project that are not archived.
func (o *Operator) activeToggles(ctx context.Context) (map[string]int, error) {
	counts, err := o.searcher.Count(ctx, func(string) bool { return true }, nil)
	toggles := map[string]int{}
	for _, p := range counts.Projects {
		toggles[p.Project] = p.Active + p.Stale + p.PotentiallyStale
	}
	return toggles, err
}

// Projects returns all projects, with archived ones, ordered by id.
func (o *Operator) Projects(ctx context.Context) ([]Project, error) {
	all, err := o.projects.List(ctx)
	if err != nil {
		return nil, err
	}
	return o.shown(ctx, all)
}

func (o *Operator) shown(ctx context.Context, all []*access.Project) ([]Project, error) {
	d, err := o.directory(ctx, all)
	if err != nil {
		return nil, err
	}
	toggles, err := o.activeToggles(ctx)
	if err != nil {
		return nil, err
	}
	projects := make([]Project, len(all))
	for i, p := range all {
		projects[i] = d.project(p, toggles)
	}
	return projects, nil
}

// Project returns a project.
func (o *Operator) Project(ctx context.Context, id string) (Project, error) {
	p, err := o.projects.Get(ctx, id)
	if err != nil {
		return Project{}, exitstatus.Explain(err)
	}
	all, err := o.shown(ctx, []*access.Project{p})
	if err != nil {
		return Project{}, err
	}
	return all[0], nil
}

// ProjectChange contains the new values of a project. nil means no change; for a new project, the default.
type ProjectChange struct {
	Name, Stickiness *string
	Description      *string // empty: none
	Mode             *access.Mode
	Naming           *access.Naming // of toggles; an empty pattern: any name
	Add, Remove      []string       // environments
}

func (c ProjectChange) apply(p *access.Project) {
	assign(&p.Name, c.Name)
	assign(&p.DefaultStickiness, c.Stickiness)
	assign(&p.Mode, c.Mode)
	if c.Naming != nil {
		p.Naming = c.Naming
		if c.Naming.Pattern == "" {
			p.Naming = nil
		}
	}
	if c.Description != nil {
		p.Description = c.Description
		if *c.Description == "" {
			p.Description = nil
		}
	}
}

// check returns an error if a project is not valid after the change.
func (c ProjectChange) check(p access.Project) error {
	c.apply(&p)
	if err := project.Check(&p); err != nil {
		return exitstatus.Errorf(exitstatus.Usage, "the project %q is not valid: %v", p.ID, err)
	}
	return nil
}

// Owners are the ids of the accounts and groups that have the role Owner in a new project.
type Owners struct{ Accounts, Groups []int64 }

// CreateProject creates a project with the environments that change adds, or all. Without a name, its name is the id.
func (o *Operator) CreateProject(ctx context.Context, id string, change ProjectChange, owners Owners) (Project, error) {
	next := access.NewProject(id, id)
	if err := change.check(next); err != nil {
		return Project{}, err
	}
	change.apply(&next)
	if next.Mode != access.Open && len(owners.Accounts)+len(owners.Groups) == 0 {
		return Project{}, exitstatus.Errorf(exitstatus.Usage, "a %s project needs an Owner: use --owner or --owner-group",
			next.Mode)
	}
	for _, name := range change.Add {
		if err := o.CheckEnvironment(ctx, name); err != nil {
			return Project{}, err
		}
		next.Environments = append(next.Environments, name)
	}
	next.Users, next.Groups = ownersOf(owners.Accounts), ownersOf(owners.Groups)
	created, err := o.projects.Create(ctx, next)
	if err != nil {
		return Project{}, explainChange(err)
	}
	return o.Project(ctx, created.ID)
}

func ownersOf(ids []int64) map[int64][]access.Role {
	roles := map[int64][]access.Role{}
	for _, id := range ids {
		roles[id] = []access.Role{access.RoleOwner}
	}
	return roles
}

// UpdateProject changes a project. changed is false if it already was as change makes it.
func (o *Operator) UpdateProject(ctx context.Context, id string, change ProjectChange) (
	p Project, changed bool, err error,
) {
	for _, name := range slices.Concat(change.Add, change.Remove) {
		if err := o.CheckEnvironment(ctx, name); err != nil {
			return Project{}, false, err
		}
	}
	before, err := o.projects.Get(ctx, id)
	if err != nil {
		return Project{}, false, exitstatus.Explain(err)
	}
	if err := change.check(*before); err != nil {
		return Project{}, false, err
	}
	err = o.projects.Update(ctx, id, func(p *access.Project) error {
		change.apply(p)
		return nil
	})
	if err != nil {
		return Project{}, false, explainChange(err)
	}
	for _, name := range change.Add {
		if err := o.projects.AddEnvironment(ctx, id, name, nil, o.environments); err != nil {
			return Project{}, false, explainChange(err)
		}
	}
	for _, name := range change.Remove {
		if err := o.projects.RemoveEnvironment(ctx, id, name, o.environments, project.Always); err != nil {
			return Project{}, false, explainChange(err)
		}
	}
	after, err := o.projects.Get(ctx, id)
	if err != nil {
		return Project{}, false, exitstatus.Explain(err)
	}
	p, err = o.Project(ctx, id)
	return p, after.LastEvent != before.LastEvent, err
}

// ArchiveProject archives a project. changed is false if it is archived already.
func (o *Operator) ArchiveProject(ctx context.Context, id string) (p Project, changed bool, err error) {
	err = o.projects.Archive(ctx, id, func(p *access.Project) error {
		changed = p.ArchivedAt == nil
		return nil
	})
	if err != nil {
		return Project{}, false, explainChange(err)
	}
	p, err = o.Project(ctx, id)
	return p, changed, err
}

// ReviveProject makes an archived project an active one. changed is false if it is active already.
func (o *Operator) ReviveProject(ctx context.Context, id string) (p Project, changed bool, err error) {
	err = o.projects.Revive(ctx, id, func(p *access.Project) error {
		changed = p.ArchivedAt != nil
		return nil
	})
	if err != nil {
		return Project{}, false, explainChange(err)
	}
	p, err = o.Project(ctx, id)
	return p, changed, err
}

// DeleteProject deletes a project that has no toggles, segments and client tokens.
func (o *Operator) DeleteProject(ctx context.Context, id string) error {
	return explainChange(o.projects.Delete(ctx, id, project.Always))
}

// Access returns who has which roles in a project.
func (o *Operator) Access(ctx context.Context, id string) ([]Grant, error) {
	p, err := o.projects.Get(ctx, id)
	if err != nil {
		return nil, exitstatus.Explain(err)
	}
	d, err := o.directory(ctx, []*access.Project{p})
	return d.grants(p), err
}

// AccessChange is what ChangeAccess gives to accounts and groups, or takes from them.
type AccessChange struct {
	Accounts, Groups []int64
	Roles            []string // names or ids; none: all, of those that are taken
	Revoke           bool
}

// ChangeAccess gives roles in a project, or takes them. It returns who has which roles then. changed is false if that was
// so before.
func (o *Operator) ChangeAccess(ctx context.Context, id string, c AccessChange) (
	grants []Grant, changed bool, err error,
) {
	roles, err := o.projectRoles(ctx, c.Roles)
	if err != nil {
		return nil, false, err
	}
	edit := func(all map[int64][]access.Role, ids []int64) {
		for _, id := range ids {
			next := slices.DeleteFunc(slices.Clone(all[id]), func(r access.Role) bool {
				return slices.Contains(roles, r) || c.Revoke && len(roles) == 0
			})
			if !c.Revoke {
				next = append(next, roles...)
			}
			slices.Sort(next)
			changed = changed || !slices.Equal(next, all[id])
			all[id] = next
		}
	}
	err = o.projects.UpdateAccess(ctx, id, func(p *access.Project) {
		changed = false
		edit(p.Users, c.Accounts)
		edit(p.Groups, c.Groups)
	}, project.AnyRole, project.Always)
	if err != nil {
		return nil, false, explainChange(err)
	}
	grants, err = o.Access(ctx, id)
	return grants, changed, err
}

// projectRoles returns the roles in projects with names or ids, each once.
func (o *Operator) projectRoles(ctx context.Context, texts []string) ([]access.Role, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	all, err := o.roles.List(ctx)
	if err != nil {
		return nil, err
	}
	return findProjectRoles(all, texts)
}

// findProjectRoles returns the roles in projects with names or ids, each once.
func findProjectRoles(all []access.RoleDefinition, texts []string) (roles []access.Role, err error) {
	all = slices.DeleteFunc(all, func(r access.RoleDefinition) bool {
		return r.Type != access.ProjectType && r.Type != access.CustomType
	})
	for _, text := range texts {
		r, ok := findRole(all, text)
		if !ok {
			return nil, exitstatus.Errorf(exitstatus.Usage,
				"%q is not a role in projects: use a name or an id that `toggleadmin roles list` shows", text)
		}
		if !slices.Contains(roles, r.ID) {
			roles = append(roles, r.ID)
		}
	}
	return roles, nil
}

// findRole returns the role with an id or with a name, in any letter case.
func findRole(all []access.RoleDefinition, text string) (access.RoleDefinition, bool) {
	for _, matches := range []func(access.RoleDefinition) bool{
		func(r access.RoleDefinition) bool { return strconv.FormatInt(int64(r.ID), 10) == text },
		func(r access.RoleDefinition) bool { return spelling.Fold(r.Name) == spelling.Fold(text) },
	} {
		if i := slices.IndexFunc(all, matches); i >= 0 {
			return all[i], true
		}
	}
	return access.RoleDefinition{}, false
}

// explainChange returns the error of a command that changes a project, a group or a role.
func explainChange(err error) error {
	if apierror.KindOf(err) == apierror.Validation {
		return exitstatus.Errorf(exitstatus.Rejected, "%s", apierror.From(err).Message)
	}
	return exitstatus.Explain(err)
}
