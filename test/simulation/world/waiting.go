package world

import (
	"fmt"
	"slices"
	"time"

	"toggleadmin/pkg/api/changerequest"
)

// readRequests reads a number or a list of requests, and checks it.
func (a *actor) readRequests() {
	c, project := choose(a, append(slices.Clone(a.teams.members), a.admin)...), choose(a, teamProjects...)
	path := "projects/" + project + "/change-requests"
	if a.IntN(2) == 0 {
		a.meanwhile((*actor).disturbRequests)
	}
	switch a.IntN(5) {
	case 0:
		var n map[string]int
		if o := a.get(c, path+"/count", &n); o.ok() {
			a.checkCount(o, project, n)
		}
	case 1:
		a.readActionable(c, project)
	case 2:
		var open []struct{ ID int64 }
		if o := a.get(c, path+"/pending", &open); o.ok() {
			listed := map[int64]bool{}
			for _, r := range open {
				listed[r.ID] = true
			}
			a.checkOpen(o, project, listed)
		}
	case 3:
		a.searchRequests(c)
	default:
		if open := a.openRequests(); len(open) > 0 {
			r := subject(a, open...)
			a.checkAllowed(a.do(c, "GET "+requestPath(r), nil), c, r.Project, "", "")
		}
	}
}

// readActionable reads how many requests of a project wait for somebody.
func (a *actor) readActionable(c *credential, project string) {
	var n struct{ Total int }
	if o := a.get(c, "projects/"+project+"/change-requests/actionable", &n); o.ok() {
		a.checkActionable(o, c, project, n.Total)
	}
}

// searchRequests searches requests of all projects, and checks that all that are found were ones of projects that the
// account sees.
func (a *actor) searchRequests(c *credential) {
	var found struct {
		ChangeRequests []struct {
			ID      int64
			Project string
		}
		Total int
	}
	o := a.get(c, "search/change-requests"+choose(a, "", "?state=IS_ANY_OF:Approved,Scheduled,In%20review",
		fmt.Sprint("?createdBy=IS:", c.account)), &found)
	if !o.ok() {
		return
	}
	if found.Total < len(found.ChangeRequests) {
		a.fail("a search finds %d requests of %d", len(found.ChangeRequests), found.Total)
	}
	for _, r := range found.ChangeRequests {
		if !slices.ContainsFunc(a.teamsDuring(o), func(s teamsAt) bool { return s.sees(c.account, r.Project) }) {
			a.fail("a search finds the request %d of the project %s, which the account %d does not see", r.ID, r.Project,
				c.account)
		}
	}
}

// requestsDuring returns the states that a request had during an operation.
func (w *World) requestsDuring(o *op, id int64) (all []*changerequest.Request) {
	states := w.requests.states[id]
	if len(states) > 0 && states[0].from.After(o.begun) {
		all = append(all, nil)
	}
	for i, s := range states {
		if during(o, states, i, func(s requestAt) time.Time { return s.from }) {
			all = append(all, s.request)
		}
	}
	return all
}

// checkCount checks the numbers of requests of a project: those of one time during the request.
func (w *World) checkCount(o *op, project string, got map[string]int) {
	names := map[string]changerequest.State{
		"applied": changerequest.Applied, "rejected": changerequest.Rejected, "reviewRequired": changerequest.InReview,
		"approved": changerequest.Approved, "scheduled": changerequest.Scheduled,
	}
	var all []map[string]int
	for _, at := range w.requestChanges(o) {
		n := map[string]int{"total": 0}
		for name := range names {
			n[name] = 0
		}
		for id := range w.requests.states {
			r := w.requestBy(id, at)
			if r == nil || r.Project != project {
				continue
			}
			n["total"]++
			for name, state := range names {
				if r.State == state {
					n[name]++
				}
			}
		}
		all = append(all, n)
	}
	if !slices.ContainsFunc(all, func(n map[string]int) bool { return fmt.Sprint(n) == fmt.Sprint(got) }) {
		w.fail("the numbers of requests of %s are %v, but they were %v", project, got, all)
	}
}

// requestChanges returns the time at which an operation began, and those at which a request changed during it.
func (w *World) requestChanges(o *op) []time.Time {
	times := []time.Time{o.begun}
	for _, states := range w.requests.states {
		for _, s := range states {
			if !s.from.Before(o.begun) && !s.from.After(o.ended) {
				times = append(times, s.from)
			}
		}
	}
	return times
}

// requestBy returns a request as it was at a time, after the changes at that time; nil: it did not exist.
func (w *World) requestBy(id int64, at time.Time) (r *changerequest.Request) {
	for _, s := range w.requests.states[id] {
		if !s.from.After(at) {
			r = s.request
		}
	}
	return r
}

// checkOpen checks a list of the requests of a project that are not closed: one that was open all the time is listed, and
// one that was not at any time is not.
func (w *World) checkOpen(o *op, project string, listed map[int64]bool) {
	for id := range w.requests.states {
		always, ever := true, false
		for _, r := range w.requestsDuring(o, id) {
			open := r != nil && r.Project == project && !r.State.IsFinal()
			always, ever = always && open, ever || open
		}
		if listed[id] && !ever || !listed[id] && always {
			w.fail("the open requests of %s contain the request %d: %t", project, id, listed[id])
		}
		delete(listed, id)
	}
	for id := range listed {
		w.fail("the open requests of %s contain the request %d, which does not exist", project, id)
	}
}

// checkActionable checks how many requests wait for an account: at least those that did all the time, and at most those
// that did at some time.
func (w *World) checkActionable(o *op, c *credential, project string, got int) {
	least, most := 0, 0
	teams := w.teamsDuring(o)
	for id := range w.requests.states {
		always, ever := true, false
		for _, r := range w.requestsDuring(o, id) {
			for _, s := range teams {
				waits := r != nil && r.Project == project && s.waitsFor(c.account, *r)
				always, ever = always && waits, ever || waits
			}
		}
		if always {
			least++
		}
		if ever {
			most++
		}
	}
	if got < least || got > most {
		w.fail("%d requests of %s wait for the account %d, but %d to %d did", got, project, c.account, least, most)
	}
}

// waitsFor reports whether an account is to approve a request in its environment, or to apply it.
func (t teamsAt) waitsFor(account int64, r changerequest.Request) bool {
	switch r.State {
	case changerequest.InReview:
		return !hasApproved(r, account) && !slices.Contains(authors(r), account) && t.mayApprove(account, placeOf(r))
	case changerequest.Approved:
		return t.may(account, r.Project, "APPLY_CHANGE_REQUEST", r.Environment)
	case changerequest.Scheduled:
		s := r.Schedule
		return s.Status != changerequest.Pending && !s.Frozen && t.may(account, r.Project, "APPLY_CHANGE_REQUEST", r.Environment)
	default:
		return false
	}
}
