package apitoken

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
)

// Store keeps the API tokens in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore makes a store on the table ApiTokens.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.APITokens}
}

// hash is the table's partition key.
const hash = "id"

func key(s auth.Selector) dynamo.Item { return dynamo.Item{hash: dynamo.S(s.String())} }

// Get reads a token, or gives ErrNotFound.
func (s *Store) Get(ctx context.Context, selector auth.Selector) (APIToken, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(selector))
	switch {
	case err != nil:
		return APIToken{}, fmt.Errorf("get an API token: %w", err)
	case item == nil:
		return APIToken{}, ErrNotFound
	}
	return tokenOf(selector, item), nil
}

// List reads all tokens, ordered by name, then id.
func (s *Store) List(ctx context.Context) ([]APIToken, error) {
	var all []APIToken
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list API tokens: %w", err)
		}
		if selector, ok := auth.ParseSelector(item.String(hash)); ok {
			all = append(all, tokenOf(selector, item))
		}
	}
	slices.SortFunc(all, func(a, b APIToken) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Selector.String(), b.Selector.String()))
	})
	return all, nil
}

// Create stores a new token with a random selector and gives its plain text. t.Selector and t.Verifier are not read.
func (s *Store) Create(ctx context.Context, t APIToken, random io.Reader) (auth.Token, error) {
	t, token, err := New(t, random)
	if err != nil {
		return auth.Token{}, err
	}
	err = dynamo.PutNew(ctx, s.client, s.table, hash, itemOf(t))
	if dynamo.FailedCondition(err) {
		// Two random selectors are never the same: an attempt of ours was written and its answer lost.
		stored, getErr := s.Get(ctx, t.Selector)
		if getErr == nil && t.Verifier.Equal(stored.Verifier[:]) {
			return token, nil
		}
		err = errors.Join(err, getErr)
	}
	if err != nil {
		return auth.Token{}, fmt.Errorf("create an API token: %w", err)
	}
	return token, nil
}

// Creation is the writing of a token that New has made as an action of a transaction, which fails where the selector is taken.
func (s *Store) Creation(t APIToken) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, itemOf(t))
}

// Delete revokes a token at once; one that is not there is no error.
func (s *Store) Delete(ctx context.Context, selector auth.Selector) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(s.table), Key: key(selector)})
	if err != nil {
		return fmt.Errorf("delete an API token: %w", err)
	}
	return nil
}

func itemOf(t APIToken) dynamo.Item {
	item := key(t.Selector)
	item["name"], item["verifier"] = dynamo.S(t.Name), dynamo.B(t.Verifier[:])
	if t.ExpiresAt != nil {
		item["expiresAt"] = dynamo.Time(*t.ExpiresAt)
	}
	return item
}

func tokenOf(selector auth.Selector, item dynamo.Item) APIToken {
	t := APIToken{Selector: selector, Name: item.String("name"), ExpiresAt: item.Time("expiresAt")}
	copy(t.Verifier[:], item.Bytes("verifier"))
	return t
}
