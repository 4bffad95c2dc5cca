package tagtype

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Store keeps the tag types in the table Access. It is safe for concurrent use.
type Store struct {
	client   *dynamodb.Client
	table    string
	features string // the table
	log      *eventlog.Log
}

// NewStore returns a Store on the tables Access and Features that records its changes in log, which can be nil if the
// Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{client: client, table: tables[accesstable.Table], features: tables[featuretable.Table], log: log}
}

// record is the item of a tag type.
type record struct {
	Kind        accesstable.Kind `dynamodbav:"kind"`
	Name        string           `dynamodbav:"id"`
	Description string           `dynamodbav:"description"`
	Icon        *string          `dynamodbav:"icon,omitempty"`
	Color       *string          `dynamodbav:"color,omitempty"`
	Uses        int64            `dynamodbav:"uses,omitempty"`
	LastEvent   int64            `dynamodbav:"event,omitempty"`
}

// attributeUses is the attribute of a tag type that rises with each toggle that begins to use it.
const attributeUses = "uses"

func key(name string) dynamo.Item { return accesstable.Key(accesstable.KindTagType, name) }

func toItem(t TagType, uses int64) dynamo.Item {
	return dynamo.Marshal(record{
		Kind: accesstable.KindTagType, Name: t.Name, Description: t.Description, Icon: t.Icon, Color: t.Color,
		Uses: uses, LastEvent: t.LastEvent,
	})
}

func fromItem(item dynamo.Item) (t TagType, uses int64, err error) {
	var r record
	if err := dynamo.Unmarshal(item, &r); err != nil {
		return TagType{}, 0, err
	}
	return TagType{
		Name: r.Name, Description: r.Description, Icon: r.Icon, Color: r.Color, LastEvent: r.LastEvent,
	}, r.Uses, nil
}

// List returns all tag types, ordered by name. It is one consistent Query per MB.
func (s *Store) List(ctx context.Context) ([]TagType, error) {
	var all []TagType
	kind := dynamo.S(string(accesstable.KindTagType))
	for item, err := range dynamo.Query(ctx, s.client, s.table, accesstable.Hash, kind) {
		if err != nil {
			return nil, fmt.Errorf("list tag types: %w", err)
		}
		t, _, err := fromItem(item)
		if err != nil {
			return nil, fmt.Errorf("list tag types: %w", err)
		}
		all = append(all, t)
	}
	if !slices.ContainsFunc(all, func(t TagType) bool { return t.Name == toggle.DefaultTagType }) {
		all = append(all, Simple())
	}
	slices.SortFunc(all, func(a, b TagType) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Get returns a tag type. The kind of its error is NotFound if there is none. The read is consistent.
func (s *Store) Get(ctx context.Context, name string) (TagType, error) {
	t, _, err := s.get(ctx, name)
	return t, err
}

// get is Get. It also returns the number of its uses.
func (s *Store) get(ctx context.Context, name string) (t TagType, uses int64, err error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(name))
	switch {
	case err != nil:
		return TagType{}, 0, fmt.Errorf("get tag type %q: %w", name, err)
	case item != nil:
		return fromItem(item)
	case name == toggle.DefaultTagType:
		return Simple(), 0, nil
	}
	return TagType{}, 0, NotFound(name)
}

// The names of the actions of a transaction.
const (
	actionType   = "type"
	actionMarker = "marker" // of a deleted type with the name
	actionEvent  = "event"
)

// Create adds a tag type. The kind of its error is NameExists, or NoAccess if the limit is reached. It reads all types.
// Concurrent creations can exceed the limit by their number.
func (s *Store) Create(ctx context.Context, t TagType) error {
	last := int64(0) // the id of the last event of a deleted type with the name
	var actions *dynamo.Actions
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		all, err := s.List(ctx)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other TagType) bool { return other.Name == t.Name }) {
			return nil, taken(t.Name)
		}
		if len(all) >= Limit {
			return nil, apierror.Errorf(apierror.NoAccess,
				"The maximum number of tag types (%d) is reached. Delete one first.", Limit)
		}
		t.LastEvent = last
		change := t.change(eventlog.TagTypeCreated, t.data(), nil)
		id, event, err := s.log.RecordActions(ctx, change)
		if err != nil {
			return nil, err
		}
		t.LastEvent = id
		actions = &dynamo.Actions{}
		actions.Add(actionType, dynamo.NewItem(s.table, accesstable.Hash, toItem(t, 0)))
		actions.Add(actionMarker, s.log.CheckMarkerActions(change.Subject, id)...)
		actions.Add(actionEvent, event...)
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		last = max(last, eventlog.LastInMarker(actions.Failed(failures)[actionMarker]))
		return nil
	})
	if err != nil {
		return fmt.Errorf("create tag type %q: %w", t.Name, err)
	}
	return nil
}

// Update changes a tag type. The kind of its error is NotFound if there is none, or it is that of edit. If nothing changes,
// it only reads.
func (s *Store) Update(ctx context.Context, name string, edit func(*TagType) error) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, uses, err := s.get(ctx, name)
		if err != nil {
			return nil, err
		}
		next := old
		if err := edit(&next); err != nil {
			return nil, err
		}
		if next.Name = old.Name; reflect.DeepEqual(old, next) {
			return nil, nil
		}
		id, event, err := s.log.RecordActions(ctx, old.change(eventlog.TagTypeUpdated, next.data(), old.data()))
		if err != nil {
			return nil, err
		}
		next.LastEvent = id
		return append(event, dynamo.ReplaceItem(s.table, toItem(next, uses), unchanged(old, uses))), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("update tag type %q: %w", name, err)
	}
	return nil
}

// Delete deletes a tag type that no toggle uses, archived ones included. check receives the tag type; its error is
// returned. The kind of other errors is NotFound, or Conflict if a toggle uses it, or if it is simple. It reads all
// toggles.
func (s *Store) Delete(ctx context.Context, name string, check func(TagType) error) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		t, uses, err := s.get(ctx, name) // before the toggles
		if err != nil {
			return nil, err
		}
		if err := check(t); err != nil {
			return nil, err
		}
		if name == toggle.DefaultTagType {
			return nil, apierror.Errorf(apierror.Conflict, "The tag type %q cannot be deleted.", name)
		}
		tagged, err := s.tagged(ctx)
		if err != nil {
			return nil, err
		}
		if n := tagged[name]; n > 0 {
			return nil, apierror.Errorf(apierror.Conflict, "The tag type %q is in use. The number of toggles that have tags of "+
				"it, archived ones included, is %d. Remove these tags first.", name, n)
		}
		change := t.change(eventlog.TagTypeDeleted, nil, t.data())
		id, event, err := s.log.RecordActions(ctx, change)
		if err != nil {
			return nil, err
		}
		deletion := dynamo.DeleteItem(s.table, key(name), unchanged(t, uses))
		return slices.Concat([]types.TransactWriteItem{deletion}, s.log.PutMarkerActions(change.Subject, id, ""), event), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("delete tag type %q: %w", name, err)
	}
	return nil
}

// unchanged is the condition that a tag type and the number of its uses are as they were read.
func unchanged(t TagType, uses int64) expression.ConditionBuilder {
	attribute := expression.Name(attributeUses)
	same := attribute.AttributeNotExists()
	if uses != 0 {
		same = attribute.Equal(expression.Value(uses))
	}
	if t.LastEvent == 0 && t.Name == toggle.DefaultTagType { // it can be not stored
		return eventlog.HasLast(0).And(same)
	}
	return eventlog.ExistsWithLast(accesstable.Hash, t.LastEvent).And(same)
}

// tagged returns the number of toggles that have tags of each type.
func (s *Store) tagged(ctx context.Context) (map[string]int, error) {
	rows, err := featuretable.Scan(ctx, s.client, s.features,
		func(row featuretable.Row) bool { return len(row.Toggle.Tags) > 0 }, featuretable.AttributeTags)
	counts := map[string]int{}
	for _, row := range rows {
		for _, name := range row.Toggle.TagTypes() {
			counts[name]++
		}
	}
	return counts, err
}

// Use returns the action of a transaction that gives a toggle its first tag of a type. It fails if the type does not
// exist. It is nil for simple, which always exists.
func Use(table, name string) []types.TransactWriteItem {
	if name == toggle.DefaultTagType {
		return nil
	}
	return []types.TransactWriteItem{dynamo.UpdateItem(table, key(name), expression.NewBuilder().
		WithCondition(expression.Name(accesstable.Hash).AttributeExists()).
		WithUpdate(expression.Add(expression.Name(attributeUses), expression.Value(1))))}
}
