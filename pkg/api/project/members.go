package project

import (
	"context"
	"slices"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
)

// directory is what is shown of the accounts and groups that have roles in projects.
type directory struct {
	groups   map[int64]accesstable.Group
	accounts map[int64]user.User // the Owners that exist
}

// readDirectory reads the groups, and the accounts that are Owners of one of the projects.
func (s *Store) readDirectory(ctx context.Context, projects []*access.Project) (directory, error) {
	if !slices.ContainsFunc(projects, func(p *access.Project) bool { return len(p.Users)+len(p.Groups) > 0 }) {
		return directory{}, nil
	}
	groups, err := s.groups(ctx)
	if err != nil {
		return directory{}, err
	}
	d := directory{groups: groups}
	var owners []int64
	for _, p := range projects {
		accounts, _ := p.Owners()
		owners = append(owners, accounts...)
	}
	slices.Sort(owners)
	d.accounts, err = s.users.Accounts(ctx, slices.Compact(owners))
	return d, err
}

// groups returns all groups by id.
func (s *Store) groups(ctx context.Context) (map[int64]accesstable.Group, error) {
	all, err := s.access.Groups(ctx)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]accesstable.Group, len(all))
	for _, g := range all {
		byID[g.ID] = g
	}
	return byID, nil
}

// members returns the number of people and service accounts that have a role in a project, directly or by a group.
func (d directory) members(p *access.Project) int {
	members := map[int64]bool{}
	for id, roles := range p.Users {
		if len(roles) > 0 {
			members[id] = true
		}
	}
	for id, roles := range p.Groups {
		if len(roles) == 0 {
			continue
		}
		for _, member := range d.groups[id].Members {
			members[member] = true
		}
	}
	return len(members)
}

// owners returns the Owners of a project: accounts, then groups. Without one, it is the system.
func (d directory) owners(p *access.Project) []owner {
	var all []owner
	accounts, groups := p.Owners()
	for _, id := range accounts {
		if u, ok := d.accounts[id]; ok {
			all = append(all, owner{"user", u.Name, u.Email})
		}
	}
	for _, id := range groups {
		if g, ok := d.groups[id]; ok {
			all = append(all, owner{Type: "group", Name: g.Name})
		}
	}
	if all == nil {
		return []owner{{Type: "system"}}
	}
	return all
}
