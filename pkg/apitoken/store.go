package apitoken

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
)

// Store keeps the API tokens in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore makes a store on the table ApiTokens.
func NewStore(client *dynamodb.Client, table string) *Store { return &Store{client, table} }

func key(s auth.Selector) dynamo.Item { return dynamo.Item{"id": dynamo.S(s.String())} }

// Get reads a token, or gives ErrNotFound.
func (s *Store) Get(ctx context.Context, selector auth.Selector) (APIToken, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(selector))
	switch {
	case err != nil:
		return APIToken{}, fmt.Errorf("get an API token: %w", err)
	case item == nil:
		return APIToken{}, ErrNotFound
	}
	t := APIToken{Selector: selector, Name: item.String("name"), ExpiresAt: item.Time("expiresAt")}
	copy(t.Verifier[:], item.Bytes("verifier"))
	return t, nil
}

// Create stores a new token with a random selector and gives its plain text. t.Selector and t.Verifier are not read.
func (s *Store) Create(ctx context.Context, t APIToken, random io.Reader) (auth.Token, error) {
	if _, err := io.ReadFull(random, t.Selector[:]); err != nil {
		return auth.Token{}, fmt.Errorf("make a selector: %w", err)
	}
	token, err := auth.NewToken(auth.APIToken, t.Selector, random)
	if err != nil {
		return auth.Token{}, err
	}
	verifier := token.Verifier()
	item := key(t.Selector)
	item["name"], item["verifier"] = dynamo.S(t.Name), dynamo.B(verifier[:])
	if t.ExpiresAt != nil {
		item["expiresAt"] = dynamo.Time(*t.ExpiresAt)
	}
	err = dynamo.PutNew(ctx, s.client, s.table, "id", item)
	if dynamo.FailedCondition(err) {
		// Two random selectors are never the same: an attempt of ours was written and its answer lost.
		stored, getErr := s.Get(ctx, t.Selector)
		if getErr == nil && verifier.Equal(stored.Verifier[:]) {
			return token, nil
		}
		err = errors.Join(err, getErr)
	}
	if err != nil {
		return auth.Token{}, fmt.Errorf("create an API token: %w", err)
	}
	return token, nil
}

// Delete revokes a token at once; one that is not there is no error.
func (s *Store) Delete(ctx context.Context, selector auth.Selector) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(s.table), Key: key(selector)})
	if err != nil {
		return fmt.Errorf("delete an API token: %w", err)
	}
	return nil
}
