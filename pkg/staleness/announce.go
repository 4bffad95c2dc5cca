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

// outbox is the announcements of one item.
type outbox struct {
	events []event.Event
	clear  func(context.Context) error // removes the events from the item
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
	return &announcer{Evaluator: e, calls: make(chan struct{}, announceConcurrency)}
}

// typeOutbox returns the announcements of changes of a type's lifetime.
func (e *Evaluator) typeOutbox(t featuretype.FeatureType) outbox {
	return outbox{t.Pending, func(ctx context.Context) error { return e.Types.Announced(ctx, t) }}
}

// toggleOutbox returns the announcements of a toggle.
func (e *Evaluator) toggleOutbox(p feature.Pending) outbox {
	return outbox{p.Events, func(ctx context.Context) error { return e.Toggles.Announced(ctx, p) }}
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
		found := make([]outbox, len(page.Keys))
		var reads sync.WaitGroup
		for i, k := range page.Keys {
			reads.Go(func() {
				if !a.try(ctx, func(ctx context.Context) error {
					p, err := a.Toggles.Pending(ctx, k)
					found[i] = a.toggleOutbox(p)
					return err
				}) {
					a.count(0, 1)
				}
			})
		}
		reads.Wait()
		a.send(ctx, found...)
		if after = page.Next; after == nil {
			return
		}
	}
}

// send sends announcements and clears those that the bus has stored.
func (a *announcer) send(ctx context.Context, all ...outbox) {
	type entry struct {
		box   int
		event event.Event
	}
	var entries []entry
	for i, box := range all {
		for _, e := range box.events {
			entries = append(entries, entry{i, e})
		}
	}
	left := make([]atomic.Bool, len(all))
	var calls sync.WaitGroup
	for batch := range slices.Chunk(entries, event.MaxBatch) {
		calls.Go(func() {
			total := len(batch)
			a.try(ctx, func(ctx context.Context) (err error) {
				events := make([]event.Event, len(batch))
				for i, e := range batch {
					events[i] = e.event
				}
				var rejected []entry
				for i, rejection := range a.Publisher.Publish(ctx, events) {
					if rejection != nil {
						rejected, err = append(rejected, batch[i]), rejection
					}
				}
				batch = rejected
				return err
			})
			for _, e := range batch {
				left[e.box].Store(true)
			}
			a.count(total-len(batch), len(batch))
		})
	}
	calls.Wait()
	for i, box := range all {
		if len(box.events) > 0 && !left[i].Load() {
			calls.Go(func() { a.try(ctx, box.clear) }) // if it fails, a sweep sends the events again
		}
	}
	calls.Wait()
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
