package transfer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/spelling"
)

// Role is a custom role.
type Role struct {
	Name        string          `json:"name"`
	Type        access.RoleType `json:"type"`
	Description string          `json:"description"`
	Permissions []Permission    `json:"permissions"`
}

// Permission is a permission of a role.
type Permission struct {
	Name        access.Permission `json:"name"`
	Environment string            `json:"environment,omitempty"`
}

// Group is a group. Accounts are named as Account.id does.
type Group struct {
	Name        string   `json:"name"`
	Description *string  `json:"description"`
	Mappings    []string `json:"mappingsSSO"`
	RootRole    *string  `json:"rootRole"` // its name; nil: none
	Members     []string `json:"members"`  // accounts, without those by an ID token
	CreatedAt   *string  `json:"createdAt"`
}

// Grant is the roles that an account or a group has in a project.
type Grant struct {
	Account string   `json:"account,omitempty"` // as Account.id names it; empty: a group
	Group   string   `json:"group,omitempty"`   // its name
	Roles   []string `json:"roles"`             // names
}

// grantee returns how remarks name the account or the group.
func (g Grant) grantee() string { return cmp.Or(g.Account, "the group "+g.Group) }

func fromRole(r access.RoleDefinition) Role {
	shown := Role{Name: r.Name, Type: r.Type, Description: r.Description, Permissions: []Permission{}}
	for _, p := range r.Permissions {
		shown.Permissions = append(shown.Permissions, Permission{p.Permission, p.Environment})
	}
	return shown
}

func (r Role) definition() access.RoleDefinition {
	stored := access.RoleDefinition{Name: r.Name, Type: r.Type, Description: r.Description}
	for _, p := range r.Permissions {
		stored.Permissions = append(stored.Permissions, access.RolePermission{Permission: p.Name, Environment: p.Environment})
	}
	return stored
}

// names are the names in documents of what has ids here.
type names struct {
	roles    map[access.Role]string
	accounts map[int64]string
	groups   map[int64]string
}

func (n names) group(g accesstable.Group) Group {
	shown := Group{
		Name: g.Name, Description: g.Description, Mappings: append([]string{}, g.Mappings...), Members: []string{},
		CreatedAt: datetime.FormatOptional(g.CreatedAt),
	}
	if name, ok := n.roles[g.RootRole]; ok {
		shown.RootRole = &name
	}
	for _, id := range g.Members {
		if name, ok := n.accounts[id]; ok {
			shown.Members = append(shown.Members, name)
		}
	}
	slices.Sort(shown.Members)
	return shown
}

// grants returns who has which roles in a project: accounts, then groups, each ordered by name. What does not exist any
// more is left out.
func (n names) grants(p *access.Project) []Grant {
	grants := []Grant{}
	add := func(g Grant, roles []access.Role) {
		for _, r := range roles {
			if name, ok := n.roles[r]; ok {
				g.Roles = append(g.Roles, name)
			}
		}
		if g.Roles != nil {
			grants = append(grants, g)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.Users)) {
		if name, ok := n.accounts[id]; ok {
			add(Grant{Account: name}, p.Users[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.Groups)) {
		if name, ok := n.groups[id]; ok {
			add(Grant{Group: name}, p.Groups[id])
		}
	}
	slices.SortFunc(grants, func(a, b Grant) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Account, b.Account))
	})
	return grants
}

// readAccess adds the custom roles, the groups and who has which roles in projects to a document that has the projects.
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

// prepareRole never changes a role that exists. Permissions that a role cannot have here are left out.
func prepareRole(r Role, old *Role, environments map[string]Environment) (Role, remarks, error) {
	var about remarks
	about.cut(&r.Description, "its description", maxDescription)
	next := Role{Name: strings.TrimSpace(r.Name), Type: r.Type, Description: r.Description, Permissions: []Permission{}}
	for _, p := range r.Permissions {
		one := Role{Name: "role", Type: r.Type, Permissions: []Permission{p}}.definition()
		_, exists := environments[p.Environment]
		switch err := role.Check(&one); {
		case r.Type != access.CustomType && r.Type != access.RootCustomType: // which the check of the role reports
		case err != nil:
			about.note("its permission %s was left out: %v", string(p.Name), err)
		case p.Environment != "" && !exists:
			about.note("its permission %s was left out: the environment %.100q does not exist here", string(p.Name), p.Environment)
		default:
			next.Permissions = append(next.Permissions, p)
		}
	}
	definition := next.definition()
	if err := role.Check(&definition); err != nil {
		return next, about, err
	}
	next = fromRole(definition)
	if old == nil {
		return next, about, nil
	}
	properties, err := differing(next, *old)
	if len(properties) > 0 {
		about.note("it exists with other properties, and was not changed: %s", strings.Join(properties, ", "))
	}
	return *old, about, err
}

// maxDescription is the maximum number of characters of the description of a role or a group.
const maxDescription = 1000

// readRole returns the role with a name, which another process has created. The kind of the error is Conflict if its
// name differs in letter case.
func (i Installation) readRole(ctx context.Context, name string) (Role, error) {
	all, err := i.Roles.List(ctx)
	if err != nil {
		return Role{}, err
	}
	for _, r := range all {
		if r.Name == name && r.ID.IsCustom() {
			return fromRole(r), nil
		}
		if spelling.Fold(r.Name) == spelling.Fold(name) {
			return Role{}, apierror.New(apierror.Conflict, "Another role has the name.")
		}
	}
	return Role{}, apierror.Errorf(apierror.NotFound, "There is no role with the name %q.", apierror.Echo(name))
}

// importAccounts creates the accounts that are missing. Of Unleash, these are people with an e-mail address, and Admins
// only with Options.Admins.
func (n *rights) importAccounts(ctx context.Context, r *Report) error {
	accounts := slices.DeleteFunc(slices.Clone(n.document.Accounts), func(a Account) bool {
		reason := ""
		switch {
		case !n.document.Kept || n.accounts[a.id()]:
		case a.Kind == user.Person && a.Email == nil:
			reason = "it was not created, because it has no e-mail address"
		case a.Role == access.RoleAdmin.String() && !n.options.Admins:
			reason = "it was not created, because it is an Admin: use --admins"
		}
		if reason != "" {
			r.Accounts.add(a.id(), remarks{notes: []string{reason}})
		}
		return reason != ""
	})
	merge := merge[Account]{
		id: Account.id,
		prepare: func(a Account, old *Account) (Account, remarks, error) {
			return prepareAccount(a, old, n.Issuer, n.roles)
		},
		create: n.createAccount, read: n.readAccount,
	}
	known, err := merge.run(ctx, n.options, "accounts", n.stored.Accounts, accounts, &r.Accounts)
	for id := range known {
		n.newAccounts[id] = !n.accounts[id]
		n.accounts[id] = true
	}
	return err
}

// countPeople reports the people who are not imported.
func (n *rights) countPeople(r *Report) {
	var missing int64
	for _, a := range n.document.Accounts {
		if !n.accounts[a.id()] {
			missing++
		}
	}
	if missing > 0 {
		r.NotImported = append(r.NotImported, Other{"people (--people)", &missing})
	}
}

// importGroups creates the groups that are missing, and adds accounts that were created to the others.
func (n *rights) importGroups(ctx context.Context, s *Section) error {
	for _, g := range n.stored.Groups {
		n.groups[g.Name] = true
	}
	merge := merge[Group]{
		id: func(g Group) string { return g.Name }, prepare: n.prepareGroup, create: n.createGroup, update: n.addMembers,
		read: n.readGroup,
	}
	known, err := merge.run(ctx, n.options, "groups", n.stored.Groups, n.document.Groups, s)
	for name := range known {
		n.newGroups[name] = !n.groups[name]
		n.groups[name] = true
	}
	return err
}

// prepareGroup returns a group with the members that exist. To a group that exists, only accounts are added that the
// import has created.
func (n *rights) prepareGroup(g Group, old *Group) (Group, remarks, error) {
	var about remarks
	g.Name, g.Mappings = strings.TrimSpace(g.Name), append([]string{}, g.Mappings...)
	members, missing := []string{}, []string{}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(g.Members))) {
		switch {
		case n.accounts[id]:
			members = append(members, id)
		default:
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		about.note("these members do not exist here: %s", strings.Join(missing, ", "))
	}
	if old != nil {
		return n.prepareKnownGroup(g, *old, members, about)
	}
	about.cutOptional(&g.Description, "its description", maxDescription)
	g.Members = members
	var err error
	if g.CreatedAt, err = normalTime(g.CreatedAt); err != nil {
		return g, about, err
	}
	if g.CreatedAt == nil {
		g.CreatedAt = new(datetime.Format(n.Now()))
	}
	if g.RootRole != nil {
		t := n.roles[*g.RootRole]
		switch {
		case t != access.RootType && t != access.RootCustomType:
			about.note("its root role %.100q was left out: it does not exist here", *g.RootRole)
			g.RootRole = nil
		case *g.RootRole == access.RoleAdmin.String() && n.document.Kept && !n.options.Admins:
			about.note("its root role Admin was left out: use --admins")
			g.RootRole = nil
		default:
			about.note("its members have the role %s", *g.RootRole)
		}
	}
	if len(g.Mappings) > 0 {
		about.note("people whose ID tokens have one of these values are members: %s", strings.Join(g.Mappings, ", "))
	}
	return g, about, group.Check(accesstable.Group{Name: g.Name, Description: g.Description, Mappings: g.Mappings})
}

func (n *rights) prepareKnownGroup(g, old Group, members []string, about remarks) (Group, remarks, error) {
	g.Members, g.CreatedAt = old.Members, old.CreatedAt
	properties, err := differing(g, old)
	if len(properties) > 0 {
		about.note("it exists with other properties, and was not changed: %s", strings.Join(properties, ", "))
	}
	var left []string
	next := old
	next.Members = slices.Clone(old.Members)
	for _, id := range members {
		switch {
		case slices.Contains(old.Members, id):
		case n.newAccounts[id]:
			next.Members = append(next.Members, id)
		default:
			left = append(left, id)
		}
	}
	slices.Sort(next.Members)
	if len(left) > 0 {
		about.note("these accounts are not members here, and were not added: %s", strings.Join(left, ", "))
	}
	return next, about, err
}

// maxAtOnce is the number of members, or of accounts and groups with roles in a project, that one transaction adds.
const maxAtOnce = 30

// accountIDs returns the ids of all accounts by their names in documents.
func (n *rights) accountIDs(ctx context.Context) (map[string]int64, error) {
	all, err := n.Users.List(ctx)
	ids := map[string]int64{}
	for _, u := range all {
		ids[fromAccount(u, nil).id()] = u.ID
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

func (n *rights) createGroup(ctx context.Context, g Group) error {
	roles, err := n.roleIDs(ctx)
	if err != nil {
		return err
	}
	next := accesstable.Group{
		Name: g.Name, Description: g.Description, Mappings: g.Mappings, CreatedAt: parsed(g.CreatedAt),
	}
	if g.RootRole != nil {
		next.RootRole = roles[*g.RootRole]
	}
	if _, err := n.Groups.Create(ctx, next); err != nil {
		return err
	}
	return n.addMembers(ctx, g)
}

// addMembers makes accounts members of the group with a name.
func (n *rights) addMembers(ctx context.Context, g Group) error {
	accounts, err := n.accountIDs(ctx)
	if err != nil {
		return err
	}
	all, err := n.Groups.List(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(other accesstable.Group) bool { return other.Name == g.Name })
	if i < 0 {
		return apierror.Errorf(apierror.NotFound, "There is no group with the name %q.", apierror.Echo(g.Name))
	}
	var added []int64
	for _, name := range g.Members {
		if id, ok := accounts[name]; ok && !slices.Contains(all[i].Members, id) {
			added = append(added, id)
		}
	}
	for some := range slices.Chunk(added, maxAtOnce) {
		_, err := n.Groups.Update(ctx, all[i].ID, func(stored *accesstable.Group) error {
			members := slices.Concat(stored.Members, some)
			slices.Sort(members)
			stored.Members = slices.Compact(members)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readGroup returns the group with a name, which another process has created. The kind of the error is Conflict if its
// name differs in letter case.
func (n *rights) readGroup(ctx context.Context, name string) (Group, error) {
	d, _, err := n.read(ctx)
	if err != nil {
		return Group{}, err
	}
	for _, g := range d.Groups {
		if g.Name == name {
			return g, nil
		}
		if spelling.Fold(g.Name) == spelling.Fold(name) {
			return Group{}, apierror.New(apierror.Conflict, "Another group has the name.")
		}
	}
	return Group{}, apierror.Errorf(apierror.NotFound, "There is no group with the name %q.", apierror.Echo(name))
}

// importAccess gives roles in projects. created are the projects that the import has created.
func (n *rights) importAccess(ctx context.Context, known map[string]Project, s *Section) error {
	stored := map[string]Project{}
	for _, p := range n.stored.Projects {
		stored[p.ID] = p
		n.owned[p.ID] = hasOwner(p.Access)
	}
	for _, p := range n.document.Projects {
		if _, exists := known[p.ID]; !exists || s.skips(p.ID) {
			continue
		}
		_, existed := stored[p.ID]
		give, about := n.planAccess(p, stored[p.ID], !existed)
		if len(give) > 0 {
			if err := n.give(ctx, p.ID, give); err != nil {
				return fmt.Errorf("import the access to the project %q: %w", p.ID, err)
			}
			n.owned[p.ID] = n.owned[p.ID] || hasOwner(give)
			s.update(p.ID, "access")
		}
		s.add(p.ID, about)
	}
	return nil
}

func hasOwner(grants []Grant) bool {
	return slices.ContainsFunc(grants, func(g Grant) bool { return slices.Contains(g.Roles, access.RoleOwner.String()) })
}

// planAccess returns what is given in a project, and remarks about that and about what is not.
func (n *rights) planAccess(p, stored Project, isNew bool) (give []Grant, about remarks) {
	var given, missing, left []string
	for _, g := range p.Access {
		here := slices.IndexFunc(stored.Access, func(other Grant) bool {
			return other.Account == g.Account && other.Group == g.Group
		})
		var has, unknown []string
		if here >= 0 {
			has = stored.Access[here].Roles
		}
		roles := slices.DeleteFunc(slices.Clone(g.Roles), func(name string) bool {
			t := n.roles[name]
			isUnknown := t != access.ProjectType && t != access.CustomType
			if isUnknown {
				unknown = append(unknown, name)
			}
			return isUnknown || slices.Contains(has, name)
		})
		if len(unknown) > 0 {
			about.note("roles of %s in it do not exist here: %s", g.grantee(), strings.Join(unknown, ", "))
		}
		if len(roles) == 0 {
			continue
		}
		text := g.grantee() + ": " + strings.Join(roles, ", ")
		exists, created := n.accounts[g.Account], n.newAccounts[g.Account]
		if g.Account == "" {
			exists, created = n.groups[g.Group], n.newGroups[g.Group]
		}
		switch {
		case !exists:
			missing = append(missing, text)
		case isNew || created:
			give, given = append(give, Grant{g.Account, g.Group, roles}), append(given, text)
		default:
			left = append(left, text)
		}
	}
	for _, list := range []struct {
		text  string
		names []string
	}{
		{"these get roles in it: ", given},
		{"these have roles in it and do not exist here: ", missing},
		{"these have roles in it that they do not have here, and were not given: ", left},
	} {
		if len(list.names) > 0 {
			about.note("%s%s", list.text, strings.Join(list.names, "; "))
		}
	}
	return give, about
}

// give gives roles in a project.
func (n *rights) give(ctx context.Context, id string, grants []Grant) error {
	if n.options.DryRun {
		return nil
	}
	accounts, err := n.accountIDs(ctx)
	if err != nil {
		return err
	}
	roles, err := n.roleIDs(ctx)
	if err != nil {
		return err
	}
	all, err := n.Groups.List(ctx)
	if err != nil {
		return err
	}
	groups := map[string]int64{}
	for _, g := range all {
		groups[g.Name] = g.ID
	}
	for some := range slices.Chunk(grants, maxAtOnce) {
		err := n.Projects.UpdateAccess(ctx, id, func(p *access.Project) {
			for _, g := range some {
				to, grantee := p.Users, accounts[g.Account]
				if g.Account == "" {
					to, grantee = p.Groups, groups[g.Group]
				}
				for _, name := range g.Roles {
					to[grantee] = append(slices.Clone(to[grantee]), roles[name])
				}
			}
		}, project.AnyRole)
		if err != nil {
			return err
		}
	}
	return nil
}
