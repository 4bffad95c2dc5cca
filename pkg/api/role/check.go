package role

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// Check compares the custom roles with the directory, their reserved names, the counter of their ids, and the root roles of
// accounts and groups. It is a consistency.Check.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	roles, err := s.access.Roles(ctx)
	if err != nil {
		return "", nil, err
	}
	names, highest, isRoot := map[string]int64{}, int64(0), map[access.Role]bool{}
	for _, r := range roles {
		names[spelling.Fold(r.Name)] = int64(r.ID)
		highest = max(highest, int64(r.ID))
		isRoot[r.ID] = r.Type == access.RootCustomType
	}
	used, err := s.checkUse(ctx, isRoot)
	if err != nil {
		return "", nil, err
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return "", nil, err
	}
	if !maps.EqualFunc(directory.Roles, entries(roles), slices.Equal[[]access.Permission]) {
		found = append(found, consistency.Inconsistency{
			Text: "what the authorizer knows of root roles differs from the roles", Repair: s.repairDirectory,
		})
	}
	reserved, err := s.access.CheckNames(ctx, accesstable.KindRoleName, "role", names)
	if err != nil {
		return "", nil, err
	}
	recorded, err := eventlog.NewReader(s.log).HighestID(ctx, eventlog.RoleCreated)
	if err != nil {
		return "", nil, err
	}
	counter, err := s.access.CheckCounter(ctx, accesstable.KindRole, max(highest, recorded))
	if err != nil {
		return "", nil, err
	}
	summary = fmt.Sprintf("%d custom ones, consistent with their names, the counter of ids, and who has them", len(roles))
	return summary, slices.Concat(found, used, reserved, counter), nil
}

// entries returns what the directory has of roles.
func entries(roles []access.RoleDefinition) map[access.Role][]access.Permission {
	all := map[access.Role][]access.Permission{}
	for _, r := range roles {
		if r.Type == access.RootCustomType {
			all[r.ID] = r.RootPermissions()
		}
	}
	return all
}

// repairDirectory writes the roles into the directory.
func (s *Store) repairDirectory(ctx context.Context) error {
	return s.write(ctx, func(actions *dynamo.Actions) error {
		directory, err := s.access.Directory(ctx)
		if err != nil {
			return err
		}
		roles, err := s.access.Roles(ctx)
		if err != nil || maps.EqualFunc(directory.Roles, entries(roles), slices.Equal[[]access.Permission]) {
			return err
		}
		directory.Roles = entries(roles)
		actions.Add(actionDirectory, directory.Put(s.table))
		return nil
	})
}

// checkUse looks for accounts and groups whose custom root role does not exist. It gives nothing.
func (s *Store) checkUse(ctx context.Context, isRoot map[access.Role]bool) (
	found []consistency.Inconsistency, err error,
) {
	accounts, err := s.users.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range accounts {
		if u.Role.IsCustom() && !isRoot[u.Role] {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the root role %d of the account %d does not exist", int64(u.Role), u.ID),
				Advice: "give the account another role: toggleadmin users (or service-accounts) set-role ID ROLE",
			})
		}
	}
	groups, err := s.access.Groups(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if g.RootRole.IsCustom() && !isRoot[g.RootRole] {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the root role %d of the group %d does not exist", int64(g.RootRole), g.ID),
				Advice: "give the group another role, or none: toggleadmin groups update ID --no-role",
			})
		}
	}
	return found, nil
}

// Withdraws reports whether an event about a change of a role takes permissions from it.
func Withdraws(e eventlog.Event) (bool, error) {
	var after, before eventData
	if err := errors.Join(json.Unmarshal(e.Data, &after), json.Unmarshal(e.PreData, &before)); err != nil {
		return false, fmt.Errorf("read the data of event %d: %w", e.ID, err)
	}
	return slices.ContainsFunc(before.Permissions, func(p permissionData) bool {
		return !slices.Contains(after.Permissions, p)
	}), nil
}
