package contextfield

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// Store keeps the fields in the table ContextFields. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store that uses tables.ContextFields.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.ContextFields}
}

// hash is the table's partition key.
const hash = "name"

func key(name string) dynamo.Item { return dynamo.Item{hash: dynamo.S(name)} }

// List returns all fields, ordered by sort order, then by name in code point order. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]ContextField, error) {
	var all []ContextField
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list context fields: %w", err)
		}
		all = append(all, fromItem(item))
	}
	slices.SortFunc(all, func(a, b ContextField) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// NextSortOrder returns the default sort order of a field: the highest one of the other fields plus 1, at most 2147483647, or 0 if there are
// no others. It reads all fields.
func (s *Store) NextSortOrder(ctx context.Context, name string) (int64, error) {
	all, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, f := range slices.Backward(all) {
		if f.Name != name {
			return min(f.SortOrder+1, math.MaxInt32), nil
		}
	}
	return 0, nil
}

// Get returns one field, or ErrNotFound. The read is consistent.
func (s *Store) Get(ctx context.Context, name string) (ContextField, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(name))
	if err != nil {
		return ContextField{}, fmt.Errorf("get context field %q: %w", name, err)
	}
	if item == nil {
		return ContextField{}, ErrNotFound
	}
	return fromItem(item), nil
}

// Create adds an unused field, or returns ErrExists. It is a transaction, because DynamoDB carries out a retried transaction only once:
// a retried PutItem would find its own item.
func (s *Store) Create(ctx context.Context, f ContextField) error {
	failures, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{s.Creation(f)})
	if err != nil {
		return fmt.Errorf("create context field %q: %w", f.Name, err)
	}
	if failures != nil {
		return ErrExists
	}
	return nil
}

// Replace replaces everything but the name, the time of creation and the usage of a field. It returns the stored field, or ErrNotFound.
func (s *Store) Replace(ctx context.Context, f ContextField) (ContextField, error) {
	item, names, values := toItem(f), map[string]string{"#name": hash}, dynamo.Item{}
	var set, remove []string
	for _, attribute := range []string{"description", "stickiness", "sortOrder", "legalValues"} {
		names["#"+attribute] = attribute
		if value, ok := item[attribute]; ok {
			values[":"+attribute] = value
			set = append(set, "#"+attribute+" = :"+attribute)
		} else {
			remove = append(remove, "#"+attribute)
		}
	}
	update := "SET " + strings.Join(set, ", ")
	if remove != nil {
		update += " REMOVE " + strings.Join(remove, ", ")
	}
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(f.Name), UpdateExpression: &update, ConditionExpression: aws.String("attribute_exists(#name)"),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValues: types.ReturnValueAllNew,
	})
	if dynamo.FailedCondition(err) {
		return ContextField{}, ErrNotFound
	}
	if err != nil {
		return ContextField{}, fmt.Errorf("replace context field %q: %w", f.Name, err)
	}
	return fromItem(out.Attributes), nil
}

// Delete deletes a field that no feature uses, or returns ErrNotFound or an *InUseError. The condition is that the usage has not changed since
// it was read. The first attempt assumes an empty usage instead of reading it; it fails if a feature ever used the field, because projects
// that no longer use it remain in the usage with the number 0. It is a transaction, because a retried DeleteItem would not find the item that
// it deleted.
func (s *Store) Delete(ctx context.Context, name string) error {
	var usage dynamo.Item
	for attempt := 1; ; attempt++ {
		failures, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{{Delete: &types.Delete{
			TableName: &s.table, Key: key(name), ConditionExpression: aws.String("#usage = :usage"),
			ExpressionAttributeNames: map[string]string{"#usage": "usage"}, ExpressionAttributeValues: dynamo.Item{":usage": dynamo.M(usage)},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}})
		if err != nil {
			return fmt.Errorf("delete context field %q: %w", name, err)
		}
		if failures == nil {
			return nil
		}
		stored := failures[0].Item
		if stored == nil {
			return ErrNotFound
		}
		if n := fromItem(stored).UsedInFeatures(); n > 0 {
			return &InUseError{Features: n}
		}
		usage = stored.Map("usage")
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return fmt.Errorf("delete context field %q: %w", name, err)
		}
	}
}

// Creation returns the action of a transaction that creates an unused field. It fails if the field exists.
func (s *Store) Creation(f ContextField) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, toItem(f))
}

func toItem(f ContextField) dynamo.Item {
	item := dynamo.Item{
		hash: dynamo.S(f.Name), "stickiness": dynamo.Bool(f.Stickiness), "sortOrder": dynamo.N(f.SortOrder), "usage": dynamo.M(dynamo.Item{}),
	}
	if f.Description != nil {
		item["description"] = dynamo.S(*f.Description)
	}
	if f.CreatedAt != nil {
		item["createdAt"] = dynamo.Time(*f.CreatedAt)
	}
	if len(f.LegalValues) > 0 {
		values := make([]dynamo.Item, len(f.LegalValues))
		for i, v := range f.LegalValues {
			values[i] = dynamo.Item{"value": dynamo.S(v.Value)}
			if v.Description != nil {
				values[i]["description"] = dynamo.S(*v.Description)
			}
		}
		item["legalValues"] = dynamo.L(values...)
	}
	return item
}

func fromItem(item dynamo.Item) ContextField {
	f := ContextField{
		Name: item.String(hash), Description: description(item), Stickiness: item.Bool("stickiness"),
		SortOrder: item.Int("sortOrder"), CreatedAt: item.Time("createdAt"), Usage: map[string]int64{},
	}
	for _, value := range item.Maps("legalValues") {
		f.LegalValues = append(f.LegalValues, LegalValue{Value: value.String("value"), Description: description(value)})
	}
	usage := item.Map("usage")
	for project := range usage {
		f.Usage[project] = usage.Int(project)
	}
	return f
}

// description returns nil if an item has no description.
func description(item dynamo.Item) *string {
	if _, ok := item["description"]; !ok {
		return nil
	}
	return new(item.String("description"))
}
