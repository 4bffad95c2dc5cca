package group

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// Check compares the members of groups with the groups of accounts, the directory, the reserved names and the counter
// of ids with the groups, and the roles in projects with the accounts and groups that exist. A deletion that was
// interrupted leaves differences, and so does the restore of a table. The repairs take away what only one side has, so
// that nobody gets rights by them. It is a consistency.Check.
func (s *Store) Check(ctx context.Context) (string, []consistency.Inconsistency, error) {
	groups, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	accounts, err := s.users.List(ctx)
	if err != nil {
		return "", nil, err
	}
	projects, err := s.access.Projects(ctx)
	if err != nil {
		return "", nil, err
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return "", nil, err
	}
	members := map[int64][]int64{} // by the id of the group
	for _, g := range groups {
		members[g.ID] = g.Members
	}
	groupsOf := map[int64][]int64{} // by the id of the account
	for _, u := range accounts {
		groupsOf[u.ID] = u.Groups
	}
	found := slices.Concat(s.checkAccounts(accounts, members), s.checkMembers(groups, groupsOf),
		s.checkGrants(projects, members, groupsOf))
	if !maps.EqualFunc(directory.Groups, entries(groups), func(a, b accesstable.GroupEntry) bool {
		return a.RootRole == b.RootRole && slices.Equal(a.Mappings, b.Mappings)
	}) {
		found = append(found, consistency.Inconsistency{
			Text: "what the authorizer knows of groups differs from the groups", Repair: s.repairDirectory,
		})
	}
	reserved, err := s.checkIDs(ctx, groups)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("%d, consistent with their members and the roles in projects", len(groups)), append(found, reserved...), nil
}

// checkIDs compares the reserved names and the counter of ids with the groups.
func (s *Store) checkIDs(ctx context.Context, groups []accesstable.Group) ([]consistency.Inconsistency, error) {
	names, highest := map[string]int64{}, int64(0)
	for _, g := range groups {
		names[spelling.Fold(g.Name)] = g.ID
		highest = max(highest, g.ID)
	}
	reserved, err := s.access.CheckNames(ctx, accesstable.KindGroupName, "group", names)
	if err != nil {
		return nil, err
	}
	recorded, err := eventlog.NewReader(s.log).HighestID(ctx, eventlog.GroupCreated)
	if err != nil {
		return nil, err
	}
	counter, err := s.access.CheckCounter(ctx, accesstable.KindGroup, max(highest, recorded))
	return append(reserved, counter...), err
}

// checkAccounts finds accounts with groups whose member they are not.
func (s *Store) checkAccounts(accounts []user.User, members map[int64][]int64) (found []consistency.Inconsistency) {
	for _, u := range accounts {
		for _, id := range u.Groups {
			if slices.Contains(members[id], u.ID) {
				continue
			}
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the account %d has the group %d, whose member it is not", u.ID, id),
				Repair: func(ctx context.Context) error { return s.leave(ctx, u.ID, id) },
			})
		}
	}
	return found
}

// checkMembers finds groups with members that do not have the group, or do not exist.
func (s *Store) checkMembers(
	groups []accesstable.Group, groupsOf map[int64][]int64,
) (found []consistency.Inconsistency) {
	for _, g := range groups {
		for _, member := range g.Members {
			if slices.Contains(groupsOf[member], g.ID) {
				continue
			}
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("the group %d has the member %d, who does not have the group", g.ID, member),
				Repair: func(ctx context.Context) error {
					return apierror.IgnoreNotFound(s.removeMember(ctx, g.ID, member))
				},
			})
		}
	}
	return found
}

// removeMember removes a member from a group, also if a project would have no Owner.
func (s *Store) removeMember(ctx context.Context, id, member int64) error {
	unprotected := func(context.Context, *dynamo.Actions, ownership.Change) error { return nil }
	_, err := s.update(ctx, id, func(g *accesstable.Group) error {
		g.Members = without(g.Members, []int64{member})
		return nil
	}, unprotected)
	return err
}

// checkGrants finds roles in projects of accounts and groups that do not exist.
func (s *Store) checkGrants(
	projects []*access.Project, members, groupsOf map[int64][]int64,
) (found []consistency.Inconsistency) {
	add := func(p *access.Project, kind string, id int64, without func(*access.Project)) {
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("the %s %d, which does not exist, has roles in the project %q", kind, id, p.ID),
			Repair: func(ctx context.Context) error { return s.projects.End(ctx, p.ID, without) },
		})
	}
	for _, p := range projects {
		for _, id := range slices.Sorted(maps.Keys(p.Users)) {
			if _, exists := groupsOf[id]; !exists {
				add(p, "account", id, withoutAccount(id))
			}
		}
		for _, id := range slices.Sorted(maps.Keys(p.Groups)) {
			if _, exists := members[id]; !exists {
				add(p, "group", id, withoutGroup(id))
			}
		}
	}
	return found
}

// entries returns what the directory has of groups.
func entries(groups []accesstable.Group) map[int64]accesstable.GroupEntry {
	all := map[int64]accesstable.GroupEntry{}
	for _, g := range groups {
		all[g.ID] = accesstable.GroupEntry{RootRole: g.RootRole, Mappings: g.Mappings}
	}
	return all
}

// repairDirectory writes the groups into the directory.
func (s *Store) repairDirectory(ctx context.Context) error {
	return s.write(ctx, func(actions *dynamo.Actions) error {
		directory, err := s.access.Directory(ctx)
		if err != nil {
			return err
		}
		groups, err := s.List(ctx)
		if err != nil || reflect.DeepEqual(directory.Groups, entries(groups)) {
			return err
		}
		directory.Groups = entries(groups)
		actions.Add(actionDirectory, directory.Put(s.table))
		return nil
	})
}

// Withdraws reports whether an event about a change of a group takes a member, a value of ID tokens or the root role
// from it.
func Withdraws(e eventlog.Event) (bool, error) {
	var after, before eventData
	if err := errors.Join(json.Unmarshal(e.Data, &after), json.Unmarshal(e.PreData, &before)); err != nil {
		return false, fmt.Errorf("read the data of event %d: %w", e.ID, err)
	}
	return len(without(before.Users, after.Users)) > 0 ||
		slices.ContainsFunc(before.Mappings, func(value string) bool { return !slices.Contains(after.Mappings, value) }) ||
		before.RootRole != nil && (after.RootRole == nil || *after.RootRole != *before.RootRole), nil
}
