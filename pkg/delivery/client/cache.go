package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/platform/access"
)

// cache keeps what the process has read: snapshots, which it uses until their pointers change, and tokens, which it uses
// while they cannot be read. It is safe for concurrent use.
type cache struct {
	store     *store
	freshness time.Duration // how long a pointer is used without reading it again
	now       func() time.Time

	mu           sync.Mutex
	tokens       map[access.Selector]keptToken // that were valid when they were read last
	environments map[string]*environment
}

// maxTokens limits the number of tokens that are kept.
const maxTokens = 5_000

// keptToken is a token, and when it was read last.
type keptToken struct {
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

// reading is what a process needs for a response.
type reading struct {
	token   clienttokentable.Token
	view    *view     // of the token's environment
	behind  error     // why the token and the view may be out of date; nil: they are not
	current time.Time // when they were not
}

// newCache returns a cache that is empty.
func newCache(s *store, freshness time.Duration, now func() time.Time) *cache {
	return &cache{
		store:        s,
		freshness:    freshness,
		now:          now,
		tokens:       map[access.Selector]keptToken{},
		environments: map[string]*environment{},
	}
}

// read returns what the response to a request with a secret needs. It reads the token and, unless it was read recently, the
// pointer. What was read of the environment is used whoever asks: the next requests do not read it again. Its error is a
// 401 if the token is not valid, and a 503 if something cannot be read that the cache does not have.
//
// A secret of this service names its environment. An imported one can belong to another one than it seems to name: then
// the first request of a process reads twice.
func (c *cache) read(ctx context.Context, secret clienttokentable.Secret) (reading, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	name := secret.Environment
	token := c.kept(secret)
	if token != nil {
		name = token.Environment
	}
	r, err := c.readIn(ctx, secret, token, name)
	if err == nil && r.view == nil {
		r, err = c.readIn(ctx, secret, token, r.token.Environment)
	}
	if err == nil && r.view == nil {
		err = unavailable(errOtherEnvironment)
	}
	return r, err
}

// errOtherEnvironment is the cause of a 503 if a token gets another environment while it is read.
var errOtherEnvironment = errors.New("the token has another environment than at the last read")

// readIn is read if the token belongs to an environment. If it belongs to another one, it returns the token without a
// view.
func (c *cache) readIn(ctx context.Context, secret clienttokentable.Secret, token *keptToken, name string) (
	reading, error,
) {
	e := c.environment(name)
	e.mu.Lock()
	r, withPointer := e.reading(), name != "" && !c.now().Before(e.next)
	pointer := ""
	if withPointer {
		pointer = name
		defer e.mu.Unlock()
	} else {
		e.mu.Unlock() // requests do not wait for the tokens of others
	}
	if failure := c.store.recentFailure(); failure != nil && token != nil && r.view != nil {
		return r.earlier(*token, failure, c.now())
	}
	began := c.now()
	read := c.store.read(ctx, secret, pointer)
	isOf := read.token != nil && read.token.Environment == name
	if withPointer && (isOf || e.view != nil) { // of other environments, only the name in the secret is known
		c.use(ctx, e, read.pointer, read.pointerErr, began)
		r = e.reading()
	}
	switch {
	case read.tokenErr != nil && token != nil && r.view != nil:
		return r.earlier(*token, read.tokenErr, c.now())
	case read.tokenErr != nil:
		return reading{}, unavailable(read.tokenErr)
	case read.token == nil:
		if token != nil {
			c.forget(*token)
		}
		return reading{}, errNoToken()
	case !isOf:
		return reading{token: *read.token}, nil
	}
	c.keep(keptToken{*read.token, began}, e)
	if r.view == nil {
		return reading{}, unavailable(r.behind)
	}
	r.token = *read.token
	return r, nil
}

// refresh reads the pointer of an environment again, and its snapshot if it is newer, unless a read has just failed. It
// is an error if there is no pointer, as between a restore and the first compilation after it: what the process has can
// then be older than what the client has.
func (c *cache) refresh(ctx context.Context, name string) (reading, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	c.mu.Lock()
	e := c.environments[name]
	c.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if failure := c.store.recentFailure(); failure != nil {
		return e.reading(), failure
	}
	if began := c.now(); e.behind == nil || !began.Before(e.next) {
		pointer, err := c.store.pointer(ctx, name)
		c.use(ctx, e, pointer, err, began)
	}
	return e.reading(), e.behind
}

// errNothing is the cause of a 503 if an environment has no snapshot yet.
var errNothing = errors.New("no snapshot of the environment has been compiled")

// use uses what was read of the pointer of an environment, which is locked, from a time on; nil: there is no pointer. It
// loads the snapshot, if the process has another one. If that fails, the process keeps what it has.
func (c *cache) use(
	ctx context.Context, e *environment, pointer *snapshottable.Pointer, err error, began time.Time,
) {
	if err == nil && pointer != nil && !e.has(*pointer) {
		var loaded snapshot.Snapshot
		if loaded, err = c.store.snapshot(ctx, *pointer); err == nil {
			e.pointer, e.view = *pointer, newView(loaded)
		}
	}
	switch {
	case err != nil:
		e.behind, e.next = err, c.now().Add(max(c.freshness, pause))
	case pointer == nil:
		e.behind, e.next = errNothing, began
	default:
		e.behind, e.next, e.current = nil, began.Add(c.freshness), began
	}
}

// has reports whether the view is that of a pointer.
func (e *environment) has(p snapshottable.Pointer) bool {
	return e.view != nil && e.pointer.Epoch == p.Epoch && e.pointer.Version == p.Version
}

// reading returns what was read of the environment, which is locked.
func (e *environment) reading() reading {
	return reading{view: e.view, behind: e.behind, current: e.current}
}

// earlier returns what a process uses while a token cannot be read: with the token as it was read before.
func (r reading) earlier(token keptToken, cause error, now time.Time) (reading, error) {
	if token.Expired(now) {
		return reading{}, errNoToken()
	}
	r.token, r.behind = token.Token, cause
	r.token.SeenAt = &now // nothing can be written
	if token.at.Before(r.current) {
		r.current = token.at
	}
	return r, nil
}

// kept returns the token that is kept for a secret, or nil.
func (c *cache) kept(secret clienttokentable.Secret) *keptToken {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token, ok := c.tokens[secret.Selector]; ok && token.Verifies(secret) {
		return &token
	}
	return nil
}

// environment returns the environment with a name. One that was not read before is not kept yet: its name can come from
// a secret that was not verified.
func (c *cache) environment(name string) *environment {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.environments[name]; e != nil {
		return e
	}
	return &environment{}
}

// keep keeps a valid token and its environment, unless another request has kept one.
func (c *cache) keep(token keptToken, e *environment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.tokens[token.Selector]; known || len(c.tokens) < maxTokens {
		c.tokens[token.Selector] = token
	}
	if c.environments[token.Environment] == nil {
		c.environments[token.Environment] = e
	}
}

// forget forgets a token that is no longer valid.
func (c *cache) forget(token keptToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, token.Selector)
}
