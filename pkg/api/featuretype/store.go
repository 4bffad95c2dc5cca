package featuretype

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Table is the logical id of the table.
const Table = "FeatureTypes"

// Store keeps the types in the table FeatureTypes. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	log    *eventlog.Log
}

// NewStore returns a Store that uses the table FeatureTypes and records its changes in log. log can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{client, tables[Table], log}
}

// hash is the table's partition key.
const hash = "id"

// key is the key of a type's item.
type key struct {
	ID string `dynamodbav:"id"`
}

// record is the item of a type, without its evaluation requests.
type record struct {
	key
	Name         string `dynamodbav:"name"`
	Description  string `dynamodbav:"description"`
	LifetimeDays *int64 `dynamodbav:"lifetimeDays,omitempty"`
	Position     int64  `dynamodbav:"position"`
	LastEvent    int64  `dynamodbav:"event,omitempty"`
}

// List returns all types, ordered by position, then by id. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]toggle.Type, error) {
	var all []toggle.Type
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list feature types: %w", err)
		}
		t, err := fromItem(item)
		if err != nil {
			return nil, fmt.Errorf("list feature types: %w", err)
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b toggle.Type) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Get returns one type, whatever the letter case of the id. The kind of its error is NotFound if there is none. The
// read is consistent.
func (s *Store) Get(ctx context.Context, id string) (toggle.Type, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, dynamo.Marshal(key{toggle.NormalTypeID(id)}))
	if err != nil {
		return toggle.Type{}, fmt.Errorf("get feature type %q: %w", id, err)
	}
	if item == nil {
		return toggle.Type{}, notFound(id)
	}
	return fromItem(item)
}

// SetLifetime changes a type's lifetime and returns the changed type. The letter case of the id does not matter. The
// kind of its error is NotFound if there is no such type.
//
// Setting the current lifetime again is not recorded, but it writes the type's item too, because every write triggers
// the re-evaluation of the type's toggles (contract section 4.3). SetLifetime is one List and one transaction, repeated if
// the type is changed concurrently.
func (s *Store) SetLifetime(ctx context.Context, id string, days *int64) (toggle.Type, error) {
	return s.setLifetime(ctx, id, days, func([]toggle.Type) error { return nil })
}

// setLifetime is SetLifetime with a precondition, which receives all types before each transaction. Its error is returned.
func (s *Store) setLifetime(
	ctx context.Context, id string, days *int64, precondition func([]toggle.Type) error,
) (next toggle.Type, err error) {
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		all, err := s.List(ctx)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(t toggle.Type) bool { return t.ID == toggle.NormalTypeID(id) })
		if i < 0 {
			return nil, notFound(id)
		}
		if err := precondition(all); err != nil {
			return nil, err
		}
		old := all[i]
		next = old
		if reflect.DeepEqual(old.LifetimeDays, days) {
			return []types.TransactWriteItem{s.requestEvaluation(old.ID)}, nil
		}
		next.LifetimeDays = days
		return s.change(ctx, old, &next)
	}, nil)
	if err != nil {
		return toggle.Type{}, fmt.Errorf("set the lifetime of feature type %q: %w", id, err)
	}
	return next, nil
}

// Unchanged returns the condition, in a transaction, that the lifetime of a type has not changed since it was read. A
// type that did not exist must not have been changed either.
func (s *Store) Unchanged(t toggle.Type) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, dynamo.Marshal(key{t.ID}), eventlog.HasLast(t.LastEvent))
}

// requestEvaluation returns the action that requests the re-evaluation of the toggles of an existing type. It counts
// the requests so that the write changes the item: DynamoDB's stream has no record of a write that changes nothing.
func (s *Store) requestEvaluation(id string) types.TransactWriteItem {
	return s.update(id, expression.NewBuilder().
		WithCondition(expression.Name(hash).AttributeExists()).
		WithUpdate(expression.Add(expression.Name("evaluationRequests"), expression.Value(1))))
}

// update returns the action that updates the item of a type.
func (s *Store) update(id string, builder expression.Builder) types.TransactWriteItem {
	return dynamo.UpdateItem(s.table, dynamo.Marshal(key{id}), builder)
}

// change returns the actions that change the lifetime of a type, and sets next.LastEvent.
func (s *Store) change(ctx context.Context, old toggle.Type, next *toggle.Type) ([]types.TransactWriteItem, error) {
	id, event, err := s.log.RecordActions(ctx, eventlog.Change{
		Type:    eventlog.FeatureTypeUpdated,
		Subject: eventlog.Subject("type:" + old.ID),
		Last:    old.LastEvent,
		Data:    lifetimeOf(*next),
		PreData: lifetimeOf(old),
	})
	if err != nil {
		return nil, err
	}
	next.LastEvent = id
	update := eventlog.SetLast(id)
	if next.LifetimeDays == nil {
		update = update.Remove(expression.Name("lifetimeDays"))
	} else {
		update = update.Set(expression.Name("lifetimeDays"), expression.Value(*next.LifetimeDays))
	}
	change := s.update(old.ID, expression.NewBuilder().
		WithCondition(expression.Name(hash).AttributeExists().And(eventlog.HasLast(old.LastEvent))).
		WithUpdate(update))
	return append([]types.TransactWriteItem{change}, event...), nil
}

// lifetimeOf returns the data of an event about a type.
func lifetimeOf(t toggle.Type) any {
	return struct {
		ID           string `json:"id"`
		LifetimeDays *int64 `json:"lifetimeDays"`
	}{t.ID, t.LifetimeDays}
}

// Create adds a type and records it. The kind of its error is NameExists if its id is taken. It is one transaction.
func (s *Store) Create(ctx context.Context, t toggle.Type) error {
	failures, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		id, event, err := s.log.RecordActions(ctx, eventlog.Change{
			Type: eventlog.FeatureTypeCreated, Subject: eventlog.Subject("type:" + t.ID), Data: lifetimeOf(t),
		})
		t.LastEvent = id
		return append([]types.TransactWriteItem{s.CreateAction(t)}, event...), err
	})
	if err == nil && failures != nil {
		err = apierror.Errorf(apierror.NameExists, "A feature type with the id %q exists.", apierror.Echo(t.ID))
	}
	if err != nil {
		return fmt.Errorf("create feature type %q: %w", t.ID, err)
	}
	return nil
}

// CreateAction returns the action of a transaction that creates a type. It fails if the type exists.
func (s *Store) CreateAction(t toggle.Type) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, toItem(t))
}

func toItem(t toggle.Type) dynamo.Item {
	return dynamo.Marshal(record{
		key:          key{t.ID},
		Name:         t.Name,
		Description:  t.Description,
		LifetimeDays: t.LifetimeDays,
		Position:     t.Position,
		LastEvent:    t.LastEvent,
	})
}

func fromItem(item dynamo.Item) (toggle.Type, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return toggle.Type{}, err
	}
	return toggle.Type{
		ID:           stored.ID,
		Name:         stored.Name,
		Description:  stored.Description,
		LifetimeDays: stored.LifetimeDays,
		Position:     stored.Position,
		LastEvent:    stored.LastEvent,
	}, nil
}
