package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// Config is what a Handler needs. The tables are ClientTokens, Snapshots and Usage.
type Config struct {
	DynamoDB  *dynamodb.Client
	Tables    dynamo.Tables
	Freshness time.Duration // how long a process uses a pointer to a snapshot without reading it again
	Origins   []string      // of pages that can use the frontend API and OFREP; *: all
	Proxies   Proxies
	// OriginSecrets returns the text with the secrets of which each request must have one; nil: it needs none.
	OriginSecrets func(context.Context) (string, error)
	Now           func() time.Time
	Random        io.Reader
	NewID         func() string // returns the id of an error
	Logger        *slog.Logger
	Function      string // the dimension of metrics in the log; without a name there are none
}

// store reads the tables ClientTokens and Snapshots. It is safe for concurrent use.
type store struct {
	client        *dynamodb.Client
	tokenTable    string
	snapshotTable string
	now           func() time.Time

	mu       sync.Mutex
	failure  error     // of the last read of tokens and pointers; nil: it has succeeded
	failedAt time.Time // when that read ended
}

func newStore(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time) *store {
	return &store{
		client:        client,
		tokenTable:    tables[clienttokentable.Table],
		snapshotTable: tables[snapshottable.Table],
		now:           now,
	}
}

// readTimeout limits the reads of one request. A process that has read a snapshot before then uses it.
const readTimeout = 2 * time.Second

// pause is the time after a failed read in which a process uses what it has read before, or returns 503 if a snapshot
// cannot be loaded, and does not read again. Otherwise each request would wait for readTimeout while DynamoDB is slow,
// and repeat a read that is throttled.
const pause = 2 * time.Second

// recentFailure returns why the last read has failed, until the end of the pause after it.
func (s *store) recentFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().Sub(s.failedAt) >= pause {
		return nil
	}
	return s.failure
}

// ended remembers the result of a read. A caller that has gone away is no failure.
func (s *store) ended(ctx context.Context, err error) {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure, s.failedAt = err, s.now()
}

// credentials is what was read for a secret. The errors say what was not read.
type credentials struct {
	token      *clienttokentable.Token // nil: the secret is not valid
	tokenErr   error
	pointer    *snapshottable.Pointer // of the environment; nil: there is none
	pointerErr error
}

// read reads the token of a secret eventually consistent and, unless it is empty, the pointer of an environment
// consistent. It is one BatchGetItem.
func (s *store) read(ctx context.Context, secret clienttokentable.Secret, environment string) (c credentials) {
	keys := map[string]types.KeysAndAttributes{
		s.tokenTable: {Keys: []map[string]types.AttributeValue{clienttokentable.Key(secret.Selector)}},
	}
	if environment != "" {
		keys[s.snapshotTable] = types.KeysAndAttributes{
			Keys:           []map[string]types.AttributeValue{snapshottable.PointerKey(environment)},
			ConsistentRead: aws.Bool(true),
		}
	}
	began := s.now()
	items, unread, err := s.get(ctx, keys)
	if _, ok := unread[s.tokenTable]; ok {
		c.tokenErr = err
	}
	if _, ok := unread[s.snapshotTable]; ok {
		c.pointerErr = err
	}
	for _, item := range items[s.tokenTable] {
		var token clienttokentable.Token
		token, c.tokenErr = clienttokentable.Unmarshal(item)
		if c.tokenErr == nil && token.Verifies(secret) && !token.Expired(began) {
			c.token = &token
		}
	}
	for _, item := range items[s.snapshotTable] {
		var pointer snapshottable.Pointer
		pointer, c.pointerErr = snapshottable.UnmarshalPointer(item)
		c.pointer = &pointer
	}
	return c
}

// pointer reads the pointer of an environment. It returns nil if there is none.
func (s *store) pointer(ctx context.Context, environment string) (*snapshottable.Pointer, error) {
	p, exists, err := snapshottable.ReadPointer(ctx, s.client, s.snapshotTable, environment)
	s.ended(ctx, err)
	if err != nil || !exists {
		return nil, err
	}
	return &p, nil
}

// snapshot reads the snapshot of a pointer.
func (s *store) snapshot(ctx context.Context, p snapshottable.Pointer) (snapshot.Snapshot, error) {
	return snapshottable.Load(ctx, s.client, s.snapshotTable, p)
}

// tokens returns the stored tokens of at most 100 secrets, by their selectors, whether or not they are valid. It is one
// BatchGetItem, eventually consistent.
func (s *store) tokens(
	ctx context.Context, secrets []clienttokentable.Secret,
) (map[access.Selector]clienttokentable.Token, error) {
	stored := map[access.Selector]clienttokentable.Token{}
	var keys []map[string]types.AttributeValue
	for _, secret := range secrets {
		if _, repeated := stored[secret.Selector]; !repeated { // DynamoDB rejects repeated keys
			stored[secret.Selector] = clienttokentable.Token{}
			keys = append(keys, clienttokentable.Key(secret.Selector))
		}
	}
	if len(keys) == 0 {
		return stored, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	items, _, err := s.get(ctx, map[string]types.KeysAndAttributes{s.tokenTable: {Keys: keys}})
	if err != nil {
		return nil, unavailable(err)
	}
	for _, item := range items[s.tokenTable] {
		token, err := clienttokentable.Unmarshal(item)
		if err != nil {
			return nil, unavailable(err)
		}
		stored[token.Selector] = token
	}
	return stored, nil
}

// errThrottled reports that DynamoDB has read only a part of the items.
var errThrottled = errors.New("DynamoDB throttled the read of tokens or a pointer")

// get reads items by their keys, which are of at most 100 items. It returns them by table, and with an error the keys
// that were not read.
func (s *store) get(ctx context.Context, keys map[string]types.KeysAndAttributes) (
	items map[string][]dynamo.Item, unread map[string]types.KeysAndAttributes, err error,
) {
	items = map[string][]dynamo.Item{}
	for len(keys) > 0 { // DynamoDB can return a part of the items
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: keys})
		s.ended(ctx, err)
		if err != nil {
			return items, keys, err
		}
		for table, part := range out.Responses {
			for _, item := range part {
				items[table] = append(items[table], item)
			}
		}
		before := numberOf(keys)
		if keys = out.UnprocessedKeys; numberOf(keys) == before {
			return items, keys, errThrottled
		}
	}
	return items, nil, nil
}

func numberOf(keys map[string]types.KeysAndAttributes) (n int) {
	for _, of := range keys {
		n += len(of.Keys)
	}
	return n
}

// unavailable returns the 503 for a process that has read nothing.
func unavailable(cause error) error {
	return apierror.NewUnavailable(fmt.Errorf("read what applications download: %w", cause))
}
