package staleness

import (
	"context"
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
)

// Evaluator re-evaluates types. It is safe for concurrent use.
type Evaluator struct {
	Toggles   Toggles
	Types     Types           // used only for announcements
	Publisher event.Publisher // nil: nothing is announced
	Now       func() time.Time
	// Pause waits before a call is repeated, longer with each attempt, or returns the context's error.
	Pause func(ctx context.Context, attempt int) error
}

// Result is the result of re-evaluating one type.
type Result struct {
	Type      featuretype.FeatureType // as it was read, with the lifetime that was applied
	Now       time.Time               // the time that was applied
	Flagged   int                     // toggles that became potentially stale
	Unflagged int
	Overtaken int // toggles that another write changed after they were read; this run did not change them
	Left      int // toggles and unread ranges that are left; 0: nothing
	Read      int // toggles read from the index
	Pages     int // successful queries
	Writes    int // conditional writes, including those whose condition failed
	Throttled int // attempts
	Retried   int // attempts that failed for other reasons and were repeated
	LastFlip  time.Time
	Took      time.Duration
	Err       error // the first error after which a call was not repeated; nil if only time ran out
}

// Evaluate re-evaluates types concurrently, so that one with many toggles does not delay the others. It returns when nothing more is due in
// the index or shortly before the context's deadline. The next run continues with what is left.
// The changes of flags and of the types themselves are announced.
func (e *Evaluator) Evaluate(ctx context.Context, types []featuretype.FeatureType) ([]Result, Announced) {
	ctx, cancel := stopEarly(ctx)
	defer cancel()
	results := make([]Result, len(types))
	calls := make(chan struct{}, Concurrency)
	a := e.announcer()
	var all sync.WaitGroup
	for i, t := range types {
		all.Go(func() { results[i] = e.evaluate(ctx, t, calls, a) })
		if e.Publisher != nil && len(t.Pending) > 0 {
			all.Go(func() { a.sendType(ctx, t) })
		}
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

func (e *Evaluator) evaluate(ctx context.Context, t featuretype.FeatureType, calls chan struct{}, a *announcer) Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	now := e.Now()
	r := &run{Evaluator: e, announcer: a, calls: calls, stop: cancel, result: Result{Type: t, Now: now}}
	var all sync.WaitGroup
	for _, due := range dueRanges(t, now) {
		all.Go(func() { r.drain(ctx, due) })
	}
	all.Wait()
	r.result.Took = e.Now().Sub(now)
	return r.result
}

// run is the re-evaluation of one type.
type run struct {
	*Evaluator
	announcer *announcer
	calls     chan struct{} // contains an element for each running call of the invocation
	stop      context.CancelFunc

	mu       sync.Mutex
	failures int // attempts that failed since the last success
	result   Result
}

// drain flips all toggles of a range, page by page. A page starts after the key of the last toggle of the page before, so flips do not
// affect later pages.
func (r *run) drain(ctx context.Context, due feature.Range) {
	for after := (*feature.Indexed)(nil); ; {
		page, ok := r.read(ctx, due, after)
		if !ok {
			return
		}
		announcements := make([]feature.Pending, len(page.Toggles))
		var flips sync.WaitGroup
		for i, toggle := range page.Toggles {
			flips.Go(func() { announcements[i] = r.flip(ctx, due, toggle) })
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

func (r *run) read(ctx context.Context, due feature.Range, after *feature.Indexed) (page feature.Page, ok bool) {
	ok = r.try(ctx, func(ctx context.Context) (err error) {
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

// flip returns the announcements that are to be sent.
func (r *run) flip(ctx context.Context, due feature.Range, toggle feature.Indexed) (p feature.Pending) {
	flipped := false
	ok := r.try(ctx, func(ctx context.Context) (err error) {
		var done bool
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
	r.result.Writes++
	switch {
	case !flipped:
		r.result.Overtaken++
		return p
	case due.PotentiallyStale:
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
