package staleness

import (
	"context"
	"sync"
	"time"

	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
)

// Toggles are the toggles as re-evaluation sees them. A call is one attempt; its error says that nothing is known of what became of it.
type Toggles interface {
	// Due reads a page of a range. It may be behind the toggles.
	Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error)
	// Flip gives a toggle the other flag, or says that it did not, because it is no longer in the range.
	Flip(ctx context.Context, r feature.Range, t feature.Indexed) (bool, error)
}

const (
	// Concurrency is the most calls of one invocation at once: what one vCPU can make, and about what a new table takes.
	Concurrency = 32
	// typesAtOnce bounds the memory: each type holds up to a page of each of its ranges.
	typesAtOnce = 8
	// stopBefore is when, before an invocation's deadline, no new call begins: time for those that run, and for the log.
	stopBefore = 2 * time.Second
	// callTime bounds one attempt. DynamoDB's own p99 is milliseconds.
	callTime = time.Second
)

// Evaluator re-evaluates types. It is safe for concurrent use; each Evaluate adapts to throttling by itself.
type Evaluator struct {
	Toggles Toggles
	Now     func() time.Time
	// Pause waits before a call is tried again, longer with each attempt, or gives the context's error.
	Pause func(ctx context.Context, attempt int) error
}

// Outcome is what became of one type.
type Outcome struct {
	Type      featuretype.FeatureType // as it was read, with the lifetime that decided
	Now       time.Time               // the moment that decided
	Flagged   int                     // became potentially stale
	Unflagged int
	Overtaken int // what the index said of them was no longer so: they stay as they were
	Left      int // known to be left, each range that was not read to its end counted as one; 0: nothing is left
	Read      int // toggles read from the index
	Pages     int // queries that succeeded
	Writes    int // conditional writes that succeeded or failed their condition
	Throttled int // attempts
	Retried   int // attempts after other faults
	LastFlip  time.Time
	Took      time.Duration
	Err       error // the first fault that a call was given up for; nil also where only the run's time was over
}

// Evaluate re-evaluates types at once, so that one with much to do does not hold up the others. It ends when nothing is left that it can
// see, or when the context's deadline is near; what is left then the next run finds.
func (e *Evaluator) Evaluate(ctx context.Context, types []featuretype.FeatureType) []Outcome {
	ctx, cancel := stopEarly(ctx)
	defer cancel()
	outcomes := make([]Outcome, len(types))
	l, places := newLimit(Concurrency), make(chan struct{}, typesAtOnce)
	var all sync.WaitGroup
	for i, t := range types {
		places <- struct{}{}
		all.Go(func() {
			outcomes[i] = e.evaluate(ctx, l, t)
			<-places
		})
	}
	all.Wait()
	return outcomes
}

// stopEarly gives the context whose end is the time to stop.
func stopEarly(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-stopBefore))
}

// evaluate re-evaluates one type: all its ranges at once, each page by page.
func (e *Evaluator) evaluate(ctx context.Context, l *limit, t featuretype.FeatureType) Outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	now := e.Now()
	r := &run{Evaluator: e, limit: l, cancel: cancel, budget: budget, outcome: Outcome{Type: t, Now: now}}
	var all sync.WaitGroup
	for _, due := range ranges(t.ID, Cutoff(t.LifetimeDays, now)) {
		all.Go(func() { r.drain(ctx, due) })
	}
	all.Wait()
	r.outcome.Took = e.Now().Sub(now)
	return r.outcome
}

// drain flips what is in a range. The next page is read while the toggles of the last are still being flipped: pages follow the key, so
// a flip moves nothing that is yet to be read.
func (r *run) drain(ctx context.Context, due feature.Range) {
	var flips sync.WaitGroup
	defer flips.Wait()
	for after := (*feature.Indexed)(nil); ; {
		round, ok := r.limit.acquire(ctx)
		if !ok {
			r.leave(1)
			return
		}
		page, ok := r.read(ctx, round, due, after)
		r.limit.release()
		if !ok {
			r.leave(1)
			return
		}
		for i, toggle := range page.Toggles {
			round, ok := r.limit.acquire(ctx)
			if !ok {
				r.leave(len(page.Toggles) - i)
				break
			}
			flips.Go(func() {
				defer r.limit.release()
				r.flip(ctx, round, due, toggle)
			})
		}
		if page.Next == nil {
			return
		}
		after = page.Next
	}
}
