package role

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/spelling"
)

// Store keeps the custom roles in the table Access. Environments in which a role has permissions count it (package
// references), so that they cannot be deleted. It is safe for concurrent use.
type Store struct {
	table        string
	access       *accesstable.Reader
	environments references.Store
	users        *user.Store
	log          *eventlog.Log
}

// NewStore returns a Store on the tables Access, Environments and Users that records its changes in log, which can be
// nil if the Store only reads. Only Create and Update use the table Environments, and only Delete the table Users.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		table:        tables[accesstable.Table],
		access:       accesstable.NewReader(client, tables),
		environments: environment.ReferencesStore(client, tables),
		users:        user.NewStore(client, tables, nil),
		log:          log,
	}
}

// The names of the actions of a transaction.
const (
	actionRole        = "role"
	actionName        = "name"
	actionCounter     = "counter"
	actionDirectory   = "directory"
	actionEnvironment = "environment "
	actionEvent       = "event"
)

// List returns all roles, ordered by id.
func (s *Store) List(ctx context.Context) ([]access.RoleDefinition, error) {
	custom, err := s.access.Roles(ctx)
	return append(access.FixedRoles(), custom...), err
}

// RootRoles returns the root roles, ordered by id.
func (s *Store) RootRoles(ctx context.Context) ([]access.RoleDefinition, error) {
	all, err := s.List(ctx)
	return slices.DeleteFunc(all, func(r access.RoleDefinition) bool {
		return r.Type != access.RootType && r.Type != access.RootCustomType
	}), err
}

// ParseRoot returns the root role that the property rootRole of a body has by its id or its name. The kind of its error is
// Validation if there is no such root role.
func (s *Store) ParseRoot(ctx context.Context, body jsonbody.Object) (access.Role, error) {
	id, isID := body.Int("rootRole")
	name := body.Text("rootRole")
	for _, r := range access.Roles() { // without reading the custom ones
		if isID && int64(r) == id || !isID && r.String() == name {
			return r, nil
		}
	}
	roles, err := s.RootRoles(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range roles {
		if isID && int64(r.ID) == id || !isID && r.Name == name {
			return r.ID, nil
		}
	}
	invalid := apierror.At("/body/rootRole", "must be the id or the name of a root role")
	if isID {
		return 0, apierror.Invalid(invalid.SentJSON(fmt.Sprint(id)))
	}
	return 0, apierror.Invalid(invalid.Sent(name))
}

// Get returns a role. The kind of its error is NotFound if there is none with the id.
func (s *Store) Get(ctx context.Context, id access.Role) (access.RoleDefinition, error) {
	if r, ok := fixed(id); ok {
		return r, nil
	}
	r, ok, err := s.access.Role(ctx, id)
	if err == nil && !ok {
		err = notFound(strconv.FormatInt(int64(id), 10))
	}
	return r, err
}

// Validate returns an error of the kind NameExists if there is a role with the name, or of the kind Validation if the
// role names an environment that does not exist or the limit is reached.
func (s *Store) Validate(ctx context.Context, next access.RoleDefinition) error {
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	if err := check(all, next); err != nil {
		return err
	}
	existing, err := s.environments.Read(ctx, next.Environments())
	if err != nil {
		return err
	}
	return missing(next, existing)
}

// check returns an error if a role cannot be stored beside all others.
func check(all []access.RoleDefinition, next access.RoleDefinition) error {
	if n := len(next.Environments()); n > maxEnvironments {
		return apierror.Invalid(apierror.At("/body/permissions",
			"must name at most %d environments; you sent %d", maxEnvironments, n))
	}
	for _, other := range all {
		if other.ID != next.ID && spelling.Fold(other.Name) == spelling.Fold(next.Name) {
			return nameExists(other.Name)
		}
	}
	if next.ID == 0 && len(all)-len(access.FixedRoles()) >= Limit {
		return apierror.Errorf(apierror.Validation,
			"Failed to create role. You can't create more than the established limit of %d. Delete a role first.", Limit)
	}
	return nil
}

// missing returns an error if an environment in which a role has permissions does not exist.
func missing(r access.RoleDefinition, existing map[string]references.Counts) error {
	for i, p := range r.Permissions {
		if _, ok := existing[p.Environment]; p.Environment != "" && !ok {
			return apierror.Invalid(apierror.At(fmt.Sprintf("/body/permissions/%d/environment", i),
				"must be the name of an environment").Sent(p.Environment))
		}
	}
	return nil
}

// Create adds a custom role, and returns it with its id, which is never used again. The kind of its error is one of
// those of Validate.
func (s *Store) Create(ctx context.Context, next access.RoleDefinition) (created access.RoleDefinition, err error) {
	err = s.write(ctx, func(actions *dynamo.Actions) error {
		if err := s.Validate(ctx, next); err != nil {
			return err
		}
		created = next
		id, counter, err := s.access.NextID(ctx, accesstable.KindRole)
		if err != nil {
			return err
		}
		created.ID, created.LastEvent = access.Role(id), 0
		event, record, err := s.log.RecordActions(ctx, change(eventlog.RoleCreated, created, newEventData(created), nil))
		if err != nil {
			return err
		}
		created.LastEvent = event
		actions.Add(actionCounter, counter)
		actions.Add(actionRole, dynamo.NewItem(s.table, accesstable.Hash, accesstable.MarshalRole(created)))
		actions.Add(actionName, accesstable.NameOf(s.table, accesstable.KindRoleName, spelling.Fold(created.Name), id))
		s.count(actions, access.RoleDefinition{}, created)
		if err := s.writeDirectory(ctx, actions, access.RoleDefinition{}, created); err != nil {
			return err
		}
		actions.Add(actionEvent, record...)
		return nil
	})
	if err != nil {
		return access.RoleDefinition{}, fmt.Errorf("create role %q: %w", next.Name, err)
	}
	return created, nil
}

// Update changes a custom role, and returns it. change receives the role; its error ends the update. If nothing
// changes, Update only reads. The kind of its error is, in this order, NotFound, that of change, Validation for a fixed
// role, or one of those of Validate.
func (s *Store) Update(ctx context.Context, id access.Role, edit func(*access.RoleDefinition) error) (
	next access.RoleDefinition, err error,
) {
	err = s.write(ctx, func(actions *dynamo.Actions) error {
		old, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		if !id.IsCustom() {
			return isFixed(old)
		}
		next = old
		next.Permissions = slices.Clone(old.Permissions)
		if err := edit(&next); err != nil {
			return err
		}
		next.Permissions = append([]access.RolePermission{}, next.Permissions...) // not nil, as those that were read
		if reflect.DeepEqual(old, next) {
			return nil
		}
		if err := s.Validate(ctx, next); err != nil {
			return err
		}
		event, record, err := s.log.RecordActions(ctx,
			change(eventlog.RoleUpdated, old, newEventData(next), newEventData(old)))
		if err != nil {
			return err
		}
		next.LastEvent = event
		actions.Add(actionRole, dynamo.ReplaceItem(s.table, accesstable.MarshalRole(next), unchanged(old)))
		if spelling.Fold(old.Name) != spelling.Fold(next.Name) {
			actions.Add(actionName, accesstable.NameOf(s.table, accesstable.KindRoleName, spelling.Fold(next.Name), int64(id)))
			actions.Add(actionName, s.releaseName(old))
		}
		s.count(actions, old, next)
		if err := s.writeDirectory(ctx, actions, old, next); err != nil {
			return err
		}
		actions.Add(actionEvent, record...)
		return nil
	})
	if err != nil {
		return access.RoleDefinition{}, fmt.Errorf("update role %d: %w", id, err)
	}
	return next, nil
}

// Delete deletes a custom role that nobody has. precondition receives the role; its error is returned. The kind of the
// error of Delete is, in this order, NotFound, that of precondition, Validation for a fixed role, or Conflict if
// somebody has the role.
func (s *Store) Delete(ctx context.Context, id access.Role, precondition func(access.RoleDefinition) error) error {
	err := s.write(ctx, func(actions *dynamo.Actions) error {
		old, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		if !id.IsCustom() {
			return isFixed(old)
		}
		assignments, err := s.access.Assignments(ctx, id) // before who has the role
		if err != nil {
			return err
		}
		if err := precondition(old); err != nil {
			return err
		}
		used, err := s.InUse(ctx, id)
		if err != nil {
			return err
		}
		if err := used.err(old.Name); err != nil {
			return err
		}
		_, record, err := s.log.RecordActions(ctx, change(eventlog.RoleDeleted, old, nil, newEventData(old)))
		if err != nil {
			return err
		}
		actions.Add(actionRole, dynamo.DeleteItem(s.table, accesstable.RoleKey(id),
			unchanged(old).And(accesstable.HasAssignments(assignments))))
		actions.Add(actionName, s.releaseName(old))
		s.count(actions, old, access.RoleDefinition{})
		if err := s.writeDirectory(ctx, actions, old, access.RoleDefinition{}); err != nil {
			return err
		}
		actions.Add(actionEvent, record...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete role %d: %w", id, err)
	}
	return nil
}

// InUse returns who has a role: as the root role, in a group or in a project. It reads all of them.
func (s *Store) InUse(ctx context.Context, id access.Role) (used InUse, err error) {
	accounts, err := s.users.List(ctx)
	if err != nil {
		return InUse{}, err
	}
	for _, u := range accounts {
		switch {
		case u.Role != id:
		case u.Kind == user.Person:
			used.People++
		default:
			used.ServiceAccounts++
		}
	}
	groups, err := s.access.Groups(ctx)
	if err != nil {
		return InUse{}, err
	}
	for _, g := range groups {
		if g.RootRole == id {
			used.Groups++
		}
	}
	projects, err := s.access.Projects(ctx)
	if err != nil {
		return InUse{}, err
	}
	has := func(roles []access.Role) bool { return slices.Contains(roles, id) }
	for _, p := range projects {
		if slices.ContainsFunc(slices.Collect(maps.Values(p.Users)), has) ||
			slices.ContainsFunc(slices.Collect(maps.Values(p.Groups)), has) {
			used.Projects++
		}
	}
	return used, nil
}

// unchanged returns the condition that a role has not changed since it was read.
func unchanged(r access.RoleDefinition) expression.ConditionBuilder {
	return eventlog.ExistsWithLast(accesstable.Hash, r.LastEvent)
}

// releaseName returns the action that ends the reservation of the name of a role. It needs no condition: the action on
// the role has one.
func (s *Store) releaseName(r access.RoleDefinition) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table,
		Key:       accesstable.Key(accesstable.KindRoleName, spelling.Fold(r.Name)),
	}}
}

// count adds the actions that change the numbers of roles with permissions in environments. They fail if an environment
// of next does not exist.
func (s *Store) count(actions *dynamo.Actions, old, next access.RoleDefinition) {
	before, after := old.Environments(), next.Environments()
	for _, name := range after {
		if !slices.Contains(before, name) {
			actions.Add(actionEnvironment+name, s.environments.Change(name, references.Counts{Roles: 1}, references.Counts{}))
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			actions.Add(actionEnvironment+name, s.environments.Change(name, references.Counts{Roles: -1}, references.Counts{}))
		}
	}
}

// writeDirectory adds the action that writes the permissions of a custom root role into the directory, if they change.
func (s *Store) writeDirectory(ctx context.Context, actions *dynamo.Actions, old, next access.RoleDefinition) error {
	isRoot := next.Type == access.RootCustomType
	if old.Type != access.RootCustomType && !isRoot ||
		isRoot && old.ID == next.ID && slices.Equal(old.RootPermissions(), next.RootPermissions()) {
		return nil
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return err
	}
	if isRoot {
		directory.Roles[next.ID] = next.RootPermissions()
	} else {
		delete(directory.Roles, old.ID)
	}
	actions.Add(actionDirectory, directory.Put(s.table))
	return nil
}

// write carries out the transaction that plan adds to its argument. It is repeated if a role, or what it depends on, is
// changed concurrently.
func (s *Store) write(ctx context.Context, plan func(*dynamo.Actions) error) error {
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		var actions dynamo.Actions
		err := plan(&actions)
		return actions.List(), err
	}, nil)
}
