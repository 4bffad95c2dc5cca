package apitoken

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "ApiTokens"

// Store keeps the API tokens in the table ApiTokens. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	log    *eventlog.Log
}

// NewStore returns a Store that uses the table ApiTokens and records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{client, tables[Table], log}
}

// hash is the table's partition key.
const hash = "id"

// key is the key of a token's item.
type key struct {
	Selector string `dynamodbav:"id"`
}

// record is the item of a token.
type record struct {
	key
	Name      string     `dynamodbav:"name"`
	Verifier  []byte     `dynamodbav:"verifier"`
	ExpiresAt *time.Time `dynamodbav:"expiresAt,omitempty"`
	CreatedAt time.Time  `dynamodbav:"createdAt"`
	SeenAt    *time.Time `dynamodbav:"seenAt,omitempty"` // only the authorizer writes it
	LastEvent int64      `dynamodbav:"event,omitempty"`
}

// Key returns the key of a token's item.
func Key(s access.Selector) dynamo.Item { return dynamo.Marshal(key{s.String()}) }

// Get returns a token. The kind of its error is NotFound if there is none.
func (s *Store) Get(ctx context.Context, selector access.Selector) (APIToken, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(selector))
	if err != nil {
		return APIToken{}, fmt.Errorf("get an API token: %w", err)
	}
	if item == nil {
		return APIToken{}, apierror.New(apierror.NotFound, "There is no such API token.")
	}
	return FromItem(item)
}

// Unchanged returns the condition of a transaction that a token exists and has not changed since it was read.
func (s *Store) Unchanged(t APIToken) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, Key(t.Selector), eventlog.ExistsWithLast(hash, t.LastEvent))
}

// List returns all tokens, ordered by name, then by selector.
func (s *Store) List(ctx context.Context) ([]APIToken, error) {
	var all []APIToken
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list API tokens: %w", err)
		}
		t, err := FromItem(item)
		if err != nil {
			return nil, fmt.Errorf("list API tokens: %w", err)
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b APIToken) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Selector.String(), b.Selector.String()))
	})
	return all, nil
}

// Create stores a new token and returns it in plain text. It ignores t.Selector, t.Verifier and t.SeenAt.
func (s *Store) Create(ctx context.Context, t APIToken, random io.Reader) (access.Token, error) {
	t, token, err := New(t, random)
	if err != nil {
		return access.Token{}, err
	}
	failures, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) { return s.CreateActions(ctx, t) })
	if failures != nil { // random selectors never collide
		err = errors.New("the selector is taken")
	}
	if err != nil {
		return access.Token{}, fmt.Errorf("create an API token: %w", err)
	}
	return token, nil
}

// CreateActions returns the actions of a transaction that stores a token that New returned, and records it. They fail if
// the selector is taken.
func (s *Store) CreateActions(ctx context.Context, t APIToken) ([]types.TransactWriteItem, error) {
	id, event, err := s.log.RecordActions(ctx, t.change(eventlog.APITokenCreated, t.eventData(), nil))
	t.LastEvent = id
	return append([]types.TransactWriteItem{dynamo.NewItem(s.table, hash, toItem(t))}, event...), err
}

// Delete revokes a token. It is not an error if the token does not exist.
func (s *Store) Delete(ctx context.Context, selector access.Selector) error {
	t, err := s.Get(ctx, selector)
	if apierror.KindOf(err) == apierror.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) { // failed: a concurrent call deleted it
		_, event, err := s.log.RecordActions(ctx, t.change(eventlog.APITokenDeleted, nil, t.eventData()))
		deletion := dynamo.DeleteItem(s.table, Key(selector), eventlog.ExistsWithLast(hash, t.LastEvent))
		return append([]types.TransactWriteItem{deletion}, event...), err
	})
	if err != nil {
		return fmt.Errorf("delete an API token: %w", err)
	}
	return nil
}

// toItem does not store when the token was last seen.
func toItem(t APIToken) dynamo.Item {
	return dynamo.Marshal(record{
		key:       key{t.Selector.String()},
		Name:      t.Name,
		Verifier:  t.Verifier[:],
		ExpiresAt: t.ExpiresAt,
		CreatedAt: t.CreatedAt,
		LastEvent: t.LastEvent,
	})
}

// FromItem returns the token that an item contains.
func FromItem(item dynamo.Item) (APIToken, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return APIToken{}, err
	}
	selector, ok := access.ParseSelector(stored.Selector)
	if !ok {
		return APIToken{}, fmt.Errorf("the key %q of an API token is not a selector", stored.Selector)
	}
	t := APIToken{
		Selector:  selector,
		Name:      stored.Name,
		ExpiresAt: stored.ExpiresAt,
		CreatedAt: stored.CreatedAt,
		SeenAt:    stored.SeenAt,
		LastEvent: stored.LastEvent,
	}
	copy(t.Verifier[:], stored.Verifier)
	return t, nil
}
