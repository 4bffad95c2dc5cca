package references

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// Store keeps the references to the resources of a table, in the table. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	hash   string
}

// NewStore returns a Store on the table with a physical name and a partition key, which is a string.
func NewStore(client *dynamodb.Client, table, hash string) Store { return Store{client, table, hash} }

// The attributes of an item with references.
const (
	attributeCounts   = "references" // a map from projects to numbers of toggles
	attributeArchived = "archived"
	attributeSegments = "segments"
	attributeTokens   = "tokens"
	attributeRoles    = "roles"
	attributeVersion  = "version"
)

// prefix begins the key of an item with references. The key of a resource has no #.
const prefix = "references#"

// Key returns the key of the item with the references to a resource.
func (s Store) Key(resource string) dynamo.Item {
	return dynamo.Item{s.hash: dynamo.S(prefix + resource)}
}

// ResourceOf returns the resource whose references an item of the table contains. ok is false for other items.
func (s Store) ResourceOf(item dynamo.Item) (resource string, ok bool) {
	return strings.CutPrefix(item.String(s.hash), prefix)
}

// Item returns the item with the references to a resource.
func (s Store) Item(resource string, u Counts) dynamo.Item {
	item := s.Key(resource)
	item[attributeCounts] = u.ByProject.value()
	for attribute, n := range u.numbers() {
		if n != 0 {
			item[attribute] = dynamo.N(n)
		}
	}
	return item
}

// numbers returns the numbers of references without those of projects, by attribute.
func (u Counts) numbers() map[string]int64 {
	return map[string]int64{
		attributeArchived: u.Archived,
		attributeSegments: u.Segments,
		attributeTokens:   u.Tokens,
		attributeRoles:    u.Roles,
		attributeVersion:  u.Version,
	}
}

func (c ByProject) value() types.AttributeValue {
	counts := dynamo.Item{}
	for project, n := range c {
		counts[project] = dynamo.N(n)
	}
	return dynamo.M(counts)
}

// FromItem returns the references that an item contains. ok is false if the item contains none.
func FromItem(item dynamo.Item) (u Counts, ok bool) {
	if item[attributeCounts] == nil {
		return Counts{}, false
	}
	u = Counts{
		ByProject: ByProject{},
		Archived:  item.Int(attributeArchived),
		Segments:  item.Int(attributeSegments),
		Tokens:    item.Int(attributeTokens),
		Roles:     item.Int(attributeRoles),
		Version:   item.Int(attributeVersion),
	}
	counts := item.Map(attributeCounts)
	for project := range counts {
		u.ByProject[project] = counts.Int(project)
	}
	return u, true
}

// Read reads the references to resources. Those that do not exist are left out. It is one consistent read of one item
// for each resource.
func (s Store) Read(ctx context.Context, resources []string) (map[string]Counts, error) {
	keys := make([]dynamo.Item, len(resources))
	for i, resource := range resources {
		keys[i] = s.Key(resource)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("read the references to resources of the table %s: %w", s.table, err)
	}
	all := map[string]Counts{}
	for _, item := range items {
		resource, _ := s.ResourceOf(item)
		all[resource], _ = FromItem(item)
	}
	return all, nil
}

// Create returns the action that stores the references to a new resource. It needs no condition: the transaction that
// creates the resource has one.
func (s Store) Create(resource string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: s.Item(resource, Counts{})}}
}

// Change returns the action that adds a change, which is not empty, to the references to a resource. stored is the
// usage that was read; its counts can be nil if no change of a count is negative. The action fails, with the stored
// item, if the resource does not exist, or if concurrent writes have changed which projects are left with toggles.
func (s Store) Change(resource string, change, stored Counts) types.TransactWriteItem {
	counts := expression.Name(attributeCounts)
	condition := counts.AttributeExists()
	var update expression.UpdateBuilder
	for _, project := range slices.Sorted(maps.Keys(change.ByProject)) {
		at := counts.AppendName(expression.NameNoDotSplit(project))
		n := change.ByProject[project]
		before, counted := stored.ByProject[project]
		switch {
		case n > 0:
			update = update.Set(at, expression.Plus(at.IfNotExists(expression.Value(0)), expression.Value(n)))
		case before+n > 0: // after concurrent writes, too
			update = update.Set(at, at.Plus(expression.Value(n)))
			condition = condition.And(at.GreaterThan(expression.Value(-n)))
		case counted:
			update = update.Remove(at)
			condition = condition.And(at.Equal(expression.Value(before)))
		default:
			update = update.Remove(at)
			condition = condition.And(at.AttributeNotExists())
		}
	}
	numbers := change.numbers()
	for _, attribute := range slices.Sorted(maps.Keys(numbers)) {
		if n := numbers[attribute]; n != 0 {
			update = update.Add(expression.Name(attribute), expression.Value(n))
		}
	}
	return dynamo.UpdateItemOrReturn(s.table, s.Key(resource),
		expression.NewBuilder().WithUpdate(update).WithCondition(condition))
}

// Exists returns the condition that a resource exists. It fails without an item.
func (s Store) Exists(resource string) types.TransactWriteItem {
	return s.check(resource, expression.Name(attributeCounts).AttributeExists())
}

// SameVersion returns the condition that the version of the references to a resource is that of stored, which was read.
func (s Store) SameVersion(resource string, stored Counts) types.TransactWriteItem {
	return s.check(resource, expression.Name(attributeCounts).AttributeExists().And(is(attributeVersion, stored.Version)))
}

// UnusedIn returns the condition that no toggle of a project refers to a resource that exists.
func (s Store) UnusedIn(resource, project string) types.TransactWriteItem {
	counts := expression.Name(attributeCounts)
	of := counts.AppendName(expression.NameNoDotSplit(project))
	return s.check(resource, counts.AttributeExists().And(of.AttributeNotExists()))
}

// Unchanged returns the condition that the numbers and the version are those of stored, which was read.
func (s Store) Unchanged(resource string, stored Counts) types.TransactWriteItem {
	return s.check(resource, unchanged(stored).And(is(attributeVersion, stored.Version)))
}

func (s Store) check(resource string, condition expression.ConditionBuilder) types.TransactWriteItem {
	expr := dynamo.Build(expression.NewBuilder().WithCondition(condition))
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                           &s.table,
		Key:                                 s.Key(resource),
		ConditionExpression:                 expr.Condition(),
		ExpressionAttributeNames:            expr.Names(),
		ExpressionAttributeValues:           expr.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// Delete returns the action that deletes the references to a resource. It fails if the numbers or the version are not
// those of stored, which was read.
func (s Store) Delete(resource string, stored Counts) types.TransactWriteItem {
	return dynamo.DeleteItem(s.table, s.Key(resource), unchanged(stored).And(is(attributeVersion, stored.Version)))
}

// unchanged returns the condition that an item has the numbers of references, which have no ByProject if the item has
// none.
func unchanged(u Counts) expression.ConditionBuilder {
	counts := expression.Name(attributeCounts)
	condition := counts.AttributeNotExists()
	if u.ByProject != nil {
		condition = counts.Equal(expression.Value(u.ByProject.value()))
	}
	return condition.And(
		is(attributeArchived, u.Archived),
		is(attributeSegments, u.Segments),
		is(attributeTokens, u.Tokens),
		is(attributeRoles, u.Roles))
}

// is returns the condition that a number has a value. A number that is not stored has the value 0.
func is(attribute string, n int64) expression.ConditionBuilder {
	condition := expression.Name(attribute).Equal(expression.Value(n))
	if n == 0 {
		condition = expression.Name(attribute).AttributeNotExists().Or(condition)
	}
	return condition
}

// replace returns the repair that replaces the numbers of references. It does nothing if they have changed.
func (s Store) replace(resource string, stored, counted Counts) func(context.Context) error {
	update := expression.Set(expression.Name(attributeCounts), expression.Value(counted.ByProject.value())).
		Set(expression.Name(attributeArchived), expression.Value(counted.Archived)).
		Set(expression.Name(attributeSegments), expression.Value(counted.Segments)).
		Set(expression.Name(attributeTokens), expression.Value(counted.Tokens)).
		Set(expression.Name(attributeRoles), expression.Value(counted.Roles))
	expr := dynamo.Build(expression.NewBuilder().WithUpdate(update).WithCondition(unchanged(stored)))
	return func(ctx context.Context) error {
		_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 &s.table,
			Key:                       s.Key(resource),
			ConditionExpression:       expr.Condition(),
			UpdateExpression:          expr.Update(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		})
		return unlessChanged(err)
	}
}

// remove returns the repair that deletes references. It does nothing if its numbers have changed.
func (s Store) remove(resource string, stored Counts) func(context.Context) error {
	action := s.Delete(resource, stored).Delete
	return func(ctx context.Context) error {
		_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 action.TableName,
			Key:                       action.Key,
			ConditionExpression:       action.ConditionExpression,
			ExpressionAttributeNames:  action.ExpressionAttributeNames,
			ExpressionAttributeValues: action.ExpressionAttributeValues,
		})
		return unlessChanged(err)
	}
}

func unlessChanged(err error) error {
	if dynamo.FailedCondition(err) {
		return nil
	}
	return err
}

// scan returns the resources that exist, and the stored references to resources.
func (s Store) scan(ctx context.Context, isResource func(dynamo.Item) bool) (
	exists map[string]bool, stored map[string]Counts, err error,
) {
	exists, stored = map[string]bool{}, map[string]Counts{}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, nil, fmt.Errorf("read the table %s: %w", s.table, err)
		}
		if resource, ok := s.ResourceOf(item); ok {
			stored[resource], _ = FromItem(item)
		} else if isResource(item) {
			exists[item.String(s.hash)] = true
		}
	}
	return exists, stored, nil
}
