package staleness

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toggleadmin/pkg/event"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
)

const (
	// announceConcurrency is the maximum number of concurrent calls that announce, besides those that flip.
	announceConcurrency = 16
	// maxAnnounceFailures is the number of failed attempts in a row after which an announcer gives up: four of each concurrent call. Flips
	// must not wait for a bus that is unavailable.
	maxAnnounceFailures = 4 * announceConcurrency
	// announceAfter is the age from which a sweep announces what another run may still be announcing.
	announceAfter = 10 * time.Second
)

// Announced is what was sent to the bus. Events that are left are sent by the next sweep.
type Announced struct {
	Sent int   // events
	Left int   // events, and reads of the index
	Err  error // the last error after which a call was not repeated; nil if only time ran out
}

func (a Announced) add(b Announced) Announced {
	return Announced{a.Sent + b.Sent, a.Left + b.Left, cmp.Or(a.Err, b.Err)}
}

// announcer sends announcements. An announcement is cleared after the bus has stored it. Whatever happens in between, a sweep sends it again,
// with the same id.
type announcer struct {
	*Evaluator
	calls chan struct{} // contains an element for each running call

	mu       sync.Mutex
	failures int // attempts that failed since the last success
	result   Announced
}

func (e *Evaluator) announcer() *announcer {
	return &announcer{Evaluator: e, calls: make(chan struct{}, cmp.Or(e.Concurrency, announceConcurrency))}
}

// Announce sends what other runs have left, or what a write has stored without a run. It returns shortly before the context's deadline.
func (e *Evaluator) Announce(ctx context.Context) Announced {
	if e.Publisher == nil {
		return Announced{}
	}
	ctx, cancel := stopEarly(ctx)
	defer cancel()
	a := e.announcer()
	until := e.Now().Add(-announceAfter)
	var all sync.WaitGroup
	for shard := range feature.Shards {
		all.Go(func() { a.drain(ctx, shard, until) })
	}
	all.Wait()
	return a.result
}

// drain sends the announcements of a shard, page by page.
func (a *announcer) drain(ctx context.Context, shard int, until time.Time) {
	for after := (*feature.PendingKey)(nil); ; {
		var page feature.PendingPage
		if !a.try(ctx, func(ctx context.Context) (err error) {
			page, err = a.Toggles.Unannounced(ctx, shard, until, after)
			return err
		}) {
			a.count(0, 1)
			return
		}
		found := make([]feature.Pending, len(page.Keys))
		var reads sync.WaitGroup
		for i, k := range page.Keys {
			reads.Go(func() {
				if !a.try(ctx, func(ctx context.Context) (err error) {
					found[i], err = a.Toggles.Pending(ctx, k)
					return err
				}) {
					a.count(0, 1)
				}
			})
		}
		reads.Wait()
		a.send(ctx, found)
		if after = page.Next; after == nil {
			return
		}
	}
}

// send sends the announcements of toggles and clears those that the bus has stored.
func (a *announcer) send(ctx context.Context, all []feature.Pending) {
	events := make([][]event.Event, len(all))
	for i, p := range all {
		events[i] = p.Events
	}
	var sent []feature.Pending
	for i, stored := range a.publish(ctx, events...) {
		if stored {
			sent = append(sent, all[i])
		}
	}
	var calls sync.WaitGroup
	for batch := range slices.Chunk(sent, feature.MaxAnnounced) {
		calls.Go(func() { repeat(ctx, a, batch, a.Toggles.Announced) }) // a sweep sends what is left again
	}
	calls.Wait()
}

// sendType does the same for the changes of a type's lifetime.
func (a *announcer) sendType(ctx context.Context, t featuretype.FeatureType) {
	if a.publish(ctx, t.Pending)[0] {
		a.try(ctx, func(ctx context.Context) error { return a.Types.Announced(ctx, t) })
	}
}

// publish sends the events of items. It reports for each item whether it has events and the bus has stored all of them.
func (a *announcer) publish(ctx context.Context, all ...[]event.Event) (stored []bool) {
	type entry struct {
		item  int
		event event.Event
	}
	var entries []entry
	for i, events := range all {
		for _, e := range events {
			entries = append(entries, entry{i, e})
		}
	}
	left := make([]atomic.Bool, len(all))
	var calls sync.WaitGroup
	for batch := range slices.Chunk(entries, event.MaxBatch) {
		calls.Go(func() {
			rejected := repeat(ctx, a, batch, func(ctx context.Context, batch []entry) []error {
				events := make([]event.Event, len(batch))
				for i, e := range batch {
					events[i] = e.event
				}
				return a.Publisher.Publish(ctx, events)
			})
			for _, e := range rejected {
				left[e.item].Store(true)
			}
			a.count(len(batch)-len(rejected), len(rejected))
		})
	}
	calls.Wait()
	stored = make([]bool, len(all))
	for i := range all {
		stored[i] = len(all[i]) > 0 && !left[i].Load()
	}
	return stored
}

// repeat repeats a call with those elements of a batch for which it has returned an error. It returns those that are left.
func repeat[T any](ctx context.Context, a *announcer, batch []T, call func(context.Context, []T) []error) (left []T) {
	left = batch
	a.try(ctx, func(ctx context.Context) (err error) {
		var failed []T
		for i, cause := range call(ctx, left) {
			if cause != nil {
				failed, err = append(failed, left[i]), cause
			}
		}
		left = failed
		return err
	})
	return left
}

// try repeats a call until it succeeds, until it has failed too often, or until the run ends. It reports whether the call succeeded.
func (a *announcer) try(ctx context.Context, call func(context.Context) error) bool {
	select {
	case <-ctx.Done():
		return false
	case a.calls <- struct{}{}:
		defer func() { <-a.calls }()
	}
	for attempt := 1; ctx.Err() == nil && !a.givenUp(); attempt++ {
		err := once(ctx, call)
		if err == nil {
			a.succeeded()
			return true
		}
		if !a.failed(err, attempt) || a.Pause(ctx, attempt) != nil {
			return false
		}
	}
	return false
}

func (a *announcer) givenUp() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failures >= maxAnnounceFailures
}

func (a *announcer) succeeded() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures = 0
}

// failed records a failed attempt and reports whether the call is repeated.
func (a *announcer) failed(err error, attempt int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures++
	if attempt < attempts && a.failures < maxAnnounceFailures {
		return true
	}
	a.result.Err = err
	return false
}

func (a *announcer) count(sent, left int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.result.Sent += sent
	a.result.Left += left
}
