package transfer

import (
	"context"
	"slices"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
)

// names are the names in documents of what has ids here.
type names struct {
	roles    map[access.Role]string
	accounts map[int64]string
	groups   map[int64]string
}

// readAccess adds the custom roles, the groups, who has which roles in projects and who owns toggles to a document that
// has the projects and the toggles.
func (i Installation) readAccess(
	ctx context.Context, d *Document, projects []*access.Project, accounts []user.User,
) error {
	n := names{map[access.Role]string{}, map[int64]string{}, map[int64]string{}}
	roles, err := i.Roles.List(ctx)
	if err != nil {
		return err
	}
	for _, r := range roles {
		n.roles[r.ID] = r.Name
		if r.ID.IsCustom() {
			d.Roles = append(d.Roles, fromRole(r))
		}
	}
	for _, u := range accounts {
		a := fromAccount(u, n.roles)
		n.accounts[u.ID] = a.id()
		d.Accounts = append(d.Accounts, a)
	}
	groups, err := i.Groups.List(ctx)
	if err != nil {
		return err
	}
	for _, g := range groups {
		n.groups[g.ID] = g.Name
		d.Groups = append(d.Groups, n.group(g))
	}
	for k := range d.Features {
		d.Features[k].Owner = n.owner(d.Features[k].Owner)
	}
	for k, p := range projects {
		d.Projects[k].Access = n.grants(p)
	}
	return nil
}

// withoutRights returns the document without what gives rights. Whoever can change a file could make anybody an Admin.
func (d Document) withoutRights() Document {
	d.Roles, d.Groups, d.Projects = nil, nil, slices.Clone(d.Projects)
	for k := range d.Projects {
		d.Projects[k].Access = nil
	}
	return d
}

// usedBy returns the roles and groups that access to projects refers to.
func (d Document) usedBy(projects []Project) (roles []Role, groups []Group) {
	usedRoles, usedGroups := map[string]bool{}, map[string]bool{}
	for _, p := range projects {
		for _, g := range p.Access {
			usedGroups[g.Group] = true
			for _, name := range g.Roles {
				usedRoles[name] = true
			}
		}
	}
	groups = slices.DeleteFunc(slices.Clone(d.Groups), func(g Group) bool { return !usedGroups[g.Name] })
	for _, g := range groups {
		if g.RootRole != nil {
			usedRoles[*g.RootRole] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.Roles), func(r Role) bool { return !usedRoles[r.Name] }), groups
}

// rights imports custom roles, accounts, groups, and who has which roles in projects. It gives rights only to what it
// creates, or in what it creates, so that it does not restore what was withdrawn here.
type rights struct {
	Installation
	document Document
	options  Options
	stored   Document

	roles       map[string]access.RoleType // of all roles that exist after the import, by name
	newAccounts map[string]bool
	accounts    map[string]bool // that exist after the import
	newGroups   map[string]bool
	groups      map[string]bool
	owned       map[string]bool // projects that have an Owner after the import
}

// importRights imports roles, accounts and groups.
func (i Installation) importRights(
	ctx context.Context, d Document, o Options, stored Document, environments map[string]Environment, r *Report,
) (*rights, error) {
	n := &rights{
		Installation: i, document: d, options: o, stored: stored, roles: map[string]access.RoleType{},
		newAccounts: map[string]bool{}, accounts: map[string]bool{}, newGroups: map[string]bool{}, groups: map[string]bool{},
		owned: map[string]bool{},
	}
	for _, fixed := range access.FixedRoles() {
		n.roles[fixed.Name] = fixed.Type
	}
	for _, a := range stored.Accounts {
		n.accounts[a.id()] = true
	}
	roles := merge[Role]{
		id: func(r Role) string { return r.Name },
		prepare: func(r Role, old *Role) (Role, remarks, error) {
			return prepareRole(r, old, environments)
		},
		create: func(ctx context.Context, r Role) error {
			_, err := i.Roles.Create(ctx, r.definition())
			return err
		},
		read: i.readRole,
	}
	known, err := roles.run(ctx, o, "roles", stored.Roles, d.Roles, &r.Roles)
	if err != nil {
		return n, err
	}
	for name, r := range known {
		n.roles[name] = r.Type
	}
	if o.Accounts {
		if err := n.importAccounts(ctx, r); err != nil {
			return n, err
		}
	} else if d.Kept {
		n.countPeople(r)
	}
	return n, n.importGroups(ctx, &r.Groups)
}

// accountIDs returns the ids of all accounts by their names in documents.
func (n *rights) accountIDs(ctx context.Context) (map[string]int64, error) {
	all, err := n.Users.List(ctx)
	ids := map[string]int64{}
	for _, u := range all {
		ids[fromAccount(u, nil).id()] = u.ID
	}
	return ids, err
}

// groupIDs returns the ids of all groups by their names.
func (n *rights) groupIDs(ctx context.Context) (map[string]int64, error) {
	all, err := n.Groups.List(ctx)
	ids := map[string]int64{}
	for _, g := range all {
		ids[g.Name] = g.ID
	}
	return ids, err
}

// roleIDs returns the ids of all roles by their names.
func (n *rights) roleIDs(ctx context.Context) (map[string]access.Role, error) {
	all, err := n.Roles.List(ctx)
	ids := map[string]access.Role{}
	for _, r := range all {
		ids[r.Name] = r.ID
	}
	return ids, err
}
