package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toggleadmin/pkg/eventlog"
)

// call is one HTTP request of a process.
type call struct {
	*process
	ctx     context.Context //nolint:containedctx // of the request
	key     uint64
	sent    time.Time // by the clock of the process, the first time
	service string    // DynamoDB_20120810, or a host
	name    string    // of the operation
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
	if c.reevaluates() && c.name == "TransactWriteItems" {
		c.renumber()
	}
	content := mix(p.hash, hashOf(c.service), hashOf(c.name), hashOfJSON(c.body))
	p.w.mu.Lock()
	if p.calls[content] == nil {
		p.calls[content] = &repeated{first: p.now()}
	}
	if again := p.calls[content]; !again.last.Equal(p.now()) {
		again.times++
		again.last = p.now()
	}
	c.key, c.sent = mix(content, p.calls[content].times), p.calls[content].first
	p.w.mu.Unlock()
	if p.direct {
		p.one.Lock()
		c.execute() //nolint:contextcheck // what it causes in the world does not end with the request
		c.finish()
		p.one.Unlock()
	} else {
		p.w.enter(c.key, c.send)
	}
	select {
	case <-c.done:
	case <-r.Context().Done():
		p.broken.Store(true)
		p.troubled.Store(time.Now().UnixNano())
		return nil, r.Context().Err()
	}
	if c.err != nil || c.status != http.StatusOK {
		p.troubled.Store(time.Now().UnixNano())
	}
	if c.err != nil {
		p.broken.Store(true)
		return nil, c.err
	}
	if strings.HasSuffix(c.name, "GetItem") {
		p.w.mu.Lock()
		p.readAt = p.now()
		p.w.mu.Unlock()
		p.readType(c)
	}
	return &http.Response{
		StatusCode: c.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(c.out)),
	}, nil
}

// eventID matches the id of an event that a transaction appends.
var eventID = regexp.MustCompile(`"id":{"N":"(\d+)"}`)

// renumber exchanges the ids of events among the transactions that a re-evaluation sends at the same time: which
// goroutine draws its ids first is not determined by the seed. The re-evaluation does not use the ids later.
func (c *call) renumber() {
	w, p := c.w, c.process
	var ids []int64
	for _, found := range eventID.FindAllSubmatch(c.body, -1) {
		id, _ := strconv.ParseInt(string(found[1]), 10, 64)
		if eventlog.TimeOf(id).Before(p.now().Add(5 * time.Millisecond)) { // otherwise the last event of the toggle is late
			ids = append(ids, id)
		}
	}
	w.mu.Lock()
	for _, id := range ids {
		p.drawn = append(p.drawn, id/eventlog.Shards)
	}
	w.mu.Unlock()
	done := make(chan struct{})
	key := p.hash
	for _, found := range flipped.FindAllSubmatch(c.body, -1) {
		key = mix(key, hashOf(found[1]))
	}
	w.enter(key, func() {
		slices.Sort(p.drawn)
		next := map[string]int64{}
		for i, id := range ids {
			next[fmt.Sprintf(`"N":"%d"`, id)] = p.drawn[i]*eventlog.Shards + id%eventlog.Shards
		}
		p.drawn = p.drawn[len(ids):]
		c.body = number.ReplaceAllFunc(c.body, func(text []byte) []byte {
			if id := next[string(text)]; id != 0 {
				return fmt.Appendf(nil, `"N":"%d"`, id)
			}
			return text
		})
		close(done)
	})
	<-done
}

var number = regexp.MustCompile(`"N":"\d+"`)

// maxCalls is more than any history needs.
const maxCalls = 100_000

// send decides what happens to a call.
func (c *call) send() {
	w := c.w
	if w.result.Calls++; w.result.Calls > maxCalls {
		w.fail("there is no end: %d calls", w.result.Calls)
	}
	latency := time.Millisecond + w.upTo(9*time.Millisecond, c.key, 7)
	if strings.HasPrefix(c.process.name, "authorizer") { // so that it reads a token at the time when it expires
		latency = latency.Truncate(time.Millisecond)
	}
	staleness := c.reevaluates()
	if w.storm(slow, 15*time.Second, "") {
		latency *= time.Duration(1 + mix(w.Seed, c.key, 8)%100)
	} else if staleness && mix(w.Seed, c.key, 14)%2 == 0 { // others act between its reads and writes
		latency *= time.Duration(1 + mix(w.Seed, c.key, 8)%16)
	}
	if atEnd := c.untilLifetimeEnds(); atEnd > 0 {
		latency = atEnd
	}
	if t := c.tracked(); t != nil && t.rival != nil && t.rival.selects(c) {
		w.spawn(t.rival.do)
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
	case c.ofClient():
		read, from, longest = 0.03, now, time.Minute
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

// begun returns when the request began that the call belongs to, or now if it belongs to none.
func (c *call) begun() time.Time {
	if t := c.tracked(); t != nil {
		return t.begun
	}
	return time.Now()
}

// readRequest remembers when the process reads a change request.
func (c *call) readRequest() {
	if found := requestKey.FindSubmatch(c.body); c.name == "GetItem" && found != nil {
		id, err := strconv.ParseInt(string(found[1]), 10, 64)
		c.w.must(err)
		c.process.asked[id] = time.Now()
	}
}

// requestKey matches the key of a change request.
var requestKey = regexp.MustCompile(`"Key":{"key":{"S":"(\d+)"}}`)

// readSince returns when the process has read a change request that it writes, or when it began.
func (c *call) readSince(id int64) time.Time {
	if at, read := c.process.asked[id]; read && at.After(c.begun()) {
		return at
	}
	return c.begun()
}

// reliable reports whether no faults occur at the call: the SDK would repeat it after random times.
func (c *call) reliable() bool { return c.service == "AmazonSSM" || c.service == "AmazonSQS" }

// ofFunction reports whether the call is one of a function, and not of a command.
func (c *call) ofFunction() bool { return c.process.handler != nil }

func (c *call) isQuery() bool { return c.name == "Query" }

func (c *call) isWrite() bool {
	return slices.Contains([]string{"UpdateItem", "PutItem", "DeleteItem", "TransactWriteItems"}, c.name)
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
		w.engine.caller = c
		c.readRequest()
		c.status, c.out = w.db.Do(c.name, c.body)
		if t := c.tracked(); t != nil && (len(w.engine.changes) > 0 || c.name == "UpdateItem") {
			t.writes++
		}
		if t := c.tracked(); t != nil &&
			slices.ContainsFunc(w.engine.changes, func(c change) bool { return c.table == "Features" }) {
			t.states++
		}
		w.searched(c)
		w.written()
		if c.status != http.StatusOK && !bytes.Contains(c.out, []byte("ConditionalCheckFailed")) {
			w.fail("DynamoDB rejects a call of %s: %s\n%s %s", c.process.name, c.out, c.name, c.body)
		}
	} else {
		c.status, c.out = w.serve(c)
	}
	if c.service != issuerHost && !c.direct { // the order of direct calls at the same time is not determined
		w.digest(c.key, uint64(c.status), hashOfJSON(c.out))
	}
}

// serve responds to a call that is not DynamoDB's.
func (w *World) serve(c *call) (status int, response []byte) {
	switch c.service + "." + c.name {
	case "AWSEvents.PutEvents":
		if w.storm(noBus, time.Minute, "") {
			return http.StatusBadRequest, []byte(`{"__type":"InternalException"}`)
		}
		return w.putEvents(c)
	case "AmazonSSM.GetParameter":
		return http.StatusOK, []byte(`{"Parameter":{"Value":"` + webhookURL + ` ` + secret + `"}}`)
	case "AmazonSQS.ChangeMessageVisibility":
		var in struct {
			ReceiptHandle     string
			VisibilityTimeout int
		}
		_ = json.Unmarshal(c.body, &in)
		for _, m := range w.webhook.queue {
			if m.ReceiptHandle == in.ReceiptHandle {
				m.visible = time.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
				w.at(m.visible, w.poll)
			}
		}
		return http.StatusOK, []byte(`{}`)
	case "AmazonSQS.SendMessage":
		w.discard(c)
		return http.StatusOK, []byte(`{"MessageId":"1"}`)
	case "webhook.test./events":
		return w.receive(c), nil
	}
	return serveIssuer(c.name)
}

// trace adds a line about a call to the history.
func (w *World) trace(c *call, text string) {
	body := string(c.body)
	w.note("    %s: %s (%s of %s %s)", c.process.name, text, c.name, tableOf(body), shortened(body, 160))
}
