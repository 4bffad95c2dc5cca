package contextfield

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// Store keeps the fields in the table ContextFields. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	log    *eventlog.Log
	limit  int64 // of the sum of the sizes of all fields
}

// NewStore returns a Store that uses tables.ContextFields and records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{client: client, table: tables.ContextFields, log: log, limit: maxBytes}
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

// NextSortOrder returns the default sort order of a field: the highest one of the other fields plus 1, at most
// 2147483647, or 0 if there are no others. It reads all fields.
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
	if item[attributeUsage] == nil { // the item with the sum of the sizes has no usage either
		return nil, ErrNotFound
	}
	return item, nil
}

// Create adds an unused field, or returns ErrTooLarge or ErrExists, in this order. It is one transaction.
func (s *Store) Create(ctx context.Context, f ContextField) error {
	f.LastEvent = 0
	err := s.log.Write(ctx, func() ([]types.TransactWriteItem, error) { return s.Creation(ctx, f) },
		func(failures []dynamo.Failure) error {
			if failures[1].Failed {
				return ErrTooLarge
			}
			if failures[0].Failed {
				return ErrExists
			}
			f.LastEvent = eventlog.LastOf(failures[2]) // a process whose clock is ahead has deleted a field with this name
			return nil
		})
	if err != nil {
		return fmt.Errorf("create context field %q: %w", f.Name, err)
	}
	return nil
}

// Creation returns the actions of a transaction that creates unused fields and records them: one for each field, then
// one on the sum of the sizes, then those of the log. They fail if a field exists or if all fields would be too large.
func (s *Store) Creation(ctx context.Context, fields ...ContextField) ([]types.TransactWriteItem, error) {
	var actions, records []types.TransactWriteItem
	var sum int64
	for _, f := range fields {
		bytes, err := size(f)
		if err != nil {
			return nil, err
		}
		id, record, err := s.log.Actions(ctx, f.change(eventlog.ContextFieldCreated, f.snapshot(), nil))
		if err != nil {
			return nil, err
		}
		f.LastEvent = id
		actions = append(actions, dynamo.NewItem(s.table, hash, toItem(f, bytes)))
		records = slices.Concat(records, s.log.Created(f.subject(), id), record)
		sum += bytes
	}
	return slices.Concat(actions, []types.TransactWriteItem{s.addToTotal(sum)}, records), nil
}

// Replace replaces everything but the name, the time of creation and the usage of a field. It returns the stored field,
// or ErrNotFound, the error of the precondition, or ErrTooLarge. precondition receives the ETag of the field that is
// replaced. Replace is one consistent read and one transaction, repeated if the field is changed concurrently. If
// nothing changes, it is the read alone.
func (s *Store) Replace(ctx context.Context, f ContextField, precondition func(etag string) error) (
	next ContextField, err error,
) {
	bytes, err := size(f)
	if err != nil {
		return ContextField{}, err
	}
	err = s.log.Write(ctx, func() ([]types.TransactWriteItem, error) {
		stored, err := s.item(ctx, f.Name)
		if err != nil {
			return nil, err
		}
		old := fromItem(stored)
		if err := precondition(old.ETag()); err != nil {
			return nil, err
		}
		next = f
		next.CreatedAt, next.Usage, next.LastEvent = old.CreatedAt, old.Usage, old.LastEvent
		if reflect.DeepEqual(old.snapshot(), next.snapshot()) {
			return nil, nil
		}
		id, record, err := s.log.Actions(ctx, old.change(eventlog.ContextFieldUpdated, next.snapshot(), old.snapshot()))
		next.LastEvent = id
		actions := []types.TransactWriteItem{s.replacement(old, next, bytes)}
		if grown := bytes - stored.Int(attributeSize); grown != 0 {
			actions = append(actions, s.addToTotal(grown))
		}
		return append(actions, record...), err
	}, func(failures []dynamo.Failure) error {
		if !failures[0].Failed {
			return ErrTooLarge
		}
		return nil
	})
	if err != nil {
		return ContextField{}, fmt.Errorf("replace context field %q: %w", f.Name, err)
	}
	return next, nil
}

// replacement returns the action that replaces a field that has not changed. Its usage may change at any time.
func (s *Store) replacement(old, next ContextField, bytes int64) types.TransactWriteItem {
	item, names, values := toItem(next, bytes), map[string]string{"#name": hash}, dynamo.Item{}
	condition, assignment := eventlog.Guard(old.LastEvent, next.LastEvent, names, values)
	set, remove := []string{assignment}, []string{}
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
	if len(remove) > 0 {
		update += " REMOVE " + strings.Join(remove, ", ")
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: key(next.Name), UpdateExpression: &update,
		ConditionExpression:      aws.String("attribute_exists(#name) AND " + condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}}
}

// Delete deletes a field that no feature uses, or returns ErrNotFound or an *InUseError. It is one consistent read and
// one transaction, repeated if the field or its usage was changed in between.
func (s *Store) Delete(ctx context.Context, name string) error {
	return s.DeleteIf(ctx, name, func(string) error { return nil })
}

// DeleteIf is Delete for a field whose ETag the precondition accepts. Otherwise it returns the error of the
// precondition.
func (s *Store) DeleteIf(ctx context.Context, name string, precondition func(etag string) error) error {
	err := s.log.Write(ctx, func() ([]types.TransactWriteItem, error) {
		stored, err := s.item(ctx, name)
		if err != nil {
			return nil, err
		}
		f := fromItem(stored)
		if err := precondition(f.ETag()); err != nil {
			return nil, err
		}
		if n := f.UsedInFeatures(); n > 0 {
			return nil, &InUseError{Features: n}
		}
		id, record, err := s.log.Actions(ctx, f.change(eventlog.ContextFieldDeleted, nil, f.snapshot()))
		condition, names, last := eventlog.Unchanged(hash, f.LastEvent)
		values := dynamo.Item{} // last is nil if the field has no event
		maps.Copy(values, last)
		// unused projects remain with the number 0
		names["#usage"], values[":usage"] = attributeUsage, stored[attributeUsage]
		condition += " AND #usage = :usage"
		return slices.Concat([]types.TransactWriteItem{
			{Delete: &types.Delete{
				TableName: &s.table, Key: key(name), ConditionExpression: &condition,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			}},
			s.addToTotal(-stored.Int(attributeSize)),
		}, s.log.Deleted(f.subject(), id), record), err
	}, nil)
	if err != nil {
		return fmt.Errorf("delete context field %q: %w", name, err)
	}
	return nil
}

func toItem(f ContextField, bytes int64) dynamo.Item {
	item := dynamo.Item{
		hash: dynamo.S(f.Name), "stickiness": dynamo.Bool(f.Stickiness), "sortOrder": dynamo.N(f.SortOrder),
		attributeUsage: dynamo.M(dynamo.Item{}),
		attributeSize:  dynamo.N(bytes),
	}
	if f.LastEvent != 0 {
		item[eventlog.AttributeEvent] = dynamo.N(f.LastEvent)
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
		LastEvent: item.Int(eventlog.AttributeEvent),
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
