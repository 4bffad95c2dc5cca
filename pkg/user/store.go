package user

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.Users}
}

// hash is the table's partition key.
const hash = "id"

// Key is the key of an account's item. The item 0 is the counter of ids (store_add.go).
func Key(id int64) dynamo.Item { return dynamo.Item{hash: dynamo.N(id)} }

// Get reads an account, or gives ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (User, error) {
	if !isID(id) {
		return User{}, ErrNotFound
	}
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
	if !isID(id) {
		return false, nil
	}
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return false, fmt.Errorf("look user %d up: %w", id, err)
	}
	return item != nil, nil
}

// Create adds an account under its id where that is free, without tokens; one that is there stays as it is. It is for accounts whose ids
// are agreed on; all others are Added.
func (s *Store) Create(ctx context.Context, u User) error {
	if err := dynamo.PutNew(ctx, s.client, s.table, hash, itemOf(u)); err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("create user %d: %w", u.ID, err)
	}
	return nil
}

// Creation is Create as an action of a transaction, which fails where the id is taken.
func (s *Store) Creation(u User) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, itemOf(u))
}

// SetDisabled disables or enables an account, or gives ErrNotFound. Its tokens are refused, or taken again, at once.
func (s *Store) SetDisabled(ctx context.Context, id int64, disabled bool) error {
	if !isID(id) {
		return ErrNotFound
	}
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

func isID(id int64) bool { return 1 <= id && id <= auth.MaxID }

func itemOf(u User) dynamo.Item {
	item := Key(u.ID)
	item["kind"], item["name"], item["rootRole"] = dynamo.S(string(u.Kind)), dynamo.S(u.Name), dynamo.S(string(u.Role))
	item["disabled"], item[AttributePATs] = dynamo.Bool(u.Disabled), dynamo.M(dynamo.Item{})
	if u.Email != "" {
		item["email"] = dynamo.S(u.Email)
	}
	return item
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
