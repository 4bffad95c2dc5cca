package operator

import (
	"context"
	"slices"
	"strings"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/datetime"
)

// Group is a group of accounts.
type Group struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name"`
	Description *string  `json:"description"`
	Mappings    []string `json:"mappingsSSO"`
	RootRole    *int64   `json:"rootRole"`
	Members     []int64  `json:"members"` // ids of accounts, without those by an ID token
}

func newGroup(g accesstable.Group) Group {
	shown := Group{
		ID: g.ID, Name: g.Name, Description: g.Description,
		Mappings: append([]string{}, g.Mappings...), Members: append([]int64{}, g.Members...),
	}
	if g.RootRole != 0 {
		shown.RootRole = new(int64(g.RootRole))
	}
	return shown
}

// Groups returns all groups, ordered by id.
func (o *Operator) Groups(ctx context.Context) ([]Group, error) {
	all, err := o.groups.List(ctx)
	if err != nil {
		return nil, err
	}
	groups := make([]Group, len(all))
	for i, g := range all {
		groups[i] = newGroup(g)
	}
	return groups, nil
}

// GroupChange contains the new values of a group. nil means no change; for a new group, none.
type GroupChange struct {
	Name        *string
	Description *string // empty: none
	RootRole    *string // the name or the id of a root role; empty: none
	Mappings    *[]string
}

// edit returns the function that makes the change of a group.
func (o *Operator) edit(ctx context.Context, c GroupChange) (func(*accesstable.Group) error, error) {
	var role access.RoleDefinition
	if c.RootRole != nil && *c.RootRole != "" {
		var err error
		if role, err = o.RootRole(ctx, *c.RootRole); err != nil {
			return nil, err
		}
	}
	return func(g *accesstable.Group) error {
		if c.Name != nil {
			g.Name = strings.TrimSpace(*c.Name)
		}
		if c.Description != nil {
			g.Description = c.Description
			if *c.Description == "" {
				g.Description = nil
			}
		}
		if c.RootRole != nil {
			g.RootRole = role.ID
		}
		assign(&g.Mappings, c.Mappings)
		if err := group.Check(*g); err != nil {
			return exitstatus.Errorf(exitstatus.Usage, "the group %q is not valid: %v", g.Name, err)
		}
		return nil
	}, nil
}

// AddGroup adds a group without members.
func (o *Operator) AddGroup(ctx context.Context, change GroupChange) (Group, error) {
	next := accesstable.Group{CreatedAt: new(datetime.Milliseconds(o.now()))}
	edit, err := o.edit(ctx, change)
	if err != nil {
		return Group{}, err
	}
	if err := edit(&next); err != nil {
		return Group{}, err
	}
	created, err := o.groups.Create(ctx, next)
	return newGroup(created), explainChange(err)
}

// UpdateGroup changes a group. changed is false if it already was as change makes it.
func (o *Operator) UpdateGroup(ctx context.Context, id int64, change GroupChange) (g Group, changed bool, err error) {
	edit, err := o.edit(ctx, change)
	if err != nil {
		return Group{}, false, err
	}
	stored, err := o.groups.Get(ctx, id)
	if err != nil {
		return Group{}, false, exitstatus.Explain(err)
	}
	tried := stored
	if err := edit(&tried); err != nil {
		return Group{}, false, err
	}
	updated, err := o.groups.Update(ctx, id, edit)
	return newGroup(updated), updated.LastEvent != stored.LastEvent, explainChange(err)
}

// ChangeMembers adds accounts to a group, and removes others from it.
func (o *Operator) ChangeMembers(ctx context.Context, id int64, add, remove []int64) (Group, error) {
	g, err := o.groups.Update(ctx, id, func(g *accesstable.Group) error {
		members := slices.DeleteFunc(slices.Concat(g.Members, add), func(member int64) bool {
			return slices.Contains(remove, member)
		})
		slices.Sort(members)
		g.Members = slices.Compact(members)
		return nil
	})
	return newGroup(g), explainChange(err)
}

// Group returns a group.
func (o *Operator) Group(ctx context.Context, id int64) (Group, error) {
	g, err := o.groups.Get(ctx, id)
	return newGroup(g), explainChange(err)
}

// DeleteGroup deletes a group.
func (o *Operator) DeleteGroup(ctx context.Context, id int64) error {
	return explainChange(o.groups.Delete(ctx, id, func(accesstable.Group) error { return nil }))
}

// Role is a role with the names of its permissions, each with ":" and its environment if it has one.
type Role struct {
	ID          int64           `json:"id"`
	Name        string          `json:"name"`
	Type        access.RoleType `json:"type"`
	Description string          `json:"description"`
	Permissions []string        `json:"permissions"`
}

func newRole(r access.RoleDefinition) Role {
	shown := Role{int64(r.ID), r.Name, r.Type, r.Description, []string{}}
	for _, p := range r.Permissions {
		text := string(p.Permission)
		if p.Environment != "" {
			text += ":" + p.Environment
		}
		shown.Permissions = append(shown.Permissions, text)
	}
	return shown
}

// Roles returns all roles, ordered by id.
func (o *Operator) Roles(ctx context.Context) ([]Role, error) {
	all, err := o.roles.List(ctx)
	if err != nil {
		return nil, err
	}
	roles := make([]Role, len(all))
	for i, r := range all {
		roles[i] = newRole(r)
	}
	return roles, nil
}

// Role returns a role.
func (o *Operator) Role(ctx context.Context, id int64) (Role, error) {
	r, err := o.roles.Get(ctx, access.Role(id))
	return newRole(r), explainChange(err)
}

// DeleteRole deletes a custom role that nobody has.
func (o *Operator) DeleteRole(ctx context.Context, id int64) error {
	return explainChange(o.roles.Delete(ctx, access.Role(id), func(access.RoleDefinition) error { return nil }))
}

// RoleChange contains the new values of a custom role. nil means no change.
type RoleChange struct {
	Name, Description *string
	Permissions       *[]string // each with ":" and its environment if it has one
}

func (c RoleChange) apply(r *access.RoleDefinition) error {
	if c.Name != nil {
		r.Name = strings.TrimSpace(*c.Name)
	}
	assign(&r.Description, c.Description)
	if c.Permissions != nil {
		r.Permissions = nil
		for _, text := range *c.Permissions {
			name, environment, _ := strings.Cut(text, ":")
			r.Permissions = append(r.Permissions, access.RolePermission{
				Permission: access.Permission(name), Environment: environment,
			})
		}
	}
	return role.Check(r)
}

// CreateRole creates a custom role of a type.
func (o *Operator) CreateRole(ctx context.Context, t access.RoleType, change RoleChange) (Role, error) {
	next := access.RoleDefinition{Type: t}
	if err := change.apply(&next); err != nil {
		return Role{}, exitstatus.Errorf(exitstatus.Usage, "the role %q is not valid: %v", next.Name, err)
	}
	if err := o.checkEnvironments(ctx, next); err != nil {
		return Role{}, err
	}
	created, err := o.roles.Create(ctx, next)
	return newRole(created), explainChange(err)
}

// UpdateRole changes a custom role. changed is false if it already was as change makes it.
func (o *Operator) UpdateRole(ctx context.Context, id int64, change RoleChange) (r Role, changed bool, err error) {
	stored, err := o.roles.Get(ctx, access.Role(id))
	if err != nil {
		return Role{}, false, exitstatus.Explain(err)
	}
	next := stored
	if err := change.apply(&next); stored.ID.IsCustom() && err != nil {
		return Role{}, false, exitstatus.Errorf(exitstatus.Usage, "the role %q is not valid: %v", stored.Name, err)
	}
	if err := o.checkEnvironments(ctx, next); err != nil {
		return Role{}, false, err
	}
	updated, err := o.roles.Update(ctx, access.Role(id), change.apply)
	return newRole(updated), updated.LastEvent != stored.LastEvent, explainChange(err)
}

// checkEnvironments returns an error if an environment in which a role has permissions does not exist.
func (o *Operator) checkEnvironments(ctx context.Context, r access.RoleDefinition) error {
	for _, name := range r.Environments() {
		if err := o.CheckEnvironment(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// RootRole returns the root role with a name, in any letter case, or an id.
func (o *Operator) RootRole(ctx context.Context, text string) (access.RoleDefinition, error) {
	all, err := o.roles.RootRoles(ctx)
	if err != nil {
		return access.RoleDefinition{}, err
	}
	return findRootRole(all, text)
}

// findRootRole returns the root role with a name, in any letter case, or an id.
func findRootRole(all []access.RoleDefinition, text string) (access.RoleDefinition, error) {
	r, ok := findRole(all, text)
	if !ok {
		return r, exitstatus.Errorf(exitstatus.Usage,
			"%q is not a root role: use Admin, Editor, Viewer, or a name or an id that `toggleadmin roles list` shows", text)
	}
	return r, nil
}

// RootRoleNames returns the names of the root roles.
func (o *Operator) RootRoleNames(ctx context.Context) (map[access.Role]string, error) {
	all, err := o.roles.RootRoles(ctx)
	return namesOf(all), err
}

// namesOf returns the names of roles.
func namesOf(all []access.RoleDefinition) map[access.Role]string {
	names := make(map[access.Role]string, len(all))
	for _, r := range all {
		names[r.ID] = r.Name
	}
	return names
}
