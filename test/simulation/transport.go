package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	awslambda "github.com/aws/aws-lambda-go/lambda"
)

// fault is something that can go wrong with a call.
type fault int

const (
	lostRequest  fault = iota + firstFault // the service does not get the request
	lostResponse                           // the service carries the request out, the caller gets no response
	late                                   // the service carries the request out after the caller has given up
	throttled                              // the service rejects most requests for a table for some seconds
	conflict                               // another transaction is in progress
	slow                                   // latencies of up to a second
	crash                                  // the process ends at the call
	freeze                                 // the process stops at the call, for up to an hour
	duplicated                             // a function is started twice for one event
	redelivered                            // records, lines and messages are delivered again
	skewed                                 // clocks differ
	lagging                                // indexes show writes later
	noBus                                  // the bus refuses, for minutes
	noWebhook                              // the webhook refuses, for days
	restored                               // in the end, tables are restored to an earlier time
	paged                                  // DynamoDB reads one to three items at a time
)

var faultNames = []string{
	"lost-request", "lost-response", "late", "throttled", "conflict", "slow", "crash", "freeze", "duplicated",
	"redelivered", "skewed", "lagging", "no-bus", "no-webhook", "restored", "paged",
}

// firstFault is the bit of the first fault in a plan. Those below are of actors.
const firstFault = 32

// happens decides whether a fault occurs at a call or event with a key.
func (w *World) happens(f fault, key uint64, probability float64) bool {
	return w.has(f) && !w.calm && float64(mix(w.Seed, uint64(f-firstFault)+100, key)>>11)/(1<<53) < probability
}

func (w *World) has(f fault) bool { return w.Parts>>f&1 == 1 }

// storm reports whether a fault that comes in waves occurs now to something: in some of the intervals.
func (w *World) storm(f fault, interval time.Duration, to string) bool {
	return w.happens(f, mix(hashOf(to), uint64(time.Now().UnixNano()/int64(interval))), 0.15)
}

// process is a program that makes calls: an instance of a function, or a command of an operator.
type process struct {
	w      *World
	name   string
	hash   uint64
	random *rand.Rand
	ended  chan struct{} // closed when it crashes
	dead   bool
	until  time.Time         // it is frozen until then
	calls  map[uint64]uint64 // how often it has made the same call
	skew   time.Duration
	direct bool // its calls are carried out at once, without faults

	handler awslambda.Handler // of an instance of a function
}

func (w *World) newProcess(name string) *process {
	p := &process{w: w, name: name, hash: hashOf(name), ended: make(chan struct{}), calls: map[uint64]uint64{}}
	p.random = w.random(p.hash, 4)
	p.skew = w.upTo(2*w.skew+1, p.hash, 3) - w.skew
	return p
}

// maxSkew is the largest difference of a clock from the right time if clocks differ: they are up to 250 ms apart.
const maxSkew = 125 * time.Millisecond

// now is the process's clock.
func (p *process) now() time.Time { return time.Now().Add(p.skew) }

func (p *process) crash() {
	if !p.dead {
		p.dead = true
		p.w.note("%s crashes", p.name)
		close(p.ended)
	}
}

// Read returns random numbers, as an io.Reader.
func (p *process) Read(b []byte) (int, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for i := range b {
		b[i] = byte(p.random.Uint32())
	}
	return len(b), nil
}

// call is one HTTP request of a process.
type call struct {
	*process
	ctx     context.Context //nolint:containedctx // of the request
	key     uint64
	service string // DynamoDB_20120810, or a host
	name    string // of the operation
	header  http.Header
	body    []byte
	done    chan struct{}
	over    bool // done is closed
	status  int
	out     []byte
	err     error
}

// responseTimeout is that of pkg/platform/dynamo.
const responseTimeout = time.Second

var errTimeout = errors.New("net/http: timeout awaiting response headers")

// RoundTrip implements http.RoundTripper.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	c := &call{process: p, ctx: r.Context(), header: r.Header, done: make(chan struct{})}
	if r.Body != nil {
		c.body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	var found bool
	if c.service, c.name, found = strings.Cut(r.Header.Get("X-Amz-Target"), "."); !found {
		c.service, c.name = r.URL.Host, r.URL.Path
	}
	content := mix(p.hash, hashOf(c.service), hashOf(c.name), hashOfJSON(c.body))
	p.w.mu.Lock()
	p.calls[content]++
	c.key = mix(content, p.calls[content])
	p.w.mu.Unlock()
	if p.direct {
		c.execute() //nolint:contextcheck // what it causes in the world does not end with the request
		c.finish()
	} else {
		p.w.enter(c.key, c.send)
	}
	select {
	case <-c.done:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	return &http.Response{
		StatusCode: c.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(c.out)),
	}, nil
}

// maxCalls is more than any history needs.
const maxCalls = 100_000

// send decides what happens to a call.
func (c *call) send() {
	w := c.w
	if w.result.Calls++; w.result.Calls > maxCalls {
		w.fail("there is no end: %d calls", w.result.Calls)
	}
	latency := time.Millisecond + w.upTo(9*time.Millisecond, c.key, 7)
	staleness := c.reevaluates()
	if w.storm(slow, 15*time.Second, "") {
		latency *= time.Duration(1 + mix(w.Seed, c.key, 8)%100)
	} else if staleness && mix(w.Seed, c.key, 14)%2 == 0 { // others act between its reads and writes
		latency *= time.Duration(1 + mix(w.Seed, c.key, 8)%16)
	}
	if t := c.tracked(); t != nil && t.rival != nil && c.isWrite() {
		w.spawn(t.rival)
		t.rival = nil
		latency += w.upTo(80*time.Millisecond, c.key, 15)
	}
	if c.reliable() {
		w.after(latency%responseTimeout, c.receive)
		return
	}
	if c.chance(late, 0.005, 0.015) {
		latency += responseTimeout + w.upTo(2*time.Second, c.key, 11)
	}
	now := time.Now()
	meet := now.Add(10 * time.Second).Truncate(meeting) // the actors, if it is in the future
	read, write, from, longest := 0.002, 0.05, now, []time.Duration{12 * time.Second, time.Hour, time.Hour}[mix(c.key)%3]
	switch {
	case staleness && meet.After(now):
		read, write, from, longest = 0.15, 0.15, meet, time.Second
	case staleness: // long enough for another run
		read, write, longest = 0.04, 0.15, 12*time.Second
	}
	switch {
	case w.over || c.dead:
		c.fail(0, syscall.ECONNRESET)
		return
	case c.chance(crash, 0.003, 0.015):
		c.crash()
		if mix(w.Seed, c.key, 9)%2 == 0 { // the request was sent
			w.after(latency, c.execute)
		}
		c.fail(0, syscall.ECONNRESET)
		return
	case c.chance(freeze, read, write):
		c.until = from.Add(w.upTo(longest, c.key, 10))
		w.note("%s is frozen until %s", c.process.name, c.until.Sub(w.start))
	}
	if wait := time.Until(c.until); wait > 0 {
		w.after(wait+latency, func() {
			if c.ctx.Err() == nil {
				c.receive()
			}
		})
		c.fail(responseTimeout, errTimeout)
		return
	}
	switch {
	case c.chance(lostRequest, 0.01, 0.01):
		w.trace(c, "the request is lost")
		c.fail(latency, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})
	case latency > responseTimeout:
		w.trace(c, "the request arrives late")
		w.after(latency, c.execute)
		c.fail(responseTimeout, errTimeout)
	default:
		w.after(latency, c.receive)
	}
}

// receive carries the request out and responds.
func (c *call) receive() {
	w := c.w
	if c.service == "DynamoDB_20120810" && c.reject() {
		return
	}
	c.execute()
	switch {
	case c.reliable():
		c.finish()
	case c.chance(lostResponse, 0.01, 0.04):
		w.trace(c, "the response is lost")
		c.fail(time.Millisecond, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET})
	case mix(w.Seed, c.key, 12)%8 == 0:
		w.after(w.upTo(20*time.Millisecond, c.key, 13), c.finish)
	default:
		c.finish()
	}
}

// flipped matches the toggles of the transaction of a re-evaluation.
var flipped = regexp.MustCompile(`"Key":{"name":{"S":"([^"]*)"}}`)

// reject responds with an error of DynamoDB that means that nothing was written.
func (c *call) reject() bool {
	w := c.w
	switch {
	case c.chance(throttled, 0.005, 0.005) || c.chance(throttled, 0.9, 0.9) &&
		w.storm(throttled, 10*time.Second, tableOf(string(c.body))):
		c.refuse(0, `ThrottlingException","message":"Throughput exceeds the current capacity"`)
	case c.name == "TransactWriteItems" && c.chance(conflict, 0, 0.25):
		var wait time.Duration
		if names := flipped.FindAllSubmatch(c.body, -1); c.reevaluates() && names != nil { // somebody changes one, or a type
			other := &actor{World: w, Rand: w.random(c.key), name: fmt.Sprintf("operator-%x", c.key)}
			name := string(names[other.IntN(2)*other.IntN(len(names))][1])
			change := choose(other, other.changeOne, func(name string) { other.putToggle(name, false) },
				func(string) { other.changeLifetime() })
			wait = within(other.Rand, 80*time.Millisecond)
			w.spawn(func() { change(name) })
		}
		reasons := strings.Repeat(`,{"Code":"None"}`, bytes.Count(c.body, []byte(`"TableName"`))-1)
		c.refuse(wait, `TransactionCanceledException","CancellationReasons":[{"Code":"TransactionConflict"}`+reasons+`]`)
	case c.chance(conflict, 0, 0.02):
		c.refuse(0, `TransactionConflictException","message":"Transaction is ongoing for the item"`)
	default:
		return false
	}
	return true
}

// chance decides whether a fault occurs at the call, which is more probable at a write.
func (c *call) chance(f fault, read, write float64) bool {
	if c.isWrite() {
		read = write
	}
	return c.w.happens(f, c.key, read)
}

// tracked returns what the world remembers about the request that the call belongs to, or nil.
func (c *call) tracked() *tracked {
	t, _ := c.ctx.Value(trackedKey{}).(*tracked)
	return t
}

// reliable reports whether no faults occur at the call: the SDK would repeat it after random times.
func (c *call) reliable() bool { return c.service == "AmazonSSM" || c.service == "AmazonSQS" }

// reevaluates reports whether the call is part of a re-evaluation.
func (c *call) reevaluates() bool { return strings.Contains(c.process.name, "staleness") }

func (c *call) isWrite() bool {
	return slices.Contains([]string{"UpdateItem", "PutItem", "DeleteItem", "TransactWriteItems"}, c.name)
}

// refuse responds after a time with an error of DynamoDB: the end of its JSON.
func (c *call) refuse(wait time.Duration, text string) {
	c.w.trace(c, text)
	c.status, c.out = http.StatusBadRequest, []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#`+text+"}")
	c.w.after(wait, c.finish)
}

func (c *call) finish() {
	if !c.over {
		c.over = true
		close(c.done)
	}
}

// fail responds with an error after d, unless there is a response before.
func (c *call) fail(d time.Duration, err error) {
	c.w.after(d, func() {
		if !c.over {
			c.err = err
			c.finish()
		}
	})
}

// execute carries the request out.
func (c *call) execute() {
	w := c.w
	if w.over && !c.direct {
		c.status, c.out = http.StatusServiceUnavailable, nil
		return
	}
	if c.service == "DynamoDB_20120810" {
		w.caller = c
		c.status, c.out = w.db.Do(c.name, c.body)
		if t := c.tracked(); t != nil && (len(w.changes) > 0 || c.name == "UpdateItem") {
			t.writes++
		}
		w.checkWritten()
		if c.status != http.StatusOK && !bytes.Contains(c.out, []byte("ConditionalCheckFailed")) {
			w.fail("DynamoDB rejects a call of %s: %s\n%s %s", c.process.name, c.out, c.name, c.body)
		}
	} else {
		c.status, c.out = w.serve(c)
	}
	if c.service != issuerHost {
		w.digest(c.key, uint64(c.status), hashOfJSON(c.out))
	}
}
