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
	Logger        *slog.Logger
	Function      string // the dimension of metrics in the log; without a name there are none
}

// source reads tokens and snapshots, and keeps what it has read. It is safe for concurrent use.
type source struct {
	client    *dynamodb.Client
	tokens    string // the names of tables
	snapshots string
	freshness time.Duration // how long a pointer is used without reading it again
	now       func() time.Time

	mu           sync.Mutex
	verified     map[access.Selector]verified // tokens that were valid when they were read last
	environments map[string]*environment
	failure      error     // of the last call of DynamoDB; nil: it has succeeded
	failedAt     time.Time // when that call ended
}

// readTimeout limits the reads of one request. A process that has read a snapshot before then answers with it.
const readTimeout = 2 * time.Second

// pause is the time after a failed read in which a process answers with what it has read before, or 503 if a snapshot
// cannot be loaded, and does not read again. Otherwise each request would wait for readTimeout while DynamoDB is slow,
// and repeat a read that is throttled.
const pause = 2 * time.Second

// maxVerified limits the number of tokens that are kept for the time in which DynamoDB cannot be reached.
const maxVerified = 5_000

// verified is a token, and when it was read last.
type verified struct {
	clienttokentable.Token
	at time.Time
}

// environment is what a process has read of an environment.
type environment struct {
	mu      sync.Mutex // held while the environment is read
	pointer snapshottable.Pointer
	view    *view     // of the snapshot; nil: none was read
	next    time.Time // when the pointer is read again
	current time.Time // when the view was that of the pointer, which was read then
	behind  error     // why the view may not be that of the pointer; nil: it was when the pointer was read last
}

// reading is what a process answers a request with.
type reading struct {
	token   clienttokentable.Token
	view    *view     // of the token's environment
	behind  error     // why the token and the view may be out of date; nil: they are not
	current time.Time // when they were not
}

// reading returns what was read of the environment, which is locked.
func (e *environment) reading() reading {
	return reading{view: e.view, behind: e.behind, current: e.current}
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

// read returns what the process has for a secret. found is false if there is no such token, or if it has expired. It is
// one BatchGetItem: the token eventually consistent and, if the pointer was not read recently, the pointer consistent.
func (s *source) read(ctx context.Context, secret clienttokentable.Secret) (r reading, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e := s.environment(secret.Environment)
	e.mu.Lock()
	r = e.reading()
	if failure := s.recentFailure(); failure != nil {
		if r, found, err := s.lastGood(secret, r, failure); err == nil {
			e.mu.Unlock()
			return r, found, nil
		}
	}
	if s.now().Before(e.next) {
		e.mu.Unlock() // requests do not wait for the tokens of others
		return s.readToken(ctx, secret, r)
	}
	defer e.mu.Unlock()
	return s.readTokenAndPointer(ctx, secret, e)
}

// readToken reads only the token. r is what the process has read of its environment.
func (s *source) readToken(ctx context.Context, secret clienttokentable.Secret, r reading) (reading, bool, error) {
	began := s.now()
	got := s.batch(ctx, secret, false)
	if got.tokenErr != nil {
		return s.lastGood(secret, r, got.tokenErr)
	}
	s.remember(secret, got, began)
	if !got.found {
		return reading{}, false, nil
	}
	return r.of(got.token)
}

// of returns what a process answers a request with a valid token with. It is an error if the process has nothing.
func (r reading) of(token clienttokentable.Token) (reading, bool, error) {
	if r.view == nil {
		return reading{}, true, unavailable(r.behind)
	}
	r.token = token
	return r, true, nil
}

// readTokenAndPointer is read while the pointer must be read. The environment is locked. What was read of it is used,
// also if the token is not valid or cannot be read: the next requests do not read it again.
func (s *source) readTokenAndPointer(
	ctx context.Context, secret clienttokentable.Secret, e *environment,
) (reading, bool, error) {
	began := s.now()
	got := s.batch(ctx, secret, true)
	if got.found || e.view != nil {
		s.use(ctx, e, got.pointer, got.pointerErr, began)
	}
	if got.tokenErr != nil {
		return s.lastGood(secret, e.reading(), got.tokenErr)
	}
	s.remember(secret, got, began)
	if !got.found {
		return reading{}, false, nil
	}
	s.keep(secret.Environment, e)
	return e.reading().of(got.token)
}

// use uses what was read of the pointer of an environment, which is locked, from a time on; nil: there is no pointer. It
// loads the snapshot, if the process has another one. If that fails, the process keeps what it has.
func (s *source) use(
	ctx context.Context, e *environment, pointer *snapshottable.Pointer, err error, began time.Time,
) {
	if err == nil && pointer != nil && !e.has(*pointer) {
		var loaded snapshot.Snapshot
		if loaded, err = snapshottable.Load(ctx, s.client, s.snapshots, *pointer); err == nil {
			e.pointer, e.view = *pointer, newView(loaded)
		}
	}
	switch {
	case err != nil:
		e.behind, e.next = err, s.now().Add(max(s.freshness, pause))
	case pointer == nil:
		e.behind, e.next = errNothing, began
	default:
		e.behind, e.next, e.current = nil, began.Add(s.freshness), began
	}
}

// has reports whether the view is that of a pointer.
func (e *environment) has(p snapshottable.Pointer) bool {
	return e.view != nil && e.pointer.Epoch == p.Epoch && e.pointer.Version == p.Version
}

// batch is what was read of a token and of the pointer of its environment. The errors say what was not read.
type batch struct {
	token      clienttokentable.Token
	found      bool // the token is valid
	tokenErr   error
	pointer    *snapshottable.Pointer // nil: there is none
	pointerErr error
}

// batch reads a token and, with a pointer, that of its environment. A token belongs to the environment in its secret:
// another one does not verify.
func (s *source) batch(ctx context.Context, secret clienttokentable.Secret, withPointer bool) (b batch) {
	keys := map[string]types.KeysAndAttributes{
		s.tokens: {Keys: []map[string]types.AttributeValue{clienttokentable.Key(secret.Selector)}},
	}
	if withPointer {
		keys[s.snapshots] = types.KeysAndAttributes{
			Keys:           []map[string]types.AttributeValue{snapshottable.PointerKey(secret.Environment)},
			ConsistentRead: aws.Bool(true),
		}
	}
	began := s.now()
	items, unread, err := s.get(ctx, keys)
	if _, ok := unread[s.tokens]; ok {
		b.tokenErr = err
	}
	if _, ok := unread[s.snapshots]; ok {
		b.pointerErr = err
	}
	for _, item := range items[s.tokens] {
		b.token, b.tokenErr = clienttokentable.Unmarshal(item)
		b.found = b.tokenErr == nil && b.token.Verifies(secret) && !b.token.Expired(began)
	}
	for _, item := range items[s.snapshots] {
		var p snapshottable.Pointer
		p, b.pointerErr = snapshottable.UnmarshalPointer(item)
		b.pointer = &p
	}
	return b
}

// errThrottled reports that DynamoDB has read only a part of the items.
var errThrottled = errors.New("DynamoDB throttled the read of tokens or a pointer")

// get reads items by their keys, which are of at most 100 items. It returns them by table, and with an error the keys
// that were not read.
func (s *source) get(ctx context.Context, keys map[string]types.KeysAndAttributes) (
	items map[string][]dynamo.Item, unread map[string]types.KeysAndAttributes, err error,
) {
	items = map[string][]dynamo.Item{}
	for len(keys) > 0 { // DynamoDB can return a part of the items
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: keys})
		s.called(ctx, err)
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

// called remembers the result of a call of DynamoDB. A caller that has gone away is no failure.
func (s *source) called(ctx context.Context, err error) {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure, s.failedAt = err, s.now()
}

// recentFailure returns why the last call of DynamoDB has failed, until the end of the pause after it.
func (s *source) recentFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().Sub(s.failedAt) >= pause {
		return nil
	}
	return s.failure
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
	items, _, err := s.get(ctx, map[string]types.KeysAndAttributes{s.tokens: {Keys: keys}})
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

// lastGood returns what the process has read before, r of the environment, for the time in which the token cannot be
// read.
func (s *source) lastGood(secret clienttokentable.Secret, r reading, cause error) (reading, bool, error) {
	s.mu.Lock()
	kept, known := s.verified[secret.Selector]
	s.mu.Unlock()
	if !known || !kept.Verifies(secret) || r.view == nil {
		return reading{}, false, unavailable(cause)
	}
	now := s.now()
	r.token, r.behind = kept.Token, cause
	r.token.SeenAt = &now // nothing can be written
	if kept.at.Before(r.current) {
		r.current = kept.at
	}
	return r, !kept.Expired(now), nil
}

// remember keeps a valid token, and forgets one that is no longer valid. It was read at a time.
func (s *source) remember(secret clienttokentable.Secret, got batch, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, known := s.verified[secret.Selector]
	switch {
	case got.found && (known || len(s.verified) < maxVerified):
		s.verified[secret.Selector] = verified{got.token, at}
	case !got.found && known && kept.Verifies(secret):
		delete(s.verified, secret.Selector)
	}
}

// refresh reads the pointer of an environment again, and its snapshot if it is newer, unless a read has just failed. It
// is an error if there is no pointer, as between a restore and the first compilation after it: what the process has can
// then be older than what the client has.
func (s *source) refresh(ctx context.Context, name string) (reading, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e := s.environment(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	began := s.now()
	if failure := s.recentFailure(); failure != nil {
		return e.reading(), failure
	}
	if e.behind == nil || !began.Before(e.next) {
		pointer, exists, err := snapshottable.ReadPointer(ctx, s.client, s.snapshots, name)
		s.called(ctx, err)
		read := &pointer
		if !exists {
			read = nil
		}
		s.use(ctx, e, read, err, began)
	}
	return e.reading(), e.behind
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
		verified:     map[access.Selector]verified{},
		environments: map[string]*environment{},
	}
}
