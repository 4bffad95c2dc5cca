package user

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
)

// AttributePATs names the attribute with the map of an account's tokens.
const AttributePATs = "pats"

// Store keeps the accounts in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore makes a store on the table Users.
func NewStore(client *dynamodb.Client, table string) *Store { return &Store{client, table} }

// Key is the key of an account's item.
func Key(id int64) dynamo.Item { return dynamo.Item{"id": dynamo.N(id)} }

// Get reads an account, or gives ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (User, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	switch {
	case err != nil:
		return User{}, fmt.Errorf("get user %d: %w", id, err)
	case item == nil:
		return User{}, ErrNotFound
	}
	return Of(item), nil
}

// Exists says whether there is an account with that id.
func (s *Store) Exists(ctx context.Context, id int64) (bool, error) {
	if id < 1 || id > auth.MaxID {
		return false, nil
	}
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return false, fmt.Errorf("look user %d up: %w", id, err)
	}
	return item != nil, nil
}

// Create adds an account that is not there yet, without tokens; one that is stays as it is.
func (s *Store) Create(ctx context.Context, u User) error {
	item := dynamo.Item{
		"id": dynamo.N(u.ID), "kind": dynamo.S(string(u.Kind)), "name": dynamo.S(u.Name), "rootRole": dynamo.S(string(u.Role)),
		"disabled": dynamo.Bool(u.Disabled), AttributePATs: dynamo.M(dynamo.Item{}),
	}
	if u.Email != "" {
		item["email"] = dynamo.S(u.Email)
	}
	if err := dynamo.PutNew(ctx, s.client, s.table, "id", item); err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("create user %d: %w", u.ID, err)
	}
	return nil
}

// SetDisabled disables or enables an account, or gives ErrNotFound. Its tokens are refused, or taken again, at once.
func (s *Store) SetDisabled(ctx context.Context, id int64, disabled bool) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: Key(id),
		ConditionExpression:       aws.String("attribute_exists(#id)"),
		UpdateExpression:          aws.String("SET #disabled = :disabled"),
		ExpressionAttributeNames:  map[string]string{"#id": "id", "#disabled": "disabled"},
		ExpressionAttributeValues: dynamo.Item{":disabled": dynamo.Bool(disabled)},
	})
	switch {
	case dynamo.FailedCondition(err):
		return ErrNotFound
	case err != nil:
		return fmt.Errorf("set user %d disabled: %w", id, err)
	}
	return nil
}

// Of reads an account's item.
func Of(item dynamo.Item) User {
	u := User{
		ID: item.Int("id"), Kind: Kind(item.String("kind")), Name: item.String("name"), Email: item.String("email"),
		Role: auth.Role(item.String("rootRole")), Disabled: item.Bool("disabled"), PATs: map[string]int64{},
	}
	pats := item.Map(AttributePATs)
	for key := range pats {
		u.PATs[key] = pats.Int(key)
	}
	return u
}
