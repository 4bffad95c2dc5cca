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
	Now       func() time.Time
	Random    io.Reader
	Logger    *slog.Logger
	Function  string // the dimension of metrics in the log; without a name there are none
}

// source reads tokens and snapshots, and keeps what it has read. It is safe for concurrent use.
type source struct {
	client    *dynamodb.Client
	tokens    string // the names of tables
	snapshots string
	freshness time.Duration // how long a pointer is used without reading it again
	now       func() time.Time

	mu           sync.Mutex
	verified     map[access.Selector]clienttokentable.Token // that were valid when they were read last
	environments map[string]*environment
}

// readTimeout limits the reads of one request. A process that has read a snapshot before then answers with it.
const readTimeout = 2 * time.Second

// maxVerified limits the number of tokens that are kept for the time in which DynamoDB cannot be reached.
const maxVerified = 5_000

// environment is what a process has read of an environment.
type environment struct {
	mu      sync.Mutex // held while the environment is read
	pointer snapshottable.Pointer
	readAt  time.Time // of the pointer; zero: never
	view    *view     // of the snapshot; nil: none was read
}

// environment returns what the process has read of an environment. One that it has not read before is not kept yet: its
// name comes from a secret that was not verified.
func (s *source) environment(name string) *environment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.environments[name]; e != nil {
		return e
	}
	return &environment{}
}

// keep keeps what the process has read of an environment, unless another request has read it first.
func (s *source) keep(name string, e *environment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.environments[name] == nil {
		s.environments[name] = e
	}
}

// errNothing is the cause of a 503 if an environment has no snapshot yet.
var errNothing = errors.New("no snapshot of the environment has been compiled")

// read returns the stored token of a secret, and what the process has of its environment. found is false if there is no
// such token, or if it has expired. It is one BatchGetItem: the token eventually consistent and, if the pointer was not
// read recently, the pointer consistent.
func (s *source) read(ctx context.Context, secret clienttokentable.Secret) (
	token clienttokentable.Token, v *view, found bool, err error,
) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e := s.environment(secret.Environment)
	e.mu.Lock()
	if v := e.recent(s.now(), s.freshness); v != nil {
		e.mu.Unlock()
		return s.readToken(ctx, secret, v)
	}
	defer e.mu.Unlock()
	return s.readTokenAndPointer(ctx, secret, e)
}

// recent returns the view of the environment if its pointer was read recently, and nil otherwise.
func (e *environment) recent(now time.Time, freshness time.Duration) *view {
	if now.Sub(e.readAt) >= freshness {
		return nil
	}
	return e.view
}

// readToken is read while the pointer needs no read. Requests do not wait for one another.
func (s *source) readToken(ctx context.Context, secret clienttokentable.Secret, v *view) (
	clienttokentable.Token, *view, bool, error,
) {
	token, _, found, err := s.batch(ctx, secret, nil)
	if err != nil {
		return s.lastGood(secret, v, err)
	}
	s.remember(secret, token, found)
	if !found {
		return clienttokentable.Token{}, nil, false, nil
	}
	return token, v, true, nil
}

// readTokenAndPointer is read while the pointer must be read. The environment is locked.
func (s *source) readTokenAndPointer(ctx context.Context, secret clienttokentable.Secret, e *environment) (
	clienttokentable.Token, *view, bool, error,
) {
	token, pointer, found, err := s.batch(ctx, secret, e)
	if err != nil {
		return s.lastGood(secret, e.view, err)
	}
	s.remember(secret, token, found)
	if found {
		s.keep(secret.Environment, e)
	}
	if pointer != nil && (found || e.view != nil) {
		err = s.advance(ctx, e, *pointer) // also for an invalid token: the next requests do not read the pointer again
	}
	if !found {
		return clienttokentable.Token{}, nil, false, nil
	}
	if e.view == nil {
		return token, nil, true, unavailable(errors.Join(err, errNothing))
	}
	return token, e.view, true, nil
}

// batch reads a token and, unless e is nil, the pointer of its environment e, which is locked. A token belongs to the
// environment in its secret: another one does not verify.
func (s *source) batch(ctx context.Context, secret clienttokentable.Secret, e *environment) (
	token clienttokentable.Token, pointer *snapshottable.Pointer, found bool, err error,
) {
	keys := map[string]types.KeysAndAttributes{
		s.tokens: {Keys: []map[string]types.AttributeValue{clienttokentable.Key(secret.Selector)}},
	}
	if e != nil {
		keys[s.snapshots] = types.KeysAndAttributes{
			Keys:           []map[string]types.AttributeValue{snapshottable.PointerKey(secret.Environment)},
			ConsistentRead: aws.Bool(true),
		}
	}
	began := s.now()
	items, err := s.get(ctx, keys)
	if err != nil {
		return token, nil, false, err
	}
	for _, item := range items[s.tokens] {
		stored, err := clienttokentable.Unmarshal(item)
		if err != nil {
			return token, nil, false, err
		}
		token, found = stored, stored.Verifies(secret) && !stored.Expired(began)
	}
	for _, item := range items[s.snapshots] {
		p, err := snapshottable.UnmarshalPointer(item)
		if err != nil {
			return token, nil, false, err
		}
		pointer = &p
	}
	if e != nil {
		e.readAt = began
	}
	return token, pointer, found, nil
}

// get reads items by their keys, which are of at most 100 items. It returns them by table.
func (s *source) get(ctx context.Context, keys map[string]types.KeysAndAttributes) (map[string][]dynamo.Item, error) {
	items := map[string][]dynamo.Item{}
	for len(keys) > 0 { // DynamoDB can return a part of the items
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: keys})
		if err != nil {
			return nil, err
		}
		read := 0
		for table, part := range out.Responses {
			for _, item := range part {
				items[table] = append(items[table], item)
			}
			read += len(part)
		}
		if read == 0 && len(out.UnprocessedKeys) > 0 {
			return nil, errors.New("DynamoDB throttled the read of tokens or a pointer")
		}
		keys = out.UnprocessedKeys
	}
	return items, nil
}

// storedTokens returns the stored tokens of secrets, by their selectors, whether or not they are valid. There are at
// most 100 secrets. It is one BatchGetItem, eventually consistent.
func (s *source) storedTokens(
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
	items, err := s.get(ctx, map[string]types.KeysAndAttributes{s.tokens: {Keys: keys}})
	if err != nil {
		return nil, unavailable(err)
	}
	for _, item := range items[s.tokens] {
		token, err := clienttokentable.Unmarshal(item)
		if err != nil {
			return nil, unavailable(err)
		}
		stored[token.Selector] = token
	}
	return stored, nil
}

// lastGood returns what the process has read before, v among it, for the time in which DynamoDB cannot be reached.
func (s *source) lastGood(secret clienttokentable.Secret, v *view, cause error) (
	clienttokentable.Token, *view, bool, error,
) {
	s.mu.Lock()
	token, known := s.verified[secret.Selector]
	s.mu.Unlock()
	if !known || !token.Verifies(secret) || v == nil {
		return clienttokentable.Token{}, nil, false, unavailable(cause)
	}
	now := s.now()
	token.SeenAt = &now // nothing can be written
	return token, v, !token.Expired(now), nil
}

// remember keeps a valid token, and forgets one that is no longer valid.
func (s *source) remember(secret clienttokentable.Secret, token clienttokentable.Token, valid bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, known := s.verified[secret.Selector]
	switch {
	case valid && (known || len(s.verified) < maxVerified):
		s.verified[secret.Selector] = token
	case !valid && known && kept.Verifies(secret):
		delete(s.verified, secret.Selector)
	}
}

// refresh reads the pointer of an environment again, and its snapshot if it is newer. It is an error if there is no
// pointer, as between a restore and the first compilation after it: what the process has can then be older than what
// the client has.
func (s *source) refresh(ctx context.Context, name string) (*view, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e := s.environment(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	began := s.now()
	pointer, exists, err := snapshottable.ReadPointer(ctx, s.client, s.snapshots, name)
	if err != nil {
		return e.view, err
	}
	e.readAt = began
	if !exists {
		return e.view, errNothing
	}
	return e.view, s.advance(ctx, e, pointer)
}

// advance loads the snapshot of a pointer, if the process has another one. If that fails, the process keeps what it
// has, and reads the pointer again with the next request.
func (s *source) advance(ctx context.Context, e *environment, pointer snapshottable.Pointer) error {
	if e.view != nil && e.pointer.Epoch == pointer.Epoch && e.pointer.Version == pointer.Version {
		return nil
	}
	loaded, err := snapshottable.Load(ctx, s.client, s.snapshots, pointer)
	if err != nil {
		e.readAt = time.Time{}
		return err
	}
	e.pointer, e.view = pointer, newView(loaded)
	return nil
}

// unavailable returns the 503 for a process that has nothing to answer with.
func unavailable(cause error) error {
	return apierror.NewUnavailable(fmt.Errorf("read what applications download: %w", cause))
}

// newSource returns a source that has read nothing.
func newSource(client *dynamodb.Client, tables dynamo.Tables, freshness time.Duration, now func() time.Time) *source {
	return &source{
		client:       client,
		tokens:       tables[clienttokentable.Table],
		snapshots:    tables[snapshottable.Table],
		freshness:    freshness,
		now:          now,
		verified:     map[access.Selector]clienttokentable.Token{},
		environments: map[string]*environment{},
	}
}
