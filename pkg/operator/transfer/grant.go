package transfer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/access"
)

// Grant is the roles that an account or a group has in a project.
type Grant struct {
	Account string   `json:"account,omitempty"` // as Account.id names it; empty: a group
	Group   string   `json:"group,omitempty"`   // its name
	Roles   []string `json:"roles"`             // names
}

// grantee returns how remarks name the account or the group.
func (g Grant) grantee() string { return cmp.Or(g.Account, "the group "+g.Group) }

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
	groups, err := n.groupIDs(ctx)
	if err != nil {
		return err
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
		}, project.AnyRole, project.Always)
		if err != nil {
			return err
		}
	}
	return nil
}
