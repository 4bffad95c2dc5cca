package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/samtemplate"
)

// triggerState is what the world knows about the streams.
type triggerState struct {
	streams map[string][]*stream // by table
}

// startTriggers starts what invokes functions without a request. The schedules are not exact, and the records of the
// stream, the lines of the access log and the messages of the queue come at least once.
func (w *World) startTriggers() {
	w.every(w.period(), func() { w.sweep() })
	w.every(4*time.Minute, w.announce) // template.yaml's schedule is longer than most histories
	if w.delivers {
		w.every(time.Minute, func() { w.sweepSnapshots() })
		w.every(time.Minute, func() { w.sweepUsage() })
	}
	if len(w.requests.toggles) > 0 {
		w.every(sweepsEach, func() { w.sweepRequests(time.Now()) })
	}
	w.webhook.reopens = w.start
	if w.has(noWebhook) {
		longest := []time.Duration{duration / 2, duration / 2, duration / 2, 72 * time.Hour}[w.upTo(4, 77)]
		w.webhook.reopens = w.start.Add(w.upTo(longest, 77))
	}
}

// every invokes a function at a rate while the world lives, half of the times twice: the runs overlap.
func (w *World) every(period time.Duration, invoke func()) {
	if w.calm {
		return
	}
	next := time.Now().Add(period).Truncate(period)
	random := w.random(uint64(next.UnixNano()))
	for i := range 1 + random.IntN(2) {
		early := []time.Duration{100 * time.Millisecond, 10 * time.Second}[i*random.IntN(2)]
		w.at(next.Add(within(random, 40*time.Millisecond)-within(random, early)), func() { w.spawn(invoke) })
	}
	w.at(next, func() { w.every(period, invoke) })
}

// latencies are the longest ones of streams, by table.
var latencies = map[string]time.Duration{"FeatureTypes": 200 * time.Millisecond, "Events": 3 * time.Second}

// stream is the stream of a table, and the function that reads it.
type stream struct {
	samtemplate.Stream
	function string
	read     int // the number of records that are processed
	awaited  bool
	attempts uint64
	batches  [][]byte // that were delivered, and after which a compilation does not read everything
}

// await invokes the function of a stream after a time.
func (w *World) await(s *stream, d time.Duration) {
	if !s.awaited {
		s.awaited = true
		w.after(d, func() { w.readStream(s) })
	}
}

// readStream invokes the function with new records of the table. What it does not process comes again later.
func (w *World) readStream(s *stream) {
	batch, n := w.db.Records(s.Table, s.read, s.BatchSize)
	if s.awaited = n > 0 && !w.over; !s.awaited {
		return
	}
	key := hashOf(s.function)
	if s.function == compileSnapshots && w.givesUp(mix(key, uint64(s.read))) {
		w.note("the stream gives %d records up", n)
		w.delivery.gaveUp = time.Now()
		if len(s.batches) > 0 { // a process that compiles one again does not see what was given up
			earlier := s.batches[mix(w.Seed, key, uint64(s.read), 2)%uint64(len(s.batches))]
			w.deliverAgain(s, earlier, time.Minute+w.upTo(2*time.Minute, mix(key, uint64(s.read), 3)))
		}
		s.read, s.awaited = s.read+n, false
		w.await(s, 0)
		return
	}
	if !bytes.Contains(batch, []byte(eventlog.EnvironmentCreated)) {
		s.batches = append(s.batches, batch)
	}
	w.spawn(func() {
		begun, warned := time.Now(), w.lambda.functions[s.function].warnings.Load()
		ctx, searches := withSearches()
		failed, ok := w.deliver(ctx, s.function, batch)
		w.turn(fmt.Sprint(s.function, s.Table, begun))
		if s.Table == "FeatureTypes" && ok && len(failed) == 0 && w.lambda.functions[s.function].warnings.Load() == warned {
			// It has left nothing to the next sweep, which would hide what is wrong.
			w.checkFlags(begun, searches, typesOf(batch)...)
		}
		if s.function == compileSnapshots && ok && len(failed) == 0 && n < s.BatchSize && w.delivery.gaveUp.IsZero() {
			w.checkCovered(begun, "a compilation of the stream's records")
		}
		s.attempts++
		if w.happens(redelivered, mix(key, s.attempts, 1), 0.02) {
			w.deliverLate(s, batch)
		}
		done := n
		if !ok || w.happens(redelivered, mix(key, s.attempts), 0.1) {
			done = 0
		}
		for _, id := range failed {
			position, _ := strconv.Atoi(id) // one more than the position of the record
			done = min(done, position-1-s.read)
		}
		w.enter(key, func() {
			s.read, s.awaited = s.read+done, false
			wait := time.Second
			if done == 0 {
				wait = 15 * time.Second
			}
			w.await(s, wait)
		})
	})
}

// latestRecord is how late a stream can deliver a record again: it keeps records for a day.
const latestRecord = 24 * time.Hour

// deliverLate delivers a batch of a stream again, when items of it can have expired.
func (w *World) deliverLate(s *stream, batch []byte) {
	w.deliverAgain(s, batch, w.upTo(latestRecord, mix(hashOf(s.function), s.attempts, 2)))
}

// deliverAgain delivers a batch of a stream again after a time.
func (w *World) deliverAgain(s *stream, batch []byte, d time.Duration) {
	w.after(d, func() {
		w.expire()
		w.spawn(func() { w.deliver(context.Background(), s.function, batch) })
	})
}

// typesOf returns the ids of the types in records of their table.
func typesOf(batch []byte) (ids []string) {
	var in events.DynamoDBEvent
	if err := json.Unmarshal(batch, &in); err != nil {
		panic(err)
	}
	for _, record := range in.Records {
		ids = append(ids, record.Change.Keys["id"].String())
	}
	return ids
}
