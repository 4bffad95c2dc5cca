package staleness

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
)

// Toggles finds toggles and flips their flags. Each call is a single attempt. After an error it is unknown whether a flip was written.
type Toggles interface {
	// Due reads a page of a range from an index that is eventually consistent.
	Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error)
	// Flip changes the flag of a toggle and returns the announcements that are to be sent. It returns false if the toggle is not in the range
	// any more.
	Flip(ctx context.Context, r feature.Range, t feature.Indexed, now time.Time) (bool, feature.Pending, error)
	// Unannounced reads a page of the items of a shard whose announcements wait since the time until, from an index that is eventually
	// consistent.
	Unannounced(ctx context.Context, shard int, until time.Time, after *feature.PendingKey) (feature.PendingPage, error)
	// Pending reads the announcements of an item.
	Pending(ctx context.Context, k feature.PendingKey) (feature.Pending, error)
	// Announced clears announcements that were sent, of at most feature.MaxAnnounced items, and returns the error of each.
	Announced(ctx context.Context, all []feature.Pending) []error
}

// Types stores feature types.
type Types interface {
	Get(ctx context.Context, id string) (featuretype.FeatureType, error)
	List(ctx context.Context) ([]featuretype.FeatureType, error)
	// Announced clears the announcements of a type, which were sent.
	Announced(ctx context.Context, t featuretype.FeatureType) error
}

const (
	// Concurrency is the maximum number of concurrent calls of one invocation: as many as one vCPU can make.
	Concurrency = 32
	// attempts is the maximum number of attempts of a call that fails other than by throttling. With the pauses between them they take
	// more than half a second.
	attempts = 12
	// maxFailures is the number of failed attempts in a row after which a run ends: as many as all concurrent calls may make.
	maxFailures = Concurrency * attempts
	// stopBefore is the time before the deadline of an invocation from which no new call starts. The remaining time is for running calls
	// and for logging.
	stopBefore = 2 * time.Second
	// attemptTimeout limits one attempt. DynamoDB's p99 latency is a few milliseconds.
	attemptTimeout = time.Second
	// maxAge is the age from which a type is read again before the next attempt. With attemptTimeout, no flag changes because of a lifetime
	// that was replaced more than two seconds before.
	maxAge = time.Second
)

// Evaluator re-evaluates types. It is safe for concurrent use.
type Evaluator struct {
	Toggles   Toggles
	Types     Types
	Publisher event.Publisher // nil: nothing is announced
	Now       func() time.Time
	// Concurrency is the maximum number of concurrent calls of one invocation; 0: the constant Concurrency.
	Concurrency int
	// Pause waits before a call is repeated, longer with each attempt, or returns the context's error.
	Pause func(ctx context.Context, attempt int) error
}

// Result is the result of re-evaluating one type.
type Result struct {
	Type      featuretype.FeatureType // as it was read last
	Found     bool                    // false: the type does not exist, or was not read
	Now       time.Time               // the start
	Flagged   int                     // toggles that became potentially stale
	Unflagged int
	Overtaken int // toggles that were not changed, because another write changed them or the lifetime after they were read
	Left      int // toggles, and unread ranges and types, that are left; 0: nothing
	Read      int // toggles read from the index
	Pages     int // successful queries
	Writes    int // conditional writes, including those whose condition failed
	Throttled int // attempts
	Retried   int // attempts that failed for other reasons and were repeated
	LastFlip  time.Time
	Took      time.Duration
	Err       error // the first error after which a call was not repeated; nil if only time ran out
}

// Evaluate re-evaluates types, given by id, concurrently, so that one with many toggles does not delay the others. It returns when nothing
// more is due in the index or shortly before the context's deadline. The next run continues with what is left. The flags of a type that does
// not exist are cleared. The changes of flags and of the types themselves are announced.
func (e *Evaluator) Evaluate(ctx context.Context, types []string) ([]Result, Announced) {
	ctx, cancel := stopEarly(ctx)
	defer cancel()
	results := make([]Result, len(types))
	calls := make(chan struct{}, cmp.Or(e.Concurrency, Concurrency))
	a := e.announcer()
	var all sync.WaitGroup
	for i, id := range types {
		all.Go(func() { results[i] = e.evaluate(ctx, id, calls, a) })
	}
	all.Wait()
	return results, a.result
}

// stopEarly returns a context that ends before the deadline of ctx.
func stopEarly(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-stopBefore))
	}
	return context.WithCancel(ctx)
}

func (e *Evaluator) evaluate(ctx context.Context, id string, calls chan struct{}, a *announcer) Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{Evaluator: e, announcer: a, calls: calls, stop: cancel, current: featuretype.FeatureType{ID: id}, result: Result{Now: e.Now()}}
	var t featuretype.FeatureType
	if r.try(ctx, func(ctx context.Context) (err error) {
		t, err = r.refresh(ctx)
		return err
	}) {
		var all sync.WaitGroup
		if e.Publisher != nil && len(t.Pending) > 0 {
			all.Go(func() { a.sendType(ctx, t) })
		}
		for shard := range feature.Shards {
			for _, flagged := range []bool{true, false} {
				all.Go(func() { r.drain(ctx, feature.Range{Type: id, Shard: shard, PotentiallyStale: flagged}) })
			}
		}
		all.Wait()
	} else {
		r.result.Left++
	}
	r.result.Type, r.result.Found, r.result.Took = r.current, r.found, e.Now().Sub(r.result.Now)
	return r.result
}

// run is the re-evaluation of one type.
type run struct {
	*Evaluator
	announcer *announcer
	calls     chan struct{} // contains an element for each running call of the invocation
	stop      context.CancelFunc

	mu       sync.Mutex
	current  featuretype.FeatureType
	found    bool
	readAt   time.Time // before the read; zero: not read yet
	reading  *reading  // nil: none is in progress
	failures int       // attempts that failed since the last success
	result   Result
}

// reading is a read of the type, whose result all calls share that need it in the meantime.
type reading struct {
	done chan struct{} // closed when the others are set
	t    featuretype.FeatureType
	err  error
}

// refresh returns the type. It reads it again if the last read is too old. A type that does not exist has no lifetime.
func (r *run) refresh(ctx context.Context) (featuretype.FeatureType, error) {
	r.mu.Lock()
	now, shared := r.Now(), r.reading
	if now.Sub(r.readAt) < maxAge {
		defer r.mu.Unlock()
		return r.current, nil
	}
	if shared != nil {
		r.mu.Unlock()
		select {
		case <-shared.done:
			return shared.t, shared.err
		case <-ctx.Done():
			return featuretype.FeatureType{}, ctx.Err()
		}
	}
	shared = &reading{done: make(chan struct{})}
	r.reading = shared
	id := r.current.ID
	r.mu.Unlock()
	t, err := r.Types.Get(ctx, id)
	found := err == nil
	if errors.Is(err, featuretype.ErrNotFound) {
		t, err = featuretype.FeatureType{ID: id}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.current, r.found, r.readAt = t, found, now
	}
	r.reading, shared.t, shared.err = nil, t, err
	close(shared.done)
	return t, err
}

// due limits a range to the toggles whose flag must change at this time, under the current lifetime.
func (r *run) due(ctx context.Context, all feature.Range) (feature.Range, error) {
	t, err := r.refresh(ctx)
	return limit(all, t.LifetimeDays, r.Now()), err
}

// drain flips the toggles of a range that are due, page by page. A page starts after the key of the last toggle of the page before, so flips
// do not affect later pages.
func (r *run) drain(ctx context.Context, all feature.Range) {
	for after := (*feature.Indexed)(nil); ; {
		page, ok := r.read(ctx, all, after)
		if !ok {
			return
		}
		announcements := make([]feature.Pending, len(page.Toggles))
		var flips sync.WaitGroup
		for i, toggle := range page.Toggles {
			flips.Go(func() { announcements[i] = r.flip(ctx, all, toggle) })
		}
		flips.Wait()
		if r.Publisher != nil {
			r.announcer.send(ctx, announcements)
		}
		if after = page.Next; after == nil {
			return
		}
	}
}

func (r *run) read(ctx context.Context, all feature.Range, after *feature.Indexed) (page feature.Page, ok bool) {
	ok = r.try(ctx, func(ctx context.Context) error {
		due, err := r.due(ctx, all)
		if err != nil {
			return err
		}
		if after != nil && !due.Contains(*after) { // DynamoDB rejects such a start
			after = nil
		}
		page, err = r.Toggles.Due(ctx, due, after)
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.result.Left++
		return page, false
	}
	r.result.Pages++
	r.result.Read += len(page.Toggles)
	return page, true
}

// flip flips a toggle if it is still due, and returns the announcements that are to be sent.
func (r *run) flip(ctx context.Context, all feature.Range, toggle feature.Indexed) (p feature.Pending) {
	written, flipped := false, false
	ok := r.try(ctx, func(ctx context.Context) error {
		due, err := r.due(ctx, all)
		if err != nil || !due.Contains(toggle) {
			return err
		}
		var done bool
		written = true
		done, p, err = r.Toggles.Flip(ctx, due, toggle, r.Now())
		// If the condition fails after an attempt without a response, that attempt most likely flipped the toggle.
		flipped = flipped || done || dynamo.ResultUnknown(err)
		return err
	})
	now := r.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.result.Left++
		return p
	}
	if written {
		r.result.Writes++
	}
	switch {
	case !flipped:
		r.result.Overtaken++
		return p
	case all.PotentiallyStale:
		r.result.Unflagged++
	default:
		r.result.Flagged++
	}
	r.result.LastFlip = now
	return p
}

// try repeats a call until it succeeds, until it has failed too often, or until the run ends. It reports whether the call succeeded. A call
// keeps its place among the concurrent calls while it pauses, so throttling reduces the rate of all calls.
func (r *run) try(ctx context.Context, call func(context.Context) error) bool {
	select {
	case <-ctx.Done():
		return false
	case r.calls <- struct{}{}:
		defer func() { <-r.calls }()
	}
	for attempt := 1; ctx.Err() == nil; attempt++ {
		err := once(ctx, call)
		if err == nil {
			r.succeeded()
			return true
		}
		if !r.failed(err, attempt) || r.Pause(ctx, attempt) != nil {
			return false
		}
	}
	return false
}

// once makes one attempt. It is not canceled when the run ends, because the result of a write would then be unknown.
func once(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	return call(ctx)
}

func (r *run) succeeded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = 0
}

// failed records a failed attempt and reports whether the call is repeated. Throttled calls are repeated until the run ends.
func (r *run) failed(err error, attempt int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if dynamo.Throttled(err) {
		r.result.Throttled++
		return true
	}
	r.failures++
	if attempt < attempts && r.failures < maxFailures {
		r.result.Retried++
		return true
	}
	if r.result.Err == nil {
		r.result.Err = err
	}
	if r.failures >= maxFailures {
		r.stop()
	}
	return false
}
