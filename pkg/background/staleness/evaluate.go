package staleness

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/toggle"
)

// Toggles finds toggles and flips their flags. Each call is a single attempt. After an error it is unknown whether a
// flip was written.
type Toggles interface {
	// Due reads a page of a range from an index that is eventually consistent.
	Due(ctx context.Context, r stalenessindex.Range, after *toggle.Feature) (stalenessindex.Page, error)
	// Flip changes the flags of at most stalenessindex.MaxFlips toggles of a range and records it.
	Flip(ctx context.Context, r stalenessindex.Range, toggles []toggle.Feature) (stalenessindex.Flips, error)
}

// Types reads feature types, consistently.
type Types interface {
	Get(ctx context.Context, id string) (toggle.Type, error)
	List(ctx context.Context) ([]toggle.Type, error)
}

const (
	// Concurrency is the maximum number of concurrent calls of one invocation, other than flips: as many as one vCPU can
	// make.
	Concurrency = 32
	// FlipConcurrency is the maximum number of concurrent flips of one invocation. Each has up to 100 actions. More flips
	// would exceed the throughput of a new table, and on a slow engine each would take longer than attemptTimeout.
	FlipConcurrency = 8
	// attempts is the maximum number of attempts of a call that fails other than by throttling. With the pauses between
	// them they take more than half a second.
	attempts = 12
	// maxFailures is the number of consecutive failed attempts after which a run ends: the attempts of all concurrent
	// calls.
	maxFailures = Concurrency * attempts
	// stopBefore is the time before the deadline of an invocation from which no new call starts. The remaining time is for
	// running calls and for logging.
	stopBefore = 2 * time.Second
	// attemptTimeout limits one attempt. DynamoDB's p99 latency is a few milliseconds.
	attemptTimeout = time.Second
	// maxAge is the age from which a type is read again before the next attempt. With attemptTimeout, no flag changes
	// because of a lifetime that was replaced more than two seconds before.
	maxAge = time.Second
	// margin is longer than the time by which an attempt, and a clock that is behind, can be late. Otherwise a run could
	// clear a flag that another has just set, and the next would set it again.
	margin = 5 * time.Second
)

// Evaluator re-evaluates types. It is safe for concurrent use.
type Evaluator struct {
	Toggles Toggles
	Types   Types
	Now     func() time.Time
	// Concurrency is the maximum number of concurrent calls of each kind in one invocation; 0: the constants.
	Concurrency int
	// Pause waits before a call is repeated, longer with each attempt, or returns the context's error.
	Pause func(ctx context.Context, attempt int) error
}

// Result is the result of re-evaluating one type.
type Result struct {
	Type       toggle.Type // as it was read last
	Found      bool        // false: the type does not exist, or was not read
	Now        time.Time   // the start
	Flagged    int         // toggles that became potentially stale
	Unflagged  int
	Superseded int // toggles that were not changed, because another write changed them or the lifetime after the read
	// Left is the number of toggles, and of unread ranges and types, that are left. If the last attempt got no response,
	// its toggles are included, although they may have been flipped. The event log has all flips.
	Left      int
	Read      int // toggles read from the index
	Pages     int // successful queries
	Writes    int // transactions
	Throttled int // attempts
	Retried   int // attempts that failed for other reasons and were repeated
	LastFlip  time.Time
	Took      time.Duration
	Err       error // the first error after which a call was not repeated; nil if only time ran out
}

// Evaluate re-evaluates types, given by id, concurrently, so that one with many toggles does not delay the others. It
// returns when nothing more is due in the index or shortly before the context's deadline. The next run continues with
// what is left. The flags of a type that does not exist are cleared.
func (e *Evaluator) Evaluate(ctx context.Context, types []string) []Result {
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	results := make([]Result, len(types))
	calls := make(chan struct{}, cmp.Or(e.Concurrency, Concurrency))
	flips := make(chan struct{}, cmp.Or(e.Concurrency, FlipConcurrency))
	var all sync.WaitGroup
	for i, id := range types {
		all.Go(func() { results[i] = e.evaluate(ctx, id, calls, flips) })
	}
	all.Wait()
	return results
}

func (e *Evaluator) evaluate(ctx context.Context, id string, calls, flips chan struct{}) Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{
		Evaluator: e, calls: calls, flips: flips, stop: cancel,
		current: toggle.Type{ID: id}, result: Result{Now: e.Now()},
	}
	if r.try(ctx, r.calls, func(ctx context.Context) error {
		_, err := r.refresh(ctx)
		return err
	}) {
		var all sync.WaitGroup
		for shard := range featuretable.Shards {
			for _, flagged := range []bool{true, false} {
				all.Go(func() { r.drain(ctx, stalenessindex.Range{Type: id, Shard: shard, PotentiallyStale: flagged}) })
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
	calls chan struct{} // contains an element for each running call of the invocation, other than flips
	flips chan struct{} // contains an element for each running flip
	stop  context.CancelFunc

	mu       sync.Mutex
	current  toggle.Type
	found    bool
	readAt   time.Time // before the read; zero: not read yet
	reading  *reading  // nil: none is in progress
	failures int       // attempts that failed since the last success
	result   Result
}

// reading is a read of the type that is in progress. All calls that need the type share its result.
type reading struct {
	done chan struct{} // closed when the others are set
	t    toggle.Type
	err  error
}

// refresh returns the type. It reads it again if the last read is too old. A type that does not exist has no lifetime.
func (r *run) refresh(ctx context.Context) (toggle.Type, error) {
	r.mu.Lock()
	now, shared := r.Now(), r.reading
	if now.Sub(r.readAt) < maxAge {
		defer r.mu.Unlock()
		return r.current, nil
	}
	if shared != nil {
		r.mu.Unlock()
		<-shared.done // no later than the deadline of the attempt that reads
		return shared.t, shared.err
	}
	shared = &reading{done: make(chan struct{})}
	r.reading = shared
	id := r.current.ID
	r.mu.Unlock()
	t, err := r.Types.Get(ctx, id)
	found := err == nil
	if apierror.KindOf(err) == apierror.NotFound {
		t, err = toggle.Type{ID: id}, nil
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

// due limits a range to the toggles whose flag must change at this time, under the current lifetime. A flag is cleared
// only if the toggle is not due within the margin.
func (r *run) due(ctx context.Context, all stalenessindex.Range) (stalenessindex.Range, error) {
	t, err := r.refresh(ctx)
	now := r.Now()
	if all.PotentiallyStale {
		now = now.Add(margin)
	}
	all.Cutoff, all.LifetimeDays, all.LastEvent = toggle.Cutoff(t.LifetimeDays, now), t.LifetimeDays, t.LastEvent
	return all, err
}

// drain flips the toggles of a range that are due, page by page. A page starts after the key of the last toggle of the
// page before, so flips do not affect later pages.
func (r *run) drain(ctx context.Context, all stalenessindex.Range) {
	for after := (*toggle.Feature)(nil); ; {
		page, ok := r.read(ctx, all, after)
		if !ok {
			return
		}
		var flips sync.WaitGroup
		for batch := range slices.Chunk(page.Toggles, stalenessindex.MaxFlips) {
			flips.Go(func() { r.flip(ctx, all, batch) })
		}
		flips.Wait()
		if after = page.Next; after == nil {
			return
		}
	}
}

func (r *run) read(
	ctx context.Context, all stalenessindex.Range, after *toggle.Feature,
) (page stalenessindex.Page, ok bool) {
	ok = r.try(ctx, r.calls, func(ctx context.Context) error {
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

// flip flips the toggles that are still due. A transaction fails as a whole if one of its items cannot be written, so
// each failed attempt is followed by one with half of the toggles.
func (r *run) flip(ctx context.Context, all stalenessindex.Range, toggles []toggle.Feature) {
	// whether an attempt without a response may have flipped the toggles; the first attempt has all of them
	unknown := false
	for size := len(toggles); len(toggles) > 0; {
		ok := r.try(ctx, r.flips, func(ctx context.Context) error {
			size = min(size, len(toggles))
			due, err := r.due(ctx, all)
			if err != nil {
				return err
			}
			batch := slices.DeleteFunc(slices.Clone(toggles[:size]), func(t toggle.Feature) bool { return !due.Contains(t) })
			var flips stalenessindex.Flips
			if len(batch) > 0 {
				if flips, err = r.Toggles.Flip(ctx, due, batch); err != nil {
					unknown, size = unknown || dynamo.ResultUnknown(err), max(1, size/2)
					return err
				}
				if unknown {
					flips.Done, flips.Superseded = flips.Done+flips.Superseded, 0
				}
			}
			flips.Superseded += size - len(batch)
			r.count(all, flips, min(len(batch), 1))
			toggles = append(flips.Again, toggles[size:]...)
			return nil
		})
		if !ok {
			failed := size
			if ctx.Err() != nil {
				failed = len(toggles)
			}
			r.mu.Lock()
			r.result.Left += failed
			r.mu.Unlock()
			toggles = toggles[failed:]
			size = len(toggles)
		}
	}
}

// count adds the result of an attempt with a number of transactions: one, or none if no toggle was due.
func (r *run) count(all stalenessindex.Range, flips stalenessindex.Flips, writes int) {
	now := r.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Writes += writes
	r.result.Superseded += flips.Superseded
	if flips.Done == 0 {
		return
	}
	r.result.LastFlip = now
	if all.PotentiallyStale {
		r.result.Unflagged += flips.Done
	} else {
		r.result.Flagged += flips.Done
	}
}

// try repeats a call until it succeeds, until it has failed too often, or until the run ends. It reports whether the
// call succeeded. A call keeps its place among the concurrent calls while it pauses, so throttling reduces the rate of
// all calls.
func (r *run) try(ctx context.Context, calls chan struct{}, call func(context.Context) error) bool {
	select {
	case <-ctx.Done():
		return false
	case calls <- struct{}{}:
		defer func() { <-calls }()
	}
	for attempt := 1; ctx.Err() == nil; attempt++ {
		// It is not canceled when the run ends, because the result of a write would then be unknown.
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
		err := call(once)
		cancel()
		if !r.repeats(err, attempt) || r.Pause(ctx, attempt) != nil {
			return err == nil
		}
	}
	return false
}

// repeats records the result of an attempt and reports whether the call is repeated. Throttled calls are repeated until
// the run ends.
func (r *run) repeats(err error, attempt int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.failures = 0
		return false
	}
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
