package transfer

import (
	"context"
	"slices"
	"strings"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// Group is a group. Accounts are named as Account.id does.
type Group struct {
	Name        string   `json:"name"`
	Description *string  `json:"description"`
	Mappings    []string `json:"mappingsSSO"`
	RootRole    *string  `json:"rootRole"` // its name; nil: none
	Members     []string `json:"members"`  // accounts, without those by an ID token
	CreatedAt   *string  `json:"createdAt"`
}

func groupName(g Group) string { return g.Name }

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

// importGroups creates the groups that are missing, and adds accounts that were created to the others.
func (n *rights) importGroups(ctx context.Context, s *Section) error {
	for _, g := range n.stored.Groups {
		n.groups[g.Name] = true
	}
	merge := merge[Group]{
		id: groupName, prepare: n.prepareGroup, create: n.createGroup, update: n.addMembers,
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
		if n.accounts[id] {
			members = append(members, id)
		} else {
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

// readGroup is merge.read of groups.
func (n *rights) readGroup(ctx context.Context, name string) (Group, error) {
	d, _, err := n.read(ctx)
	if err != nil {
		return Group{}, err
	}
	return named(d.Groups, name, groupName)
}
