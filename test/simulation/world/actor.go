package world

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"toggleadmin/pkg/operator"
)

// part is what an actor does.
type part struct {
	name string
	step func(*actor)
}

func named(step func(*actor), names ...string) (all []part) {
	for _, name := range names {
		all = append(all, part{name, step})
	}
	return all
}

// actor is a person or machine. Its choices depend on the seed and its name, so that it makes the same ones without the
// others.
type actor struct {
	*World
	*rand.Rand
	name     string
	operator *operator.Operator
	n        int // of names that it has chosen
	last     *credential
	rival    *rival                     // of the next step
	expected func(storedProject) string // what is wrong with a project that the next step changes; nil: nothing
}

func (w *World) startActors() {
	for i, a := range actors {
		if w.Actors>>i&1 == 0 {
			continue
		}
		self := &actor{World: w, Rand: w.random(hashOf(a.name)), name: a.name}
		w.acting++
		w.spawn(func() {
			for {
				w.sleep(self.name, self.pause())
				for w.isQuiet(time.Now()) && !w.calm {
					w.sleep(self.name, self.pause())
				}
				if w.calm || w.over || w.result.Steps >= w.Steps {
					break
				}
				if w.result.Steps++; self.IntN(3) == 0 {
					self.meanwhile(a.step)
				}
				a.step(self)
			}
			w.enter(hashOf(self.name), func() { w.acting-- })
		})
	}
}

// meanwhile sometimes does something else at the same time, or between the reads and the first write of the next step.
func (a *actor) meanwhile(do func(*actor)) {
	switch a.IntN(4) {
	case 0:
		a.beforeWrite(do)
	case 1:
		a.concurrently(do)
	}
}

// beforeWrite lets another actor do something between the reads and the first write of the next step.
func (a *actor) beforeWrite(do func(*actor)) { a.before((*call).isWrite, do) }

// before lets another actor do something when the next step makes a call. The call takes longer.
func (a *actor) before(selects func(*call) bool, do func(*actor)) {
	if b := a.another(); b != nil {
		a.rival = &rival{selects, func() {
			b.turn(b.name)
			do(b)
		}}
	}
}

// concurrently lets another actor do something at the time of the next step.
func (a *actor) concurrently(do func(*actor)) {
	if b := a.another(); b != nil {
		soon := func() time.Duration { return within(b.Rand, 20*time.Millisecond) }
		before, wait := soon(), soon()
		a.spawn(func() {
			b.sleep(b.name, wait)
			do(b)
		})
		a.sleep(a.name, before)
	}
}

// another returns an actor who acts at the same time, or nil: one who does so has no others, and in the calm world
// everybody acts alone.
func (a *actor) another() *actor {
	if a.calm || strings.Contains(a.name, "+") {
		return nil
	}
	a.n++
	name := fmt.Sprintf("%s+%d", a.name, a.n)
	return &actor{World: a.World, Rand: a.random(hashOf(name)), name: name}
}

// meeting is the interval of the times at which most things happen.
const meeting = 30 * time.Second

// pause returns the time to the next step. Most steps are at the same times as those of others, and as what is
// scheduled.
func (a *actor) pause() time.Duration {
	soon := within(a.Rand, choose(a, 5*time.Millisecond, 40*time.Millisecond, 200*time.Millisecond))
	switch a.IntN(8) {
	case 0:
		return within(a.Rand, time.Minute)
	case 1, 2, 3:
		return soon
	}
	return time.Until(time.Now().Add(time.Duration(1+a.IntN(2))*meeting).Truncate(meeting)) + soon
}

func choose[T any](a *actor, all ...T) T { return all[a.IntN(len(all))] }

// subject chooses what a step is about: most of the time the same as the other actors at this time.
func subject[T any](a *actor, all ...T) T {
	if a.IntN(4) == 0 {
		return choose(a, all...)
	}
	return all[a.topic(time.Now(), len(all))]
}

// topic returns the position, among n, of the subject at a time.
func (w *World) topic(t time.Time, n int) int {
	return int(mix(w.Seed, uint64(t.Add(meeting/2).UnixNano()/int64(meeting))) % uint64(n))
}

// begin returns the operation of a request or command, and its context.
func (a *actor) begin() (*op, context.Context) {
	now := time.Now()
	o := &op{actor: a.name, begun: now, tokenLimit: a.tokenLimit(), tracked: &tracked{begun: now, rival: a.rival}}
	if a.rival = nil; a.expected != nil {
		o.expected, a.expected = a.expected, nil
	}
	return o, context.WithValue(context.Background(), trackedKey{}, o.tracked)
}

// do sends a request with a credential, and sometimes an If-Match, and checks whether it is accepted. It does not wait
// longer than API Gateway.
func (a *actor) do(c *credential, request string, body object, match ...string) *op {
	content := ""
	if body != nil {
		content = text(body)
	}
	return a.sendText(c, request, content, match...)
}

// sendText is do with the text of a body.
func (a *actor) sendText(c *credential, request, content string, match ...string) *op {
	o, ctx := a.begin()
	day := time.Now().UTC().Format(time.DateOnly)
	method, path, _ := strings.Cut(request, " ")
	r := httptest.NewRequestWithContext(ctx, method, "/api/admin/"+path, strings.NewReader(content))
	r.Header.Set("Authorization", c.text)
	r.Header.Set("Content-Type", "application/json")
	for _, etag := range match {
		r.Header.Set("If-Match", etag)
	}
	recorder := httptest.NewRecorder()
	a.lambda.gateway.ServeHTTP(recorder, r)
	a.turn(a.name)
	o.ended, o.status, o.response = time.Now(), recorder.Code, recorder.Body.String()
	o.etag = recorder.Header().Get("ETag")
	a.digest(hashOf(a.name), uint64(o.status), hashOf(o.response))
	a.note("%s: %s %s → %d %s", a.name, request, content, o.status, shortened(o.response, 200))
	o.unknown, o.reads = o.status >= http.StatusInternalServerError, method == http.MethodGet
	a.traffic.answered[fmt.Sprintf("%s %dxx", day, max(o.status/100, 2))]++
	a.checkAccepted(c, o)
	return o
}

// get sends a GET request. If it succeeds, into is the response.
func (a *actor) get(c *credential, path string, into any) *op {
	o := a.do(c, "GET "+path, nil)
	if o.ok() {
		a.decode(o, into)
	}
	return o
}

func (w *World) decode(o *op, into any) {
	if err := json.Unmarshal([]byte(o.response), into); err != nil {
		w.fail("a response is not valid: %v: %s", err, o.response)
	}
}
