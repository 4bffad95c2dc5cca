package project

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// maxGrants is the maximum number of accounts and groups that get roles in a project with one request, and of custom
// roles that are given: each is an action of the transaction.
const maxGrants = 90

// accessData is who has which roles in a project, in the data of events.
type accessData struct {
	Users  []grantData `json:"users"`
	Groups []grantData `json:"groups"`
}

type grantData struct {
	ID    int64   `json:"id"`
	Roles []int64 `json:"roles"`
}

func newAccessData(p *access.Project) accessData {
	return accessData{grantsOf(p.Users), grantsOf(p.Groups)}
}

func grantsOf(roles map[int64][]access.Role) []grantData {
	list := []grantData{}
	for _, id := range slices.Sorted(maps.Keys(roles)) {
		list = append(list, grantData{id, roleIDs(roles[id])})
	}
	return list
}

func roleIDs(roles []access.Role) []int64 {
	ids := make([]int64, len(roles))
	for i, r := range roles {
		ids[i] = int64(r)
	}
	return ids
}

// UpdateAccess changes who has which roles in a project. edit changes the maps Users and Groups of a copy of the
// project. mayGive reports whether the caller may give a role. precondition receives the project; its error is
// returned. If nothing changes, UpdateAccess only reads. The kind of its error is NotFound if there is no project;
// Validation if an account, a group or a role does not exist, or the request gives too many; NoAccess if the caller may
// not give a role; or Conflict if a protected or private project would have no Owner.
func (s *Store) UpdateAccess(
	ctx context.Context, id string, edit func(*access.Project),
	mayGive func(context.Context, *access.Project, access.RoleDefinition) error, precondition Precondition,
) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := precondition(old); err != nil {
			return nil, err
		}
		next := edited(old, edit)
		if reflect.DeepEqual(newAccessData(old), newAccessData(next)) {
			return nil, nil
		}
		var actions dynamo.Actions
		if err := s.give(ctx, &actions, old, next, mayGive); err != nil {
			return nil, err
		}
		err = s.replaceAccess(ctx, &actions, old, next)
		return actions.List(), err
	}, nil)
	if err != nil {
		return fmt.Errorf("change the access to the project %q: %w", id, err)
	}
	return nil
}

// edited returns a project as it is after edit has changed the maps Users and Groups of a copy.
func edited(old *access.Project, edit func(*access.Project)) *access.Project {
	next := *old
	next.Users, next.Groups = tidied(old.Users), tidied(old.Groups)
	edit(&next)
	next.Users, next.Groups = tidied(next.Users), tidied(next.Groups)
	return &next
}

// replaceAccess adds the actions that write who has which roles in a project, and record it.
func (s *Store) replaceAccess(ctx context.Context, actions *dynamo.Actions, old, next *access.Project) error {
	return s.replace(ctx, actions, old, next, unchanged(old), eventlog.ProjectAccessUpdated, newAccessData(next),
		newAccessData(old))
}

// PlanEnd adds the two actions that end roles of accounts and groups that do not exist after the transaction, and record
// it. edit takes them from the maps Users and Groups of a copy of the project.
func (s *Store) PlanEnd(
	ctx context.Context, actions *dynamo.Actions, old *access.Project, edit func(*access.Project),
) error {
	return s.replaceAccess(ctx, actions, old, edited(old, edit))
}

// End ends roles as PlanEnd does, in a transaction of its own. It does nothing if there is no such project, or nothing
// changes.
func (s *Store) End(ctx context.Context, id string, edit func(*access.Project)) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.access.Project(ctx, id)
		if err != nil || old == nil || reflect.DeepEqual(newAccessData(old), newAccessData(edited(old, edit))) {
			return nil, err
		}
		var actions dynamo.Actions
		err = s.PlanEnd(ctx, &actions, old, edit)
		return actions.List(), err
	}, nil)
	if err != nil {
		return fmt.Errorf("end roles in the project %q: %w", id, err)
	}
	return nil
}

// AnyRole is a mayGive of UpdateAccess that permits every role.
func AnyRole(context.Context, *access.Project, access.RoleDefinition) error { return nil }

// tidied returns the roles of accounts or groups: each role once, ascending, without accounts that have none.
func tidied(all map[int64][]access.Role) map[int64][]access.Role {
	result := map[int64][]access.Role{}
	for id, roles := range all {
		if len(roles) > 0 {
			result[id] = slices.Compact(slices.Sorted(slices.Values(roles)))
		}
	}
	return result
}

// give checks what a change gives, and adds the conditions under which it may: that the accounts, groups and custom roles
// exist, and that the project has an Owner.
func (s *Store) give(
	ctx context.Context, actions *dynamo.Actions, old, next *access.Project,
	mayGive func(context.Context, *access.Project, access.RoleDefinition) error,
) error {
	users, userRoles := given(old.Users, next.Users)
	groups, groupRoles := given(old.Groups, next.Groups)
	roles := slices.Compact(slices.Sorted(slices.Values(slices.Concat(userRoles, groupRoles))))
	if n := len(users) + len(groups) + len(roles); n > maxGrants {
		return apierror.Errorf(apierror.Validation,
			"One request can give at most %d accounts, groups and roles; it gives %d. Send several requests.", maxGrants, n)
	}
	if err := s.giveRoles(ctx, actions, old, roles, mayGive); err != nil {
		return err
	}
	accounts, err := s.users.Accounts(ctx, users)
	if err != nil {
		return err
	}
	for _, id := range users {
		if _, ok := accounts[id]; !ok {
			return apierror.Errorf(apierror.Validation, "There is no person and no service account with the id %d.", id)
		}
		actions.Add(actionMember, s.users.Exists(id))
	}
	for _, id := range groups {
		g, ok, err := s.access.Group(ctx, id)
		if err != nil {
			return err
		}
		if !ok {
			return apierror.Errorf(apierror.Validation, "There is no group with the id %d.", id)
		}
		actions.Add(actionMember, s.groupExists(g))
	}
	return s.owners.Keep(ctx, actions, ownership.Change{Project: next})
}

// given returns who gets a role that they did not have, and these roles.
func given(old, next map[int64][]access.Role) (ids []int64, roles []access.Role) {
	for _, id := range slices.Sorted(maps.Keys(next)) {
		added := slices.DeleteFunc(slices.Clone(next[id]), func(r access.Role) bool { return slices.Contains(old[id], r) })
		if len(added) > 0 {
			ids, roles = append(ids, id), append(roles, added...)
		}
	}
	return ids, roles
}

// giveRoles checks the roles that a change gives, and adds the conditions that the custom ones exist.
func (s *Store) giveRoles(
	ctx context.Context, actions *dynamo.Actions, p *access.Project, roles []access.Role,
	mayGive func(context.Context, *access.Project, access.RoleDefinition) error,
) error {
	if len(roles) == 0 {
		return nil
	}
	all, err := s.projectRoles(ctx)
	if err != nil {
		return err
	}
	for _, id := range roles {
		i := slices.IndexFunc(all, func(r access.RoleDefinition) bool { return r.ID == id })
		if i < 0 {
			return apierror.Errorf(apierror.Validation, "There is no project role with the id %d.", int64(id))
		}
		if err := mayGive(ctx, p, all[i]); err != nil {
			return err
		}
		if id.IsCustom() {
			actions.Add(actionRole, s.access.AssignRole(id))
		}
	}
	return nil
}

// projectRoles returns the roles that accounts and groups can have in projects, ordered by id.
func (s *Store) projectRoles(ctx context.Context) ([]access.RoleDefinition, error) {
	custom, err := s.access.Roles(ctx)
	all := append(access.FixedRoles(), custom...)
	return slices.DeleteFunc(all, func(r access.RoleDefinition) bool {
		return r.Type != access.ProjectType && r.Type != access.CustomType
	}), err
}

// groupExists returns the condition that a group exists and has not changed since it was read.
func (s *Store) groupExists(g accesstable.Group) types.TransactWriteItem {
	return dynamo.CheckItem(s.table(), accesstable.GroupKey(g.ID), eventlog.ExistsWithLast(accesstable.Hash, g.LastEvent))
}
