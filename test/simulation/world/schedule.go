package world

import (
	"cmp"
	"runtime"
	"slices"
	"testing/synctest"
	"time"
)

// timed is something that happens at a time.
type timed struct {
	at time.Time
	do func()
}

// parked is a goroutine that waits to be started in the order of the keys.
type parked struct {
	key   uint64
	start func()
}

// at schedules an event.
func (w *World) at(t time.Time, do func()) {
	i := len(w.scheduled) // after those at the same time
	for i > 0 && w.scheduled[i-1].at.After(t) {
		i--
	}
	w.scheduled = slices.Insert(w.scheduled, i, timed{t, do})
}

func (w *World) after(d time.Duration, do func()) { w.at(time.Now().Add(d), do) }

// sleep pauses a goroutine. name is different for goroutines that sleep at the same time.
func (w *World) sleep(name string, d time.Duration) {
	resumed := make(chan struct{})
	w.enter(mix(hashOf(name), uint64(time.Now().UnixNano())), func() {
		w.after(d, func() { close(resumed) })
	})
	<-resumed
}

// turn blocks a goroutine until all others are blocked too. Several can be resumed at the same time, such as by a crash
// or their deadlines. What an actor then does to the world, it does alone.
func (w *World) turn(name string) { w.sleep(name, 0) }

// enter calls start as soon as all goroutines are blocked, in the order of the keys.
func (w *World) enter(key uint64, start func()) {
	w.mu.Lock()
	w.parked = append(w.parked, parked{key, start})
	w.mu.Unlock()
	w.wakeUp()
}

// spawn runs a function in a goroutine that the world waits for.
func (w *World) spawn(do func()) {
	w.busy.Add(1)
	go func() {
		growStack()
		do()
		w.busy.Add(-1)
		w.wakeUp()
	}()
}

// growStack makes the stack of a new goroutine as large as calls of the SDK need it, while there is nothing to copy.
//
//go:noinline
func growStack() {
	var space [28 << 10]byte
	runtime.KeepAlive(&space)
}

func (w *World) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run lets things happen until done.
func (w *World) run(done func() bool) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		synctest.Wait()
		w.mu.Lock()
		entered := w.parked
		w.parked = nil
		w.mu.Unlock()
		slices.SortStableFunc(entered, func(a, b parked) int { return cmp.Compare(a.key, b.key) })
		for _, p := range entered {
			p.start()
		}
		if len(entered) > 0 {
			continue
		}
		if done() {
			return
		}
		if len(w.scheduled) == 0 {
			<-w.wake // of a goroutine that waits for a timer of its own
			continue
		}
		next := w.scheduled[0]
		if wait := time.Until(next.at); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-w.wake:
			}
			continue
		}
		w.scheduled = slices.Delete(w.scheduled, 0, 1)
		next.do()
	}
}
