package staleness

import (
	"context"
	"sync"
)

// limit is how many calls may run at once. It follows what DynamoDB bears, as TCP follows a network: a throttled call halves it, at most
// once per round of calls, and a round without one adds one. It is safe for concurrent use.
type limit struct {
	tokens chan struct{} // one for each call that may begin now

	mu      sync.Mutex
	allowed float64 // 1 to cap(tokens)
	surplus int     // running calls that leave no token behind, since fewer are allowed by now
	round   int     // counts the halvings
}

func newLimit(most int) *limit {
	l := &limit{tokens: make(chan struct{}, most), allowed: float64(most)}
	for range most {
		l.tokens <- struct{}{}
	}
	return l
}

// acquire waits until a call may begin and gives its round, or says that the context ended first.
func (l *limit) acquire(ctx context.Context) (round int, ok bool) {
	if ctx.Err() != nil {
		return 0, false
	}
	select {
	case <-ctx.Done():
		return 0, false
	case <-l.tokens:
		return l.current(), true
	}
}

func (l *limit) current() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.round
}

// release ends a call.
func (l *limit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.surplus > 0 {
		l.surplus--
		return
	}
	l.tokens <- struct{}{}
}

// succeeded lets the limit grow.
func (l *limit) succeeded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := int(l.allowed)
	l.allowed = min(l.allowed+1/l.allowed, float64(cap(l.tokens)))
	switch {
	case int(l.allowed) == before:
	case l.surplus > 0:
		l.surplus--
	default:
		l.tokens <- struct{}{}
	}
}

// throttled halves the limit, unless that was done since the round of the call that was throttled.
func (l *limit) throttled(round int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if round != l.round {
		return
	}
	l.round++
	before := int(l.allowed)
	l.allowed = max(l.allowed/2, 1)
	for range before - int(l.allowed) {
		select {
		case <-l.tokens:
		default:
			l.surplus++
		}
	}
}
