package apitoken

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
)

// Store keeps the API tokens in the table ApiTokens. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store that uses tables.APITokens.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.APITokens}
}

// hash is the table's partition key.
const hash = "id"

// Key returns the key of a token's item.
func Key(s auth.Selector) dynamo.Item { return dynamo.Item{hash: dynamo.S(s.String())} }

// Get returns a token, or ErrNotFound.
func (s *Store) Get(ctx context.Context, selector auth.Selector) (APIToken, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(selector))
	if err != nil {
		return APIToken{}, fmt.Errorf("get an API token: %w", err)
	}
	if item == nil {
		return APIToken{}, ErrNotFound
	}
	return fromItem(item), nil
}

// List returns all tokens, ordered by name, then by selector.
func (s *Store) List(ctx context.Context) ([]APIToken, error) {
	var all []APIToken
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list API tokens: %w", err)
		}
		all = append(all, fromItem(item))
	}
	slices.SortFunc(all, func(a, b APIToken) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Selector.String(), b.Selector.String()))
	})
	return all, nil
}

// Create stores a new token and returns it in plain text. It ignores t.Selector, t.Verifier and t.SeenAt.
func (s *Store) Create(ctx context.Context, t APIToken, random io.Reader) (auth.Token, error) {
	t, token, err := New(t, random)
	if err != nil {
		return auth.Token{}, err
	}
	err = dynamo.PutNew(ctx, s.client, s.table, hash, toItem(t))
	if dynamo.FailedCondition(err) {
		// Random selectors never collide: an earlier attempt of this call wrote the item, and its response was lost.
		stored, getErr := s.Get(ctx, t.Selector)
		if getErr == nil && t.Verifier == stored.Verifier {
			return token, nil
		}
		err = errors.Join(err, getErr)
	}
	if err != nil {
		return auth.Token{}, fmt.Errorf("create an API token: %w", err)
	}
	return token, nil
}

// Creation returns the action of a transaction that stores a token that New returned. It fails if the selector is taken.
func (s *Store) Creation(t APIToken) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, toItem(t))
}

// Delete revokes a token. It is not an error if the token does not exist.
func (s *Store) Delete(ctx context.Context, selector auth.Selector) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: Key(selector)})
	if err != nil {
		return fmt.Errorf("delete an API token: %w", err)
	}
	return nil
}

func toItem(t APIToken) dynamo.Item {
	item := Key(t.Selector)
	item["name"], item["verifier"], item["createdAt"] = dynamo.S(t.Name), dynamo.B(t.Verifier[:]), dynamo.Time(t.CreatedAt)
	if t.ExpiresAt != nil {
		item["expiresAt"] = dynamo.Time(*t.ExpiresAt)
	}
	return item
}

func fromItem(item dynamo.Item) APIToken {
	t := APIToken{Name: item.String("name"), ExpiresAt: item.Time("expiresAt"), SeenAt: item.Time("seenAt")}
	if created := item.Time("createdAt"); created != nil {
		t.CreatedAt = *created
	}
	t.Selector, _ = auth.ParseSelector(item.String(hash))
	copy(t.Verifier[:], item.Bytes("verifier"))
	return t
}
