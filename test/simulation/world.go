package simulation

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/simulation/dynamodb"
)

// Plan determines a history. New(seed) makes one; shrinking removes actors, faults and steps from it.
type Plan struct {
	Seed  uint64
	Parts uint64 // a bit for each element of actors, and from firstFault on for each fault
	Steps int    // the number of requests and commands after which the actors stop
}

// NewPlan returns the plan of a seed. Half of the faults occur in it, and some of the actors: of those who change
// types, toggles and fields, of the others, or of all.
func NewPlan(seed uint64) Plan {
	first, n := uint64(0), uint64(len(actors))
	switch seed % 5 {
	case 0, 1:
		n = editors
	case 2, 3:
		first, n = editors, n-editors
	}
	some := uint64(0)
	for i := range 3 + seed/5%4 {
		some |= 1 << (first + mix(seed, 2+i)%n)
	}
	return Plan{Seed: seed, Parts: some | mix(seed, 1)&(1<<len(faultNames)-1)<<firstFault, Steps: 1 << 20}
}

// tokenLimit is the maximum number of tokens of an account.
func (p Plan) tokenLimit() int { return []int{2, 2, 5}[mix(p.Seed, 17)%3] }

// Result is what happened.
type Result struct {
	Plan      Plan
	Digest    uint64
	Calls     int    // of AWS services, the issuer and the webhook
	Steps     int    // requests and commands of actors
	Violation string // the first one; empty: none
	History   []string

	ops []op
}

// World is one run. Everything in it happens in the goroutine of run, or in a goroutine that run has resumed and waits
// for, except that goroutines which were resumed by a timer, or by the same event, can run at the same time until each
// of them calls park.
type World struct {
	Plan
	template *samtemplate.Template
	tables   dynamo.Tables
	db       *dynamodb.DB

	mu        sync.Mutex // protects what such goroutines use
	parked    []parked
	wake      chan struct{}
	scheduled []timed      // in their order
	busy      atomic.Int64 // the number of goroutines that the world has started

	skew    time.Duration // the largest difference of a clock from the right time
	start   time.Time
	calm    bool // no more faults
	over    bool // a violation was found: everything ends
	result  Result
	tracing bool

	lambda
	bus
	oracle
}

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

// Run runs a plan. With trace, the result contains a readable history.
func Run(t *testing.T, p Plan, trace bool) (r Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, p)
		w.tracing = trace
		w.live()
		r = w.result
	})
	if r.Violation == "" {
		r.Violation = r.linearize()
	}
	return r
}

// mix returns a hash of numbers.
func mix(values ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range values {
		h = (h ^ v) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>29) * 0x94d049bb133111eb
		h ^= h >> 32
	}
	return h
}

func hashOf[T string | []byte](text T) uint64 { return uint64(crc32.ChecksumIEEE([]byte(text))) }

// hashOfJSON returns a hash that does not depend on what is random in a request: the order of members, and the
// idempotency token, which is the first one.
func hashOfJSON(text []byte) (h uint64) {
	for part := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '{' || r == '}' || r == ',' }) {
		if !bytes.HasPrefix(part, []byte(`"ClientRequestToken"`)) {
			h += hashOf(part)
		}
	}
	return h
}

// random returns a source of random numbers that depends on nothing but the seed and the values.
func (w *World) random(values ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.Seed, mix(values...)))
}

// upTo returns a time below a limit that depends on nothing but the seed and the values.
func (w *World) upTo(limit time.Duration, values ...uint64) time.Duration {
	return time.Duration(mix(append([]uint64{w.Seed}, values...)...) % uint64(limit))
}

func within(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
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

// duration is how long actors act.
const duration = 10 * time.Minute

// live is the life of a world: people and machines act while things break, then nothing breaks any more, then there is
// nothing left to do.
func (w *World) live() {
	w.prepare()
	if w.has(lagging) {
		w.db.Lag = w.lag
	}
	if w.has(paged) {
		w.db.Page = 1 + int(mix(w.Seed, 15)%3)
	}
	w.after(duration, func() { w.calm = true })
	w.startActors()
	w.startTriggers()
	if w.has(restored) {
		w.after(w.upTo(duration, 10), w.copyTables)
	}
	w.run(func() bool { return w.over || w.calm && w.acting == 0 })
	w.drain()
	w.spawn(func() {
		last := &actor{World: w, Rand: w.random(9), name: actors[0].name}
		for _, id := range slices.Sorted(maps.Keys(w.accounts)) { // a deletion that has failed is repeated
			switch {
			case w.accounts[id].deleting.IsZero():
			case slices.Contains(w.robots, id):
				last.deleteAccount(id)
			default:
				last.deletePerson(id)
			}
		}
		w.sleep("a sweep", 15*time.Second) // longer than an announcement waits for another run
		if !w.sweep() && !w.over {
			w.fail("the last sweep leaves something")
		}
		w.announce()
		last.listTypes(w.admin)
		last.listFields(w.admin)
		last.listAccounts()
		last.readLog()
		last.searchToggles(w.admin, false)
		last.searchToggles(w.admin, true)
	})
	w.drain()
	if !w.over {
		w.checkQuiet()
	}
	w.spawn(w.restore)
	w.drain()
	w.over = true
	w.run(func() bool { return w.busy.Load() == 0 })
	w.scheduled = nil
}

// drain lets everything end that has begun.
func (w *World) drain() {
	w.run(func() bool { return w.over || len(w.scheduled) == 0 && w.busy.Load() == 0 })
}

// fail records a violation, unless there is one.
func (w *World) fail(format string, args ...any) {
	if w.result.Violation == "" {
		w.result.Violation = fmt.Sprintf(format, args...)
		w.note("VIOLATION: %s", w.result.Violation)
	}
	w.over = true
}

// note adds a line to the history.
func (w *World) note(format string, args ...any) {
	if w.tracing {
		at := time.Since(w.start).Truncate(time.Microsecond)
		w.result.History = append(w.result.History, fmt.Sprintf("%14s  ", at)+fmt.Sprintf(format, args...))
	}
}

func (w *World) digest(values ...uint64) {
	w.result.Digest = mix(append(values, w.result.Digest, uint64(time.Now().UnixNano()))...)
}
