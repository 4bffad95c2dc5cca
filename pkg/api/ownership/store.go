// Package ownership keeps an Owner in each protected and private project.
//
// An Owner of a project is an account that exists and has the role Owner there, directly or as a member of a group. The
// members by an ID token do not count. A transaction that could take away the last Owner contains the conditions under
// which another one remains.
package ownership

import (
	"context"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// Store reads the tables Access and Users. It is safe for concurrent use.
type Store struct {
	table  string
	access *accesstable.Reader
	users  *user.Store
}

// NewStore returns a Store on the tables Access and Users.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{
		table:  tables[accesstable.Table],
		access: accesstable.NewReader(client, tables),
		users:  user.NewStore(client, tables, nil),
	}
}

// Change is what a transaction changes. What is not set does not change.
type Change struct {
	Project *access.Project    // as it will be; the transaction writes its item
	Group   *accesstable.Group // as it will be, without members if it is deleted; the transaction writes its item
	Account int64              // an account that is deleted; the transaction writes its item
}

// actionOwner is the name of the conditions.
const actionOwner = "owner"

// Keep adds the conditions under which each protected or private project that a change concerns has an Owner after it.
// Actions on other accounts that the transaction has already have the condition that the account exists.
// The kind of its error is Conflict if there would be none. It reads all projects and groups, unless the change concerns
// one project only, and the accounts that can be Owners.
func (s *Store) Keep(ctx context.Context, actions *dynamo.Actions, c Change) error {
	if c.Project != nil && c.Project.Mode == access.Open {
		return nil
	}
	groups, err := s.groups(ctx, c)
	if err != nil {
		return err
	}
	projects, err := s.concerned(ctx, c, groups)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if err := s.keep(ctx, actions, c, p, groups); err != nil {
			return err
		}
	}
	return nil
}

// add adds a condition, unless the transaction has an action on its item.
func add(actions *dynamo.Actions, check types.TransactWriteItem) {
	c := check.ConditionCheck
	if slices.ContainsFunc(actions.List(), func(other types.TransactWriteItem) bool {
		switch {
		case other.ConditionCheck != nil:
			return *other.ConditionCheck.TableName == *c.TableName && reflect.DeepEqual(other.ConditionCheck.Key, c.Key)
		case other.Update != nil:
			return *other.Update.TableName == *c.TableName && reflect.DeepEqual(other.Update.Key, c.Key)
		case other.Put != nil:
			return *other.Put.TableName == *c.TableName && hasKey(other.Put.Item, c.Key)
		}
		return false
	}) {
		return
	}
	actions.Add(actionOwner, check)
}

// hasKey reports whether an item has the attributes of a key.
func hasKey(item, key dynamo.Item) bool {
	for name, value := range key {
		if !reflect.DeepEqual(item[name], value) {
			return false
		}
	}
	return true
}

// groups returns all groups as they will be, by id.
func (s *Store) groups(ctx context.Context, c Change) (map[int64]accesstable.Group, error) {
	all, err := s.access.Groups(ctx)
	if err != nil {
		return nil, err
	}
	groups := make(map[int64]accesstable.Group, len(all))
	for _, g := range all {
		groups[g.ID] = g
	}
	if c.Group != nil {
		groups[c.Group.ID] = *c.Group
	}
	return groups, nil
}

// concerned returns the protected and private projects in which a change can take away an Owner.
func (s *Store) concerned(
	ctx context.Context, c Change, groups map[int64]accesstable.Group,
) ([]*access.Project, error) {
	if c.Project != nil {
		return []*access.Project{c.Project}, nil
	}
	all, err := s.access.Projects(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p *access.Project) bool {
		_, ownerGroups := p.Owners()
		return p.Mode == access.Open || !slices.ContainsFunc(ownerGroups, func(id int64) bool {
			return c.Group != nil && c.Group.ID == id || c.Account != 0 && slices.Contains(groups[id].Members, c.Account)
		}) && !slices.Contains(p.Users[c.Account], access.RoleOwner)
	}), nil
}

// candidate is an account that can be the Owner of a project, directly or by a group.
type candidate struct{ account, group int64 }

// keep adds the conditions under which one project has an Owner.
func (s *Store) keep(
	ctx context.Context, actions *dynamo.Actions, c Change, p *access.Project, groups map[int64]accesstable.Group,
) error {
	var candidates []candidate
	accounts, ownerGroups := p.Owners()
	for _, id := range accounts {
		candidates = append(candidates, candidate{account: id})
	}
	for _, group := range ownerGroups {
		for _, id := range groups[group].Members {
			candidates = append(candidates, candidate{id, group})
		}
	}
	candidates = slices.DeleteFunc(candidates, func(other candidate) bool { return other.account == c.Account })
	owner, ok, err := s.first(ctx, candidates)
	if err != nil {
		return err
	}
	if !ok {
		return apierror.Errorf(apierror.Conflict,
			"The project %q is %s and would have no Owner. Give somebody else the role first.", p.ID, p.Mode)
	}
	add(actions, s.users.Exists(owner.account))
	if c.Project == nil {
		add(actions, s.unchanged(accesstable.ProjectKey(p.ID), p.LastEvent))
	}
	if owner.group != 0 && (c.Group == nil || c.Group.ID != owner.group) {
		add(actions, s.unchanged(accesstable.GroupKey(owner.group), groups[owner.group].LastEvent))
	}
	return nil
}

// batch is the number of accounts that one call reads.
const batch = 100

// first returns the first candidate whose account exists.
func (s *Store) first(ctx context.Context, candidates []candidate) (owner candidate, ok bool, err error) {
	for some := range slices.Chunk(candidates, batch) {
		ids := make([]int64, len(some))
		for i, c := range some {
			ids[i] = c.account
		}
		existing, err := s.users.Accounts(ctx, ids)
		if err != nil {
			return candidate{}, false, err
		}
		for _, c := range some {
			if _, ok := existing[c.account]; ok {
				return c, true, nil
			}
		}
	}
	return candidate{}, false, nil
}

// unchanged returns the condition that an item of the table Access has not changed since it was read. The default
// project can be without an item.
func (s *Store) unchanged(key dynamo.Item, last int64) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, key, eventlog.HasLast(last))
}
