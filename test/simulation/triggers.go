package simulation

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/samtemplate"
)

// startTriggers starts what invokes functions without a request. The schedules are not exact, and the records of the
// stream, the lines of the access log and the messages of the queue come at least once.
func (w *World) startTriggers() {
	w.every(w.period(), func() { w.sweep() })
	w.every(4*time.Minute, w.announce) // template.yaml's schedule is longer than most histories
	w.reopens = w.start
	if w.has(noWebhook) {
		longest := []time.Duration{duration / 2, duration / 2, duration / 2, 72 * time.Hour}[w.upTo(4, 77)]
		w.reopens = w.start.Add(w.upTo(longest, 77))
	}
}

// period is that of sweeps.
func (w *World) period() time.Duration { return meeting << w.random(8).IntN(4) }

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

// sweep re-evaluates all types, and checks the flags if nothing is left. It reports whether it did.
func (w *World) sweep() (done bool) {
	begun := time.Now()
	output, err := w.invoke("sweep-staleness", []byte("{}"))
	if done = err == nil && bytes.HasSuffix(output, []byte(`"left":0}`)); done {
		w.turn(fmt.Sprint("sweep of ", begun))
		w.checkFlags(begun, w.types...)
	}
	return done
}

func (w *World) announce() {
	w.announced = time.Now()
	_, _ = w.invoke("announce-expiring-tokens", []byte("{}"))
}

// stream is the stream of a table, and the function that reads it.
type stream struct {
	samtemplate.Stream
	function string
	read     int // the number of records that are processed
	awaited  bool
	attempts uint64
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
	w.spawn(func() {
		begun, warned := time.Now(), w.functions[s.function].warnings
		failed, ok := w.deliver(s.function, batch)
		if s.Table == "FeatureTypes" && ok && len(failed) == 0 && w.functions[s.function].warnings == warned {
			// It has left nothing to the next sweep, which would hide what is wrong.
			w.turn(fmt.Sprint("re-evaluation of ", begun))
			w.checkFlags(begun, typesOf(batch)...)
		}
		s.attempts++
		done := n
		if !ok || w.happens(redelivered, mix(hashOf(s.Table), s.attempts), 0.1) {
			done = 0
		}
		for _, id := range failed {
			position, _ := strconv.Atoi(id) // one more than the position of the record
			done = min(done, position-1-s.read)
		}
		w.enter(hashOf(s.Table), func() {
			s.read, s.awaited = s.read+done, false
			wait := time.Second
			if done == 0 {
				wait = 15 * time.Second
			}
			w.await(s, wait)
		})
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

// deliver invokes a function with a batch. It returns what the function has not processed, unless it fails.
func (w *World) deliver(name string, batch []byte) (failed []string, ok bool) {
	output, err := w.invoke(name, batch)
	var response events.SQSEventResponse // that of a stream has the same form
	if err != nil || json.Unmarshal(output, &response) != nil {
		return nil, false
	}
	for _, f := range response.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed, true
}

// logLine receives a line of the access log. Lines of five seconds are delivered together.
func (w *World) logLine(line []byte, at time.Time) {
	w.mu.Lock()
	n, first := len(w.lines)+1, len(w.lines) == w.delivered
	w.lines = append(w.lines, events.CloudwatchLogsLogEvent{ID: fmt.Sprintf("%020d", n), Timestamp: at.UnixMilli(),
		Message: string(line)})
	w.mu.Unlock()
	if first {
		w.enter(hashOf(line), func() { w.after(5*time.Second, func() { w.deliverLines(fmt.Sprint("stream-", n%3)) }) })
	}
}

func (w *World) deliverLines(stream string) {
	lines := w.lines[w.delivered:]
	w.delivered = len(w.lines)
	var data bytes.Buffer
	w.compressor.Reset(&data)
	_, err := w.compressor.Write(encode(events.CloudwatchLogsData{
		MessageType: "DATA_MESSAGE", LogGroup: "access", LogStream: stream, LogEvents: lines,
	}))
	w.must(errors.Join(err, w.compressor.Close()))
	payload := encode(events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{
		Data: base64.StdEncoding.EncodeToString(data.Bytes()),
	}})
	w.spawn(func() {
		for attempt := 0; !w.over; attempt++ {
			_, err := w.invoke("record-traffic", payload)
			if err == nil && !w.happens(redelivered, mix(hashOf(lines[0].ID), uint64(attempt)), 0.1) {
				return
			}
			w.sleep(lines[0].ID, time.Duration(attempt+1)*10*time.Second)
		}
	})
}
