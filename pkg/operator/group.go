package operator

import (
	"context"
	"slices"
	"strconv"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
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

// AddGroup adds a group without members. rootRole is the name or the id of a root role; empty: none.
func (o *Operator) AddGroup(ctx context.Context, name, description, rootRole string, mappings []string) (Group, error) {
	name, err := CheckText("name", name)
	if err != nil {
		return Group{}, err
	}
	next := accesstable.Group{Name: name, Mappings: mappings, CreatedAt: new(datetime.Milliseconds(o.now()))}
	if description != "" {
		next.Description = &description
	}
	if rootRole != "" {
		if next.RootRole, err = o.RootRole(ctx, rootRole); err != nil {
			return Group{}, err
		}
	}
	created, err := o.groups.Create(ctx, next)
	return newGroup(created), explainChange(err)
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

// RootRole returns the root role with a name or an id.
func (o *Operator) RootRole(ctx context.Context, text string) (access.Role, error) {
	roles, err := o.roles.RootRoles(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range roles {
		if r.Name == text || strconv.FormatInt(int64(r.ID), 10) == text {
			return r.ID, nil
		}
	}
	return 0, exitstatus.Errorf(exitstatus.Usage, "%q is not a root role: use a name or an id that roles list shows", text)
}

// explainChange returns the error of a command that changes a group or a role.
func explainChange(err error) error {
	if apierror.KindOf(err) == apierror.Validation {
		return exitstatus.Errorf(exitstatus.Rejected, "%s", apierror.From(err).Message)
	}
	return exitstatus.Explain(err)
}
