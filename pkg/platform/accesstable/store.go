package accesstable

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// maxID is the maximum length of the id of a project.
const maxID = 100

// Reader reads the table, consistently. It implements access.Reader, and is safe for concurrent use.
type Reader struct {
	client *dynamodb.Client
	table  string
}

// NewReader returns a Reader of the table Access.
func NewReader(client *dynamodb.Client, tables dynamo.Tables) *Reader {
	return &Reader{client, tables[Table]}
}

// Project implements access.Reader. The default project exists even if it is not stored.
func (s *Reader) Project(ctx context.Context, id string) (*access.Project, error) {
	if id == "" || len(id) > maxID {
		return nil, nil //nolint:nilnil // there is no such project
	}
	// The same action as CustomRoles, so that functions need one permission.
	items, err := dynamo.GetAll(ctx, s.client, s.table, []dynamo.Item{ProjectKey(id)})
	if err != nil {
		return nil, fmt.Errorf("get the project %q: %w", id, err)
	}
	if len(items) == 0 {
		if id == access.DefaultProject {
			return new(access.ImplicitDefaultProject()), nil
		}
		return nil, nil //nolint:nilnil // there is no such project
	}
	project, err := UnmarshalProject(items[0])
	if err != nil {
		return nil, fmt.Errorf("get the project %q: %w", id, err)
	}
	if project.ID != id { // another spelling
		return nil, nil //nolint:nilnil // there is no such project
	}
	return &project, nil
}

// Projects implements access.Reader. Archived projects are among them.
func (s *Reader) Projects(ctx context.Context) ([]*access.Project, error) {
	all, err := list(ctx, s, KindProject, UnmarshalProject)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(p access.Project) bool { return p.ID == access.DefaultProject }) {
		all = append(all, access.ImplicitDefaultProject())
	}
	slices.SortFunc(all, func(a, b access.Project) int { return cmp.Compare(a.ID, b.ID) })
	projects := make([]*access.Project, len(all))
	for i := range all {
		projects[i] = &all[i]
	}
	return projects, nil
}

// CustomRoles implements access.Reader.
func (s *Reader) CustomRoles(ctx context.Context, ids []access.Role) (access.CustomRoles, error) {
	definitions, err := s.Definitions(ctx, ids)
	return access.NewCustomRoles(definitions...), err
}

// Definitions returns the custom roles with the ids that exist, in any order.
func (s *Reader) Definitions(ctx context.Context, ids []access.Role) (all []access.RoleDefinition, err error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = RoleKey(id)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("get roles: %w", err)
	}
	for _, item := range items {
		r, err := UnmarshalRole(item)
		if err != nil {
			return nil, fmt.Errorf("get roles: %w", err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Roles returns all custom roles, ordered by id.
func (s *Reader) Roles(ctx context.Context) ([]access.RoleDefinition, error) {
	all, err := list(ctx, s, KindRole, UnmarshalRole)
	slices.SortFunc(all, func(a, b access.RoleDefinition) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// Role returns a custom role. ok is false if there is none with the id.
func (s *Reader) Role(ctx context.Context, id access.Role) (r access.RoleDefinition, ok bool, err error) {
	return get(ctx, s, RoleKey(id), UnmarshalRole)
}

// Groups returns all groups, ordered by id.
func (s *Reader) Groups(ctx context.Context) ([]Group, error) {
	all, err := list(ctx, s, KindGroup, UnmarshalGroup)
	slices.SortFunc(all, func(a, b Group) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// Group returns a group. ok is false if there is none with the id.
func (s *Reader) Group(ctx context.Context, id int64) (g Group, ok bool, err error) {
	return get(ctx, s, GroupKey(id), UnmarshalGroup)
}

// GroupNames returns the names of those of the groups with the ids that exist.
func (s *Reader) GroupNames(ctx context.Context, ids []int64) (map[int64]string, error) {
	var keys []dynamo.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		keys = append(keys, GroupKey(id))
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys, Hash, Range, "name")
	if err != nil {
		return nil, fmt.Errorf("read the names of groups: %w", err)
	}
	names := map[int64]string{}
	for _, item := range items {
		g, err := UnmarshalGroup(item)
		if err != nil {
			return nil, fmt.Errorf("read the names of groups: %w", err)
		}
		names[g.ID] = g.Name
	}
	return names, nil
}

// Directory returns the directory.
func (s *Reader) Directory(ctx context.Context) (Directory, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, DirectoryKey())
	if err != nil {
		return Directory{}, fmt.Errorf("get the directory: %w", err)
	}
	return UnmarshalDirectory(item)
}

func get[T any](ctx context.Context, s *Reader, key dynamo.Item, unmarshal func(dynamo.Item) (T, error)) (
	value T, ok bool, err error,
) {
	item, err := dynamo.Get(ctx, s.client, s.table, key)
	if err == nil && item != nil {
		value, err = unmarshal(item)
	}
	if err != nil {
		return value, false, fmt.Errorf("get the %s %s: %w", key.String(Hash), key.String(Range), err)
	}
	return value, item != nil, nil
}

func list[T any](ctx context.Context, s *Reader, kind Kind, unmarshal func(dynamo.Item) (T, error)) ([]T, error) {
	var all []T
	for item, err := range dynamo.Query(ctx, s.client, s.table, Hash, dynamo.S(string(kind))) {
		if err != nil {
			return nil, fmt.Errorf("list the items %s: %w", kind, err)
		}
		value, err := unmarshal(item)
		if err != nil {
			return nil, fmt.Errorf("list the items %s: %w", kind, err)
		}
		all = append(all, value)
	}
	return all, nil
}

// Put returns the action of a transaction that replaces the directory. It fails if the directory was changed after it was
// read.
func (d Directory) Put(table string) types.TransactWriteItem {
	return dynamo.ReplaceItem(table, d.item(), d.isUnchanged())
}

// Unchanged returns the condition of a transaction that the directory has not changed since it was read.
func (d Directory) Unchanged(table string) types.TransactWriteItem {
	return dynamo.CheckItem(table, DirectoryKey(), d.isUnchanged())
}

func (d Directory) isUnchanged() expression.ConditionBuilder {
	if d.version == 0 {
		return expression.Name(Hash).AttributeNotExists()
	}
	return expression.Name("version").Equal(expression.Value(d.version))
}

// RoleUnchanged returns the condition of a transaction that a custom role has not changed since it was read.
func RoleUnchanged(table string, r access.RoleDefinition) types.TransactWriteItem {
	return dynamo.CheckItem(table, RoleKey(r.ID), expression.Name(Hash).AttributeExists().And(hasLast(r.LastEvent)))
}

// attributeOf is the attribute of a reserved name with the id of the role or group that has it.
const attributeOf = "of"

// NameOf returns the action of a transaction that reserves the name of a role or group. It fails if the name is taken. id
// is the one of the role or group.
func NameOf(table string, kind Kind, name string, id int64) types.TransactWriteItem {
	item := Key(kind, name)
	item[attributeOf] = dynamo.S(strconv.FormatInt(id, 10))
	return dynamo.NewItem(table, Hash, item)
}
