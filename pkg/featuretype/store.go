package featuretype

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// Store keeps the types in the table FeatureTypes. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store that uses tables.FeatureTypes.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.FeatureTypes}
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
		all = append(all, fromItem(item))
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
	return fromItem(item), nil
}

// SetLifetime changes a type's lifetime and returns the changed type, or ErrNotFound. The same lifetime again changes nothing, so it
// creates no stream record.
func (s *Store) SetLifetime(ctx context.Context, id string, days *int64) (FeatureType, error) {
	input := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: dynamo.Item{hash: dynamo.S(id)},
		ConditionExpression:      aws.String("attribute_exists(#id)"),
		UpdateExpression:         aws.String("REMOVE #lifetimeDays"),
		ExpressionAttributeNames: map[string]string{"#id": hash, "#lifetimeDays": "lifetimeDays"},
		ReturnValues:             types.ReturnValueAllNew,
	}
	if days != nil {
		input.UpdateExpression = aws.String("SET #lifetimeDays = :days")
		input.ExpressionAttributeValues = dynamo.Item{":days": dynamo.N(*days)}
	}
	out, err := s.client.UpdateItem(ctx, input)
	if dynamo.FailedCondition(err) {
		return FeatureType{}, ErrNotFound
	}
	if err != nil {
		return FeatureType{}, fmt.Errorf("set the lifetime of feature type %q: %w", id, err)
	}
	return fromItem(out.Attributes), nil
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

func fromItem(item dynamo.Item) FeatureType {
	t := FeatureType{ID: item.String(hash), Name: item.String("name"), Description: item.String("description"), Position: item.Int("position")}
	if days, ok := item.IntOK("lifetimeDays"); ok {
		t.LifetimeDays = &days
	}
	return t
}
