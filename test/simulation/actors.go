package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/dynamo"
)

// actors are the users of the service. Each step is one request or command, or a few that belong together.
var actors = slices.Concat(
	named((*actor).changeLifetime, "admin-1", "admin-2"),
	named((*actor).editField, "editor-1", "editor-2"),
	named((*actor).changeToggle, "operator-1", "operator-2"),
	named((*actor).editToggle, "editor-3", "editor-4", "editor-5"),
	named((*actor).importToggles, "importer-1", "importer-2"),
	named((*actor).manageAccounts, "admin-3", "admin-4"),
	named((*actor).rotate, "pipeline-1", "pipeline-2"),
	named((*actor).manageCredentials, "operator-3", "operator-4"),
	named((*actor).managePeople, "operator-5", "operator-6"),
	named((*actor).signIn, "person-1", "person-2"),
	named((*actor).tryCredential, "intruder"),
	named((*actor).readTraffic, "auditor"),
	named((*actor).answer, "visitor-1", "visitor-2"),
)

// role is what an actor does.
type role struct {
	name string
	step func(*actor)
}

func named(step func(*actor), names ...string) (all []role) {
	for _, name := range names {
		all = append(all, role{name, step})
	}
	return all
}

// editors is the number of actors who change types, toggles and fields: the first ones.
const editors = 11

// actor is a person or machine. Its choices depend on the seed and its name, so that it makes the same ones without the
// others.
type actor struct {
	*World
	*rand.Rand
	name     string
	operator *operator.Operator
	n        int // of names that it has chosen
	last     *credential
	rival    func() // of the next step
}

func (w *World) startActors() {
	for i, a := range actors {
		if w.Parts>>i&1 == 0 {
			continue
		}
		self := &actor{World: w, Rand: w.random(hashOf(a.name)), name: a.name}
		w.acting++
		w.spawn(func() {
			for {
				w.sleep(self.name, self.pause())
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
	if a.calm || strings.Contains(a.name, "+") || a.IntN(2) == 0 {
		return
	}
	a.n++
	name := fmt.Sprintf("%s+%d", a.name, a.n)
	b := &actor{World: a.World, Rand: a.random(hashOf(name)), name: name}
	soon := func() time.Duration { return within(b.Rand, 20*time.Millisecond) }
	before, wait := soon(), soon()
	if a.IntN(2) == 0 {
		a.rival = func() {
			b.turn(name)
			do(b)
		}
		return
	}
	a.spawn(func() {
		b.sleep(name, wait)
		do(b)
	})
	a.sleep(a.name, before)
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
	o := &op{actor: a.name, begun: time.Now(), tokenLimit: a.tokenLimit(), tracked: &tracked{rival: a.rival}}
	a.rival = nil
	return o, context.WithValue(context.Background(), trackedKey{}, o.tracked)
}

// do sends a request with a credential, and sometimes an If-Match, and checks whether it is accepted. It does not wait
// longer than API Gateway.
func (a *actor) do(c *credential, request string, body object, match ...string) *op {
	o, ctx := a.begin()
	day := time.Now().UTC().Format(time.DateOnly)
	method, path, _ := strings.Cut(request, " ")
	content := ""
	if body != nil {
		content = text(body)
	}
	r := httptest.NewRequestWithContext(ctx, method, "/api/admin/"+path, strings.NewReader(content))
	r.Header.Set("Authorization", c.text)
	r.Header.Set("Content-Type", "application/json")
	for _, etag := range match {
		r.Header.Set("If-Match", etag)
	}
	recorder := httptest.NewRecorder()
	a.gateway.ServeHTTP(recorder, r)
	a.turn(a.name)
	o.ended, o.status, o.response = time.Now(), recorder.Code, recorder.Body.String()
	o.etag = recorder.Header().Get("ETag")
	a.digest(hashOf(a.name), uint64(o.status), hashOf(o.response))
	a.note("%s: %s %s → %d %s", a.name, request, content, o.status, shortened(o.response, 200))
	o.unknown, o.reads = o.status >= http.StatusInternalServerError, method == http.MethodGet
	a.answered[fmt.Sprintf("%s %dxx", day, max(o.status/100, 2))]++
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

// command runs a command of toggleadmin, with the operator of the actor.
func (a *actor) command(what string, run func(context.Context) error) *op {
	a.n++
	p := a.newProcess(fmt.Sprintf("%s/%d", a.name, a.n))
	a.operator = a.newOperator(p)
	o, ctx := a.begin()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	done := make(chan error, 1)
	a.spawn(func() { done <- run(ctx) })
	var err error
	select {
	case err = <-done:
	case <-p.ended:
		err = errEnded
		cancel()
	}
	a.turn(a.name)
	status := exitstatus.Of(err)
	o.ended, o.unknown = time.Now(), status == exitstatus.Failure
	o.status = map[exitstatus.Status]int{
		exitstatus.Success: http.StatusOK, exitstatus.NotFound: http.StatusNotFound,
		exitstatus.Failure: http.StatusInternalServerError,
	}[status]
	if o.unknown && !errors.Is(err, errEnded) && !errors.Is(err, dynamo.ErrUnavailable) {
		a.fail("%s: toggleadmin %s: %v", a.name, what, err)
	}
	a.digest(hashOf(a.name), uint64(status))
	a.note("%s: toggleadmin %s → %d %v", a.name, what, status, err)
	return o
}

func (a *actor) changeLifetime() {
	id := subject(a, a.types...)
	if a.IntN(4) == 0 {
		a.listTypes(a.admin)
		return
	}
	a.meanwhile((*actor).changeToggle)
	days := choose(a, 0, 1, 1, 7, 40)
	o := a.do(choose(a, a.admin, a.api), "PUT feature-types/"+id+"/lifetime", object{"lifetimeDays": days})
	a.record(o, "type", id, "set", days)
	if o.ok() && a.typeWritten[id].Before(o.begun) {
		a.fail("%s sets the lifetime of %s, but its item was not written, so that its toggles are not re-evaluated", a.name, id)
	}
}

func (a *actor) listTypes(c *credential) {
	var out struct {
		Types []struct {
			ID           string
			LifetimeDays int64
		}
	}
	o := a.get(c, "feature-types", &out)
	for _, t := range out.Types {
		a.record(o, "type", t.ID, "get", t.LifetimeDays)
	}
}

func (a *actor) manageAccounts() {
	id := subject(a, a.robots...)
	switch a.IntN(7) {
	case 0, 1:
		name := fmt.Sprintf("%s-%d", choose(a, "robot", "Robot"), a.IntN(4))
		o := a.do(a.admin, "POST service-account", object{"username": name, "name": "Robot", "rootRole": 2})
		var out struct{ ID int64 }
		if o.ok() {
			a.decode(o, &out)
			a.robots = append(a.robots, out.ID)
			a.account(out.ID)
			a.record(o, "role", out.ID, "set", 2)
		}
	case 2, 6:
		if id != a.robots[0] {
			a.deleteAccount(id)
		}
	case 3:
		a.meanwhile(func(b *actor) { b.updateAccount(id) })
		a.updateAccount(id)
	case 4:
		a.listAccounts()
	default:
		a.listTokens(a.admin, id)
	}
}

// updateAccount changes the role or the name of a service account.
func (a *actor) updateAccount(id int64) {
	request, role := fmt.Sprint("PUT service-account/", id), choose(a, 1, 2, 3)
	if a.IntN(2) == 0 {
		a.do(a.admin, request, object{"name": fmt.Sprint("Robot ", a.IntN(9))})
		return
	}
	a.record(a.do(a.admin, request, object{"rootRole": role}), "role", id, "set", role)
}

// deleteAccount deletes a service account.
func (a *actor) deleteAccount(id int64) {
	o := a.delete(a.admin, a.account(id), func(b *actor) { b.changeOwn(id) }, func() *op {
		return a.do(a.admin, fmt.Sprint("DELETE service-account/", id), nil)
	})
	a.record(o, "tokens", id, "close", "")
}

// delete deletes a token or an account while rivals act. The token of a person can be missing because the person has
// signed in to another account meanwhile.
func (a *actor) delete(by *credential, d *deletion, rival func(*actor), send func() *op) *op {
	earliest(&d.deleting, time.Now())
	a.meanwhile(rival)
	a.meanwhile(rival)
	o := send()
	if o.ok() || o.status == http.StatusNotFound && by.subject == "" {
		earliest(&d.deleted, o.ended)
	}
	return o
}

// listAccounts lists the service accounts with their tokens. What it contains of an account that is being deleted is
// not defined.
func (a *actor) listAccounts() {
	known := slices.Clone(a.robots)
	var out struct {
		ServiceAccounts []struct {
			ID, RootRole int64
			Tokens       descriptions
		}
	}
	o := a.get(a.admin, "service-account", &out)
	for _, id := range known {
		if !o.ok() || !a.account(id).deleting.IsZero() {
			continue
		}
		value, listed := "", *o
		listed.status = http.StatusNotFound
		for _, s := range out.ServiceAccounts {
			if s.ID == id {
				value, listed = s.Tokens.canonical(), *o
				a.record(o, "role", id, "get", s.RootRole)
			}
		}
		a.record(&listed, "tokens", id, "list", value)
	}
}

// tryCredential uses a credential that may be deleted, expired or disabled, and sometimes deletes it.
func (a *actor) tryCredential() {
	if len(a.credentials) == 0 {
		return
	}
	c := choose(a, a.credentials...)
	for _, other := range a.credentials { // one that is about to expire
		if left := time.Until(other.expires) + a.skew; left > 0 && left < 40*time.Second && other.deleting.IsZero() {
			a.sleep(a.name, left+within(a.Rand, time.Second))
			c = other
			break
		}
	}
	if a.IntN(2) == 0 { // the authorizers know it
		a.useToken(c)
	}
	if a.IntN(2) == 0 {
		a.endToken(a.admin, c)
	}
	a.useToken(c)
}

// readTraffic gets the report of the month, or reads the event log.
func (a *actor) readTraffic() {
	if a.IntN(2) == 0 {
		a.readLog()
		return
	}
	a.do(a.admin, "GET metrics/traffic/"+time.Now().UTC().Format("2006-01"), nil)
}
