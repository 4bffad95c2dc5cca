package staleness

import (
	"context"
	"sync"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
)

const (
	// attempts is how often a call is tried that meets faults. With the pauses between them that is about a second: an engine's restart.
	attempts = 8
	// budget is how many faults a run bears beyond earned ones before it ends; each success earns a tenth. So a toggle that can never be
	// written holds up no other, and a table that is out of order is given up soon. Throttling costs time, not budget.
	budget = 400
	earned = 0.1
)

// run is the re-evaluation of one type.
type run struct {
	*Evaluator
	limit  *limit
	cancel context.CancelFunc // ends the run

	mu      sync.Mutex
	budget  float64
	outcome Outcome
}

func (r *run) read(ctx context.Context, round int, due feature.Range, after *feature.Indexed) (page feature.Page, ok bool) {
	ok = r.try(ctx, round, func(ctx context.Context) (err error) {
		page, err = r.Toggles.Due(ctx, due, after)
		return err
	})
	if ok {
		r.note(func(o *Outcome) {
			o.Pages++
			o.Read += len(page.Toggles)
		})
	}
	return page, ok
}

func (r *run) flip(ctx context.Context, round int, due feature.Range, toggle feature.Indexed) {
	flipped, unanswered := false, false
	ok := r.try(ctx, round, func(ctx context.Context) (err error) {
		flipped, err = r.Toggles.Flip(ctx, due, toggle)
		unanswered = unanswered || dynamo.Unanswered(err)
		return err
	})
	now := r.Now()
	r.note(func(o *Outcome) {
		switch {
		case !ok:
			o.Left++
			return
		case !flipped && !unanswered: // after an attempt without an answer it was most likely that attempt which flipped it
			o.Overtaken++
		case due.PotentiallyStale:
			o.Unflagged++
			o.LastFlip = now
		default:
			o.Flagged++
			o.LastFlip = now
		}
		o.Writes++
	})
}

func (r *run) leave(n int) { r.note(func(o *Outcome) { o.Left += n }) }

func (r *run) note(f func(*Outcome)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.outcome)
}

// try makes a call until it succeeds or has been tried often enough, or until the run's time or patience is over. It holds its place in
// the limit while it waits: a throttled call makes room.
func (r *run) try(ctx context.Context, round int, call func(context.Context) error) bool {
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return false
		}
		err := once(ctx, call)
		switch {
		case err == nil:
			r.succeeded()
			return true
		case dynamo.Throttled(err):
			r.limit.throttled(round)
			r.note(func(o *Outcome) { o.Throttled++ })
		case !r.bears(attempt):
			r.giveUp(err)
			return false
		}
		if r.Pause(ctx, attempt) != nil {
			return false
		}
		round = r.limit.current()
	}
}

// once makes one attempt, which the end of the run's time does not break off: what became of a write is better known.
func once(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	return call(ctx)
}

func (r *run) succeeded() {
	r.limit.succeeded()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.budget = min(r.budget+earned, budget)
}

// bears says whether a call is tried again after a fault.
func (r *run) bears(attempt int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if attempt >= attempts || r.budget < 1 {
		return false
	}
	r.budget--
	r.outcome.Retried++
	return true
}

// giveUp notes why a call was given up, and ends the run where its patience is over.
func (r *run) giveUp(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.outcome.Err == nil {
		r.outcome.Err = err
	}
	if r.budget < 1 {
		r.cancel()
	}
}
