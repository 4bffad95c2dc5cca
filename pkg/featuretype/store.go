package featuretype

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// Store keeps the types in the table FeatureTypes. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	source string // of events; empty: changes are not announced
	now    func() time.Time
}

// NewStore returns a Store that uses tables.FeatureTypes. It announces nothing.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client: client, table: tables.FeatureTypes}
}

// Announcing returns a Store that announces changes of lifetimes with events of a source, unless source is empty.
func (s *Store) Announcing(source string, now func() time.Time) *Store {
	return &Store{s.client, s.table, source, now}
}

// hash is the table's partition key.
const hash = "id"

// List returns all types, ordered by position, then by id. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]FeatureType, error) {
	var all []FeatureType
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list feature types: %w", err)
		}
		all = append(all, s.fromItem(item))
	}
	slices.SortFunc(all, func(a, b FeatureType) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Get returns one type, or ErrNotFound. The read is consistent.
func (s *Store) Get(ctx context.Context, id string) (FeatureType, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, dynamo.Item{hash: dynamo.S(id)})
	if err != nil {
		return FeatureType{}, fmt.Errorf("get feature type %q: %w", id, err)
	}
	if item == nil {
		return FeatureType{}, ErrNotFound
	}
	return s.fromItem(item), nil
}

// SetLifetime changes a type's lifetime and returns the changed type, or ErrNotFound. The same lifetime again changes nothing, so it
// creates no stream record. The announcement of a change contains the principal of ctx.
func (s *Store) SetLifetime(ctx context.Context, id string, days *int64) (FeatureType, error) {
	input := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: dynamo.Item{hash: dynamo.S(id)},
		ConditionExpression:                 aws.String("attribute_exists(#lifetimeDays)"),
		ExpressionAttributeNames:            map[string]string{"#lifetimeDays": "lifetimeDays"},
		ExpressionAttributeValues:           dynamo.Item{},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	var set, clauses []string
	if days != nil {
		*input.ConditionExpression = "attribute_exists(#id) AND NOT #lifetimeDays = :days"
		input.ExpressionAttributeNames["#id"], input.ExpressionAttributeValues[":days"] = hash, dynamo.N(*days)
		set = append(set, "#lifetimeDays = :days")
	} else {
		clauses = append(clauses, "REMOVE #lifetimeDays")
	}
	if s.source != "" {
		set = append(set, s.announce(ctx, input, days)...)
	}
	if set != nil {
		clauses = append(clauses, "SET "+strings.Join(set, ", "))
	}
	input.UpdateExpression = aws.String(strings.Join(clauses, " "))
	if len(input.ExpressionAttributeValues) == 0 { // DynamoDB rejects an empty map
		input.ExpressionAttributeValues = nil
	}
	out, err := s.client.UpdateItem(ctx, input)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if failed.Item == nil {
			return FeatureType{}, ErrNotFound
		}
		return s.fromItem(failed.Item), nil
	}
	if err != nil {
		return FeatureType{}, fmt.Errorf("set the lifetime of feature type %q: %w", id, err)
	}
	return s.fromItem(out.Attributes), nil
}

// Create adds a type. If the type exists, Create changes nothing.
func (s *Store) Create(ctx context.Context, t FeatureType) error {
	if err := dynamo.PutNew(ctx, s.client, s.table, hash, toItem(t)); err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("create feature type %q: %w", t.ID, err)
	}
	return nil
}

// Creation returns the action of a transaction that creates a type. It fails if the type exists.
func (s *Store) Creation(t FeatureType) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, toItem(t))
}

func toItem(t FeatureType) dynamo.Item {
	item := dynamo.Item{
		hash: dynamo.S(t.ID), "name": dynamo.S(t.Name), "description": dynamo.S(t.Description), "position": dynamo.N(t.Position),
	}
	if t.LifetimeDays != nil {
		item["lifetimeDays"] = dynamo.N(*t.LifetimeDays)
	}
	return item
}

func (s *Store) fromItem(item dynamo.Item) FeatureType {
	t := FeatureType{
		ID: item.String(hash), Name: item.String("name"), Description: item.String("description"), LifetimeDays: lifetime(item, "lifetimeDays"),
		Position: item.Int("position"),
	}
	if s.source != "" {
		t.Pending = s.pending(item)
	}
	return t
}

// lifetime reads a number of days. 0 is stored as no number, or as 0 where an expression needs a value.
func lifetime(item dynamo.Item, attribute string) *int64 {
	if days := item.Int(attribute); days != 0 {
		return &days
	}
	return nil
}
