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

// Store keeps the types in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

var (
	_ Getter         = (*Store)(nil)
	_ Lister         = (*Store)(nil)
	_ LifetimeSetter = (*Store)(nil)
)

// NewStore makes a store on the table FeatureTypes.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.FeatureTypes}
}

// List implements Lister: one Scan per MB, consistent.
func (s *Store) List(ctx context.Context) ([]FeatureType, error) {
	var all []FeatureType
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list feature types: %w", err)
		}
		all = append(all, typeOf(item))
	}
	slices.SortFunc(all, func(a, b FeatureType) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Get implements Getter: one GetItem, consistent.
func (s *Store) Get(ctx context.Context, id string) (FeatureType, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, dynamo.Item{"id": dynamo.S(id)})
	switch {
	case err != nil:
		return FeatureType{}, fmt.Errorf("get feature type %q: %w", id, err)
	case item == nil:
		return FeatureType{}, ErrNotFound
	}
	return typeOf(item), nil
}

// SetLifetime implements LifetimeSetter: one UpdateItem. The same value again changes nothing, so the stream tells nobody.
func (s *Store) SetLifetime(ctx context.Context, id string, days *int64) (FeatureType, error) {
	input := &dynamodb.UpdateItemInput{
		TableName:                &s.table,
		Key:                      dynamo.Item{"id": dynamo.S(id)},
		ConditionExpression:      aws.String("attribute_exists(#id)"),
		UpdateExpression:         aws.String("REMOVE #lifetimeDays"),
		ExpressionAttributeNames: map[string]string{"#id": "id", "#lifetimeDays": "lifetimeDays"},
		ReturnValues:             types.ReturnValueAllNew,
	}
	if days != nil {
		input.UpdateExpression = aws.String("SET #lifetimeDays = :days")
		input.ExpressionAttributeValues = dynamo.Item{":days": dynamo.N(*days)}
	}
	out, err := s.client.UpdateItem(ctx, input)
	switch {
	case dynamo.FailedCondition(err):
		return FeatureType{}, ErrNotFound
	case err != nil:
		return FeatureType{}, fmt.Errorf("set the lifetime of feature type %q: %w", id, err)
	}
	return typeOf(out.Attributes), nil
}

// Create adds a type that is not there yet; one that is stays as it is.
func (s *Store) Create(ctx context.Context, t FeatureType) error {
	if err := dynamo.PutNew(ctx, s.client, s.table, hash, itemOf(t)); err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("create feature type %q: %w", t.ID, err)
	}
	return nil
}

// Creation is Create as an action of a transaction, which fails where the type is there.
func (s *Store) Creation(t FeatureType) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, itemOf(t))
}

// hash is the table's partition key.
const hash = "id"

func itemOf(t FeatureType) dynamo.Item {
	item := dynamo.Item{
		"id": dynamo.S(t.ID), "name": dynamo.S(t.Name), "description": dynamo.S(t.Description), "position": dynamo.N(t.Position),
	}
	if t.LifetimeDays != nil {
		item["lifetimeDays"] = dynamo.N(*t.LifetimeDays)
	}
	return item
}

func typeOf(item dynamo.Item) FeatureType {
	t := FeatureType{ID: item.String("id"), Name: item.String("name"), Description: item.String("description"), Position: item.Int("position")}
	if days, ok := item.IntOK("lifetimeDays"); ok {
		t.LifetimeDays = &days
	}
	return t
}
