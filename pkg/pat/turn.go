package pat

import (
	"context"
	"sync/atomic"
)

// turn lets one creation at a time race for the next id, and tells the one that waited the id that was just taken, so that it need not
// read the counter.
type turn struct {
	last    chan int64    // holds one value while nobody has the turn: the last id, 0 if unknown
	waiting *atomic.Int64 // those in take
}

func newTurn() turn {
	t := turn{last: make(chan int64, 1), waiting: new(atomic.Int64)}
	t.last <- 0
	return t
}

// take waits for the turn.
func (t turn) take(ctx context.Context) (last int64, err error) {
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	select {
	case last := <-t.last:
		return last, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// pass gives the turn to the next. An id that nobody waits for will be out of date when somebody comes.
func (t turn) pass(last int64) {
	if t.waiting.Load() == 0 {
		last = 0
	}
	t.last <- last
}
