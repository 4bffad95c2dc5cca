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
	limit  int64 // of the sum of the sizes of all fields
}

// NewStore returns a Store that uses tables.ContextFields.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client: client, table: tables.ContextFields, limit: maxBytes}
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
		if item[attributeUsage] != nil {
			all = append(all, fromItem(item))
		}
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
	item, err := s.item(ctx, name)
	if err != nil {
		return ContextField{}, fmt.Errorf("get context field %q: %w", name, err)
	}
	return fromItem(item), nil
}

// item returns the item of a field, or ErrNotFound.
func (s *Store) item(ctx context.Context, name string) (dynamo.Item, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(name))
	if err != nil {
		return nil, err
	}
	if item[attributeUsage] == nil { // also that of the sum of the sizes
		return nil, ErrNotFound
	}
	return item, nil
}

// Create adds an unused field, or returns ErrTooLarge or ErrExists, in this order. It is one transaction.
func (s *Store) Create(ctx context.Context, f ContextField) error {
	actions, err := s.Creation(f)
	if err != nil {
		return err
	}
	failures, err := dynamo.Transact(ctx, s.client, actions)
	switch {
	case err != nil:
		return fmt.Errorf("create context field %q: %w", f.Name, err)
	case failures == nil:
		return nil
	case failures[1].Failed:
		return ErrTooLarge
	}
	return ErrExists
}

// Creation returns the actions of a transaction that creates unused fields: one for each field, then one on the sum of the sizes.
// They fail if a field exists or if all fields would be too large.
func (s *Store) Creation(fields ...ContextField) ([]types.TransactWriteItem, error) {
	var actions []types.TransactWriteItem
	var sum int64
	for _, f := range fields {
		bytes, err := size(f)
		if err != nil {
			return nil, err
		}
		actions = append(actions, dynamo.NewItem(s.table, hash, toItem(f, bytes)))
		sum += bytes
	}
	return append(actions, s.addToTotal(sum)), nil
}

// Replace replaces everything but the name, the time of creation and the usage of a field. It returns the stored field, or
// ErrNotFound or ErrTooLarge. It is one GetItem and one transaction, again if the field's size was changed in between.
func (s *Store) Replace(ctx context.Context, f ContextField) (ContextField, error) {
	bytes, err := size(f)
	if err != nil {
		return ContextField{}, err
	}
	item, names, values := toItem(f, bytes), map[string]string{}, dynamo.Item{}
	var set, remove []string
	for _, attribute := range []string{"description", "stickiness", "sortOrder", "legalValues", attributeSize} {
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
	for attempt := 1; ; attempt++ {
		stored, err := s.item(ctx, f.Name)
		if err != nil {
			return ContextField{}, fmt.Errorf("replace context field %q: %w", f.Name, err)
		}
		values[":stored"] = stored[attributeSize]
		actions := []types.TransactWriteItem{{Update: &types.Update{
			TableName: &s.table, Key: key(f.Name), UpdateExpression: &update, ConditionExpression: aws.String("#size = :stored"),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}}
		if grown := bytes - stored.Int(attributeSize); grown != 0 {
			actions = append(actions, s.addToTotal(grown))
		}
		failures, err := dynamo.Transact(ctx, s.client, actions)
		switch {
		case err != nil:
			return ContextField{}, fmt.Errorf("replace context field %q: %w", f.Name, err)
		case failures == nil:
			old := fromItem(stored)
			f.CreatedAt, f.Usage = old.CreatedAt, old.Usage
			return f, nil
		case !failures[0].Failed:
			return ContextField{}, ErrTooLarge
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return ContextField{}, fmt.Errorf("replace context field %q: %w", f.Name, err)
		}
	}
}

// Delete deletes a field that no feature uses, or returns ErrNotFound or an *InUseError. It is one GetItem and one transaction,
// again if the usage or the size was changed in between.
func (s *Store) Delete(ctx context.Context, name string) error {
	for attempt := 1; ; attempt++ {
		stored, err := s.item(ctx, name)
		if err != nil {
			return fmt.Errorf("delete context field %q: %w", name, err)
		}
		if n := fromItem(stored).UsedInFeatures(); n > 0 {
			return &InUseError{Features: n}
		}
		failures, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{
			{Delete: &types.Delete{
				TableName: &s.table, Key: key(name), ConditionExpression: aws.String("#usage = :usage AND #size = :size"),
				ExpressionAttributeNames: map[string]string{"#usage": attributeUsage, "#size": attributeSize},
				ExpressionAttributeValues: dynamo.Item{
					":usage": stored[attributeUsage], // projects that no longer use the field remain with the number 0
					":size":  stored[attributeSize],
				},
			}},
			s.addToTotal(-stored.Int(attributeSize)),
		})
		if err != nil {
			return fmt.Errorf("delete context field %q: %w", name, err)
		}
		if failures == nil {
			return nil
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return fmt.Errorf("delete context field %q: %w", name, err)
		}
	}
}

func toItem(f ContextField, bytes int64) dynamo.Item {
	item := dynamo.Item{
		hash: dynamo.S(f.Name), "stickiness": dynamo.Bool(f.Stickiness), "sortOrder": dynamo.N(f.SortOrder), attributeUsage: dynamo.M(dynamo.Item{}),
		attributeSize: dynamo.N(bytes),
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
	usage := item.Map(attributeUsage)
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
