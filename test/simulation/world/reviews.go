package world

import (
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/access"
)

// moveOn asks for another state of a request, most of the time as somebody who may.
func (a *actor) moveOn(r *changerequest.Request) {
	state, by := changerequest.InReview, a.author(r)
	switch kind := a.IntN(12); {
	case kind == 0 && a.IntN(2) == 0 || r.State.IsFinal() && kind < 4:
		state = changerequest.Canceled
	case r.State == changerequest.Draft:
	case kind == 1 && a.IntN(2) == 0:
		state, by = changerequest.Rejected, a.approver(r)
	case r.State == changerequest.Scheduled && kind == 3: // the schedule is taken back
		state = changerequest.Approved
	case kind == 2 || r.State == changerequest.Approved && kind > 4 || r.State == changerequest.Scheduled:
		state, by = choose(a, changerequest.Applied, changerequest.Scheduled, changerequest.Scheduled), a.applier(r)
	default:
		state, by = changerequest.Approved, a.approver(r)
	}
	body := object{"state": state}
	if a.IntN(8) == 0 {
		body["comment"] = a.name
	}
	if state == changerequest.Scheduled {
		body["scheduledAt"] = a.later(r)
	}
	if state == changerequest.Applied || state == changerequest.Scheduled {
		a.beforeApplication(r)
		if o := a.applyRequest(by, r, body); o.ok() && state == changerequest.Scheduled && a.IntN(3) == 0 {
			a.disturbScheduled(r)
		}
		return
	}
	if a.IntN(2) == 0 {
		a.meanwhile((*actor).disturbRequests)
	}
	o := a.do(by, "PUT "+requestPath(r)+"/state", body)
	if state == changerequest.Approved || state == changerequest.Rejected {
		a.checkVote(o, by, r)
	}
	if state == changerequest.Approved && o.ok() && a.IntN(3) == 0 {
		a.readActionable(by, r.Project)
	}
}

// approver returns somebody who may approve a request most of the time.
func (a *actor) approver(r *changerequest.Request) *credential {
	if a.IntN(5) == 0 {
		return a.requester()
	}
	able := slices.DeleteFunc(slices.Clone(a.teams.members), func(c *credential) bool {
		return hasApproved(*r, c.account) || slices.Contains(authors(*r), c.account) ||
			!a.latest().mayApprove(c.account, placeOf(*r))
	})
	if len(able) == 0 {
		return a.admin
	}
	return choose(a, able...)
}

// applier returns somebody who may apply a request most of the time.
func (a *actor) applier(r *changerequest.Request) *credential {
	all := append(slices.Clone(a.teams.members), a.admin, a.api)
	if a.IntN(4) == 0 {
		return choose(a, all...)
	}
	now, places := a.latest(), a.placesOf(*r)
	return choose(a, slices.DeleteFunc(all, func(c *credential) bool {
		return c.account != 0 && !now.mayApply(c.account, *r, places)
	})...)
}

// applyRequest applies a request, or schedules it.
func (a *actor) applyRequest(by *credential, r *changerequest.Request, body object) *op {
	o := a.do(by, "PUT "+requestPath(r)+"/state", body)
	for _, c := range r.Changes {
		if body["state"] != changerequest.Applied {
			break
		}
		if c.Action != changerequest.DeleteSegment || !o.ok() && !o.unknown {
			continue
		}
		deletion := *o
		if o.ok() {
			deletion.status = success["segment"]
		}
		a.edit(&deletion, "segment", fmt.Sprint(c.Segment), "delete", edit{})
	}
	a.checkOneWrite(o)
	a.checkNotApplied(o, by, r.ID)
	return o
}

// checkNotApplied checks that a request is not refused which had all approvals, or somebody who might apply it, all the
// time.
func (a *actor) checkNotApplied(o *op, by *credential, id int64) {
	lacksApproval, lacksRight := strings.Contains(o.response, "more approval"), strings.Contains(o.response, "NoAccessError")
	if o.ok() || o.unknown || !lacksApproval && !lacksRight || strings.Contains(o.response, "is frozen until") {
		return
	}
	protected := map[bool]bool{} // whether places need approvals, at some time
	for _, r := range a.requestsDuring(o, id) {
		for _, s := range a.teamsDuring(o) {
			places, own := a.placesOf(*r), []place{placeOf(*r)} // it changes some of the first
			for _, in := range places {
				protected[s.needed(in) > 0] = true
			}
			may := by.account == 0 || s.mayApply(by.account, *r, places) && s.mayApply(by.account, *r, own)
			if lacksApproval && !s.isApproved(*r, places) || lacksRight && !may {
				return
			}
		}
	}
	if strings.Contains(o.response, "need a change request") && len(protected) == 2 {
		return // the protection has begun meanwhile
	}
	a.fail("the account %d may apply the request %d, and is refused: %s", by.account, id, o.response)
}

// checkVote checks that a person who may approve a request wherever it can act is not refused.
func (a *actor) checkVote(o *op, c *credential, r *changerequest.Request) {
	if o.unknown || !strings.Contains(o.response, string(access.ApproveChangeRequest)) {
		return
	}
	for _, s := range a.teamsDuring(o) {
		for _, in := range append(a.placesOf(*r), placeOf(*r)) {
			if !s.mayApprove(c.account, in) {
				return
			}
		}
	}
	a.fail("the account %d may approve the request %d, and is refused: %s", c.account, r.ID, o.response)
}

// voteOnOwn asks for the approval or rejection of a request by one of its authors.
func (a *actor) voteOnOwn(by *credential, path string) {
	a.do(by, "PUT "+path+"/state", object{"state": choose(a, changerequest.Approved, changerequest.Rejected)})
}
