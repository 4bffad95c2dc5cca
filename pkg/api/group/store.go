package group

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// Store keeps the groups in the table Access, and the groups of each account in the table Users. It is safe for
// concurrent use.
type Store struct {
	client   *dynamodb.Client
	table    string
	access   *accesstable.Reader
	users    *user.Store
	projects *project.Store
	owners   *ownership.Store
	log      *eventlog.Log
}

// NewStore returns a Store on the tables Access and Users that records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:   client,
		table:    tables[accesstable.Table],
		access:   accesstable.NewReader(client, tables),
		users:    user.NewStore(client, tables, nil),
		projects: project.NewStore(client, tables, log),
		owners:   ownership.NewStore(client, tables),
		log:      log,
	}
}

// The names of the actions of a transaction.
const (
	actionGroup     = "group"
	actionName      = "name"
	actionCounter   = "counter"
	actionDirectory = "directory"
	actionRole      = "role"
	actionMember    = "member"
	actionEvent     = "event"
)

// List returns all groups, ordered by id.
func (s *Store) List(ctx context.Context) ([]accesstable.Group, error) { return s.access.Groups(ctx) }

// Get returns a group. The kind of its error is NotFound if there is none with the id.
func (s *Store) Get(ctx context.Context, id int64) (accesstable.Group, error) {
	g, ok, err := s.access.Group(ctx, id)
	if err == nil && !ok {
		err = notFound(strconv.FormatInt(id, 10))
	}
	return g, err
}

// Create adds a group, and returns it with its id, which is never used again. The kind of its error is NameExists, or
// Validation if a member or the root role does not exist or a limit is reached.
func (s *Store) Create(ctx context.Context, next accesstable.Group) (created accesstable.Group, err error) {
	err = s.write(ctx, func(actions *dynamo.Actions) error {
		created = next
		id, counter, err := s.access.NextID(ctx, accesstable.KindGroup)
		if err != nil {
			return err
		}
		created.ID, created.LastEvent = id, 0
		if err := s.plan(ctx, actions, accesstable.Group{}, created, s.owners.Keep); err != nil {
			return err
		}
		event, record, err := s.log.RecordActions(ctx, change(eventlog.GroupCreated, created, newEventData(created), nil))
		if err != nil {
			return err
		}
		created.LastEvent = event
		actions.Add(actionCounter, counter)
		actions.Add(actionGroup, dynamo.NewItem(s.table, accesstable.Hash, accesstable.MarshalGroup(created)))
		actions.Add(actionEvent, record...)
		return nil
	})
	if err != nil {
		return accesstable.Group{}, fmt.Errorf("create group %q: %w", next.Name, err)
	}
	return created, nil
}

// Update changes a group, and returns it. edit receives the group; its error ends the update. If nothing changes, Update
// only reads. The kind of its error is NotFound, that of edit, one of those of Create, or Conflict if a project would
// have no Owner.
func (s *Store) Update(ctx context.Context, id int64, edit func(*accesstable.Group) error) (
	next accesstable.Group, err error,
) {
	return s.update(ctx, id, edit, s.owners.Keep)
}

// keepOwners is ownership.Store.Keep, or nothing if the Owners of projects are not protected.
type keepOwners func(context.Context, *dynamo.Actions, ownership.Change) error

// update is Update.
func (s *Store) update(ctx context.Context, id int64, edit func(*accesstable.Group) error, keep keepOwners) (
	next accesstable.Group, err error,
) {
	err = s.write(ctx, func(actions *dynamo.Actions) error {
		old, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		next = old
		if err := edit(&next); err != nil || reflect.DeepEqual(newEventData(old), newEventData(next)) {
			return err
		}
		if err := s.plan(ctx, actions, old, next, keep); err != nil {
			return err
		}
		event, record, err := s.log.RecordActions(ctx,
			change(eventlog.GroupUpdated, old, newEventData(next), newEventData(old)))
		if err != nil {
			return err
		}
		next.LastEvent = event
		actions.Add(actionGroup, dynamo.ReplaceItem(s.table, accesstable.MarshalGroup(next), unchanged(old)))
		actions.Add(actionEvent, record...)
		return nil
	})
	if err != nil {
		return accesstable.Group{}, fmt.Errorf("update group %d: %w", id, err)
	}
	return next, nil
}

// Delete deletes a group, and ends its roles in projects. From then on it gives nothing to its members. precondition
// receives the group; its error is returned. The kind of the error of Delete is, in this order, NotFound, that of
// precondition, or Conflict if a project would have no Owner. The transaction has as many projects as fit, in the order
// of their ids, with an event of each. After it, Delete ends the roles in the other projects, each in a transaction with
// its event, and removes the group from the items of its members. If that fails, doctor finds what is left, which has no
// effect.
func (s *Store) Delete(ctx context.Context, id int64, precondition func(accesstable.Group) error) error {
	var old accesstable.Group
	err := s.write(ctx, func(actions *dynamo.Actions) (err error) {
		if old, err = s.Get(ctx, id); err != nil {
			return err
		}
		if err := precondition(old); err != nil {
			return err
		}
		if err := s.endRoles(ctx, actions, id); err != nil {
			return err
		}
		if err := s.owners.Keep(ctx, actions, ownership.Change{Group: &accesstable.Group{ID: id}}); err != nil {
			return err
		}
		if err := s.writeDirectory(ctx, actions, old, accesstable.Group{}); err != nil {
			return err
		}
		_, record, err := s.log.RecordActions(ctx, change(eventlog.GroupDeleted, old, nil, newEventData(old)))
		if err != nil {
			return err
		}
		actions.Add(actionGroup, dynamo.DeleteItem(s.table, accesstable.GroupKey(id), unchanged(old)))
		actions.Add(actionName, s.releaseName(old))
		actions.Add(actionEvent, record...)
		return nil
	})
	if err == nil {
		err = s.clean(ctx, old)
	}
	if err != nil {
		return fmt.Errorf("delete group %d: %w", id, err)
	}
	return nil
}

// endRoles adds the actions that end the roles of a group in the projects that fit into the transaction of its deletion.
func (s *Store) endRoles(ctx context.Context, actions *dynamo.Actions, id int64) error {
	projects, err := s.projectsOf(ctx, id)
	if err != nil {
		return err
	}
	const (
		own     = 4 // of the deletion: the group, its name, the directory and its event
		each    = 2 // of a project: the project and its event
		ofOwner = 3 // conditions of ownership.Store.Keep for a project
	)
	free := dynamo.MaxActions - own
	for _, p := range projects {
		if p.Mode != access.Open && slices.Contains(p.Groups[id], access.RoleOwner) {
			free -= ofOwner
		}
	}
	for _, p := range projects[:min(len(projects), max(0, free/each))] {
		if err := s.projects.PlanEnd(ctx, actions, p, withoutGroup(id)); err != nil {
			return err
		}
	}
	return nil
}

// projectsOf returns the projects in which a group has roles, ordered by id.
func (s *Store) projectsOf(ctx context.Context, id int64) ([]*access.Project, error) {
	all, err := s.access.Projects(ctx)
	return slices.DeleteFunc(all, func(p *access.Project) bool { return len(p.Groups[id]) == 0 }), err
}

// withoutGroup and withoutAccount return the change of a project that ends the roles of a group or of an account.
func withoutGroup(id int64) func(*access.Project) {
	return func(p *access.Project) { delete(p.Groups, id) }
}

func withoutAccount(id int64) func(*access.Project) {
	return func(p *access.Project) { delete(p.Users, id) }
}

// clean removes a deleted group from its members, and from the projects that its transaction did not have.
func (s *Store) clean(ctx context.Context, g accesstable.Group) error {
	for _, id := range g.Members {
		if err := s.leave(ctx, id, g.ID); err != nil {
			return err
		}
	}
	projects, err := s.projectsOf(ctx, g.ID)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if err := s.projects.End(ctx, p.ID, withoutGroup(g.ID)); err != nil {
			return err
		}
	}
	return nil
}

// leave removes a group from the item of an account, unless the account was deleted.
func (s *Store) leave(ctx context.Context, account, group int64) error {
	_, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{s.users.Leave(account, group)})
	return err
}

// RemoveAccount ends the memberships of an account whose deletion has begun, and its roles in projects.
func (s *Store) RemoveAccount(ctx context.Context, u user.User) error {
	for _, id := range u.Groups {
		if err := s.removeMember(ctx, id, u.ID); apierror.IgnoreNotFound(err) != nil {
			return err
		}
	}
	projects, err := s.access.Projects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if _, has := p.Users[u.ID]; !has {
			continue
		}
		if err := s.projects.End(ctx, p.ID, withoutAccount(u.ID)); err != nil {
			return err
		}
	}
	return nil
}

// plan adds the actions that a group needs to become next, without those of its own item and its event. old is the zero
// value for a new group.
func (s *Store) plan(
	ctx context.Context, actions *dynamo.Actions, old, next accesstable.Group, keep keepOwners,
) error {
	if err := s.check(ctx, old, next); err != nil {
		return err
	}
	if spelling.Fold(old.Name) != spelling.Fold(next.Name) {
		actions.Add(actionName, accesstable.NameOf(s.table, accesstable.KindGroupName, spelling.Fold(next.Name), next.ID))
		if old.ID != 0 {
			actions.Add(actionName, s.releaseName(old))
		}
	}
	if next.RootRole.IsCustom() && next.RootRole != old.RootRole {
		actions.Add(actionRole, s.access.AssignRole(next.RootRole))
	}
	if err := s.changeMembers(ctx, actions, old, next, keep); err != nil {
		return err
	}
	return s.writeDirectory(ctx, actions, old, next)
}

// maxMappings is the maximum size of the values of mappingsSSO of all groups together, in bytes: the authorizer reads
// them with each request.
const maxMappings = 50_000

// check returns an error if a group cannot be stored beside the others.
func (s *Store) check(ctx context.Context, old, next accesstable.Group) error {
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	size := 0
	for _, other := range all {
		if other.ID == next.ID {
			continue
		}
		if spelling.Fold(other.Name) == spelling.Fold(next.Name) {
			return nameExists(other.Name)
		}
		size += sizeOf(other.Mappings)
	}
	if old.ID == 0 && len(all) >= Limit {
		return apierror.Errorf(apierror.Validation,
			"Failed to create group. You can't create more than the established limit of %d. Delete a group first.", Limit)
	}
	if own := sizeOf(next.Mappings); size+own > maxMappings && own > sizeOf(old.Mappings) {
		return apierror.Invalid(apierror.At("/body/mappingsSSO",
			"must not make the values of all groups larger than %d bytes; with this change they have %d", maxMappings, size+own))
	}
	return s.checkRootRole(ctx, old, next)
}

// checkRootRole returns an error if the new root role of a group is no root role.
func (s *Store) checkRootRole(ctx context.Context, old, next accesstable.Group) error {
	if next.RootRole == 0 || next.RootRole == old.RootRole || slices.Contains(access.Roles(), next.RootRole) {
		return nil
	}
	r, ok, err := s.access.Role(ctx, next.RootRole)
	if err != nil || ok && r.Type == access.RootCustomType {
		return err
	}
	return apierror.Invalid(apierror.At("/body/rootRole", "must be the id of a root role or null").
		SentJSON(fmt.Sprint(int64(next.RootRole))))
}

func sizeOf(texts []string) (n int) {
	for _, text := range texts {
		n += len(text)
	}
	return n
}

// changeMembers adds the actions that add and remove members, and the conditions under which projects keep an Owner.
func (s *Store) changeMembers(
	ctx context.Context, actions *dynamo.Actions, old, next accesstable.Group, keep keepOwners,
) error {
	added, removed := without(next.Members, old.Members), without(old.Members, next.Members)
	if n := len(added) + len(removed); n > maxChanges {
		return apierror.Invalid(apierror.At("/body/users",
			"must add and remove at most %d members; it changes %d. Send several requests", maxChanges, n))
	}
	accounts, err := s.users.Accounts(ctx, slices.Concat(added, removed))
	if err != nil {
		return err
	}
	for _, id := range added {
		u, ok := accounts[id]
		if !ok {
			return apierror.Invalid(apierror.At("/body/users",
				"must have the ids of people and service accounts; there is no account %d", id))
		}
		if len(u.Groups) >= user.MaxGroups {
			return apierror.Errorf(apierror.Validation, "The account %d is a member of %d groups, which is the maximum.", id,
				user.MaxGroups)
		}
		actions.Add(actionMember, s.users.Join(id, next.ID))
	}
	for _, id := range removed {
		if _, ok := accounts[id]; ok { // its deletion has not begun
			actions.Add(actionMember, s.users.Leave(id, next.ID))
		}
	}
	if len(removed) == 0 {
		return nil
	}
	return keep(ctx, actions, ownership.Change{Group: &next})
}

// without returns the elements of all that are not in others.
func without(all, others []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(all), func(n int64) bool { return slices.Contains(others, n) })
}

// unchanged returns the condition that a group has not changed since it was read.
func unchanged(g accesstable.Group) expression.ConditionBuilder {
	return eventlog.ExistsWithLast(accesstable.Hash, g.LastEvent)
}

// releaseName returns the action that ends the reservation of the name of a group. It needs no condition: the action on
// the group has one.
func (s *Store) releaseName(g accesstable.Group) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table,
		Key:       accesstable.Key(accesstable.KindGroupName, spelling.Fold(g.Name)),
	}}
}

// writeDirectory adds the action that writes what the authorizer has to know of a group into the directory, if it
// changes. next is the zero value for a group that is deleted.
func (s *Store) writeDirectory(ctx context.Context, actions *dynamo.Actions, old, next accesstable.Group) error {
	if old.ID == next.ID && old.RootRole == next.RootRole && slices.Equal(old.Mappings, next.Mappings) {
		return nil
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return err
	}
	if next.ID == 0 {
		delete(directory.Groups, old.ID)
	} else {
		directory.Groups[next.ID] = accesstable.GroupEntry{RootRole: next.RootRole, Mappings: next.Mappings}
	}
	actions.Add(actionDirectory, directory.Put(s.table))
	return nil
}

// write carries out the transaction that plan adds to its argument. It is repeated if a group, or what it depends on, is
// changed concurrently.
func (s *Store) write(ctx context.Context, plan func(*dynamo.Actions) error) error {
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		var actions dynamo.Actions
		err := plan(&actions)
		return actions.List(), err
	}, nil)
}
