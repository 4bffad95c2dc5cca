package world

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// requestAt is a change request from a time on; nil: it does not exist.
type requestAt struct {
	from    time.Time
	request *changerequest.Request
}

// changeRequest returns a change request as it is now, or nil.
func (w *World) changeRequest(id int64) *changerequest.Request {
	states := w.requests.states[id]
	if len(states) == 0 {
		return nil
	}
	return states[len(states)-1].request
}

// isRequest reports whether an item of the table is a change request.
func isRequest(item dynamo.Item) bool { return item.Int("id") > 0 }

func (w *World) decodeRequest(item dynamo.Item) *changerequest.Request {
	if item == nil {
		return nil
	}
	var r changerequest.Request
	w.must(dynamo.Unmarshal(item, &r))
	return &r
}

// follows are the states that a request can have after another one.
var follows = map[changerequest.State][]changerequest.State{
	changerequest.Draft: {changerequest.InReview, changerequest.Approved, changerequest.Canceled},
	changerequest.InReview: {
		changerequest.Approved, changerequest.Applied, changerequest.Scheduled, changerequest.Rejected,
		changerequest.Canceled,
	},
	changerequest.Approved: {
		changerequest.Applied, changerequest.Scheduled, changerequest.InReview, changerequest.Rejected,
		changerequest.Canceled,
	},
	changerequest.Scheduled: {
		changerequest.Applied, changerequest.Approved, changerequest.InReview, changerequest.Rejected, changerequest.Canceled,
	},
}

// checkRequests checks the changes of requests that a call has made. It is called before the world remembers what the call
// has written.
func (w *World) checkRequests() {
	changed := false
	applied := map[int64]bool{}
	for _, c := range w.engine.changes {
		if c.table != changerequest.Table {
			continue
		}
		changed = true
		if !isRequest(c.item) {
			continue
		}
		old, next := w.decodeRequest(c.old), w.decodeRequest(c.next)
		w.checkRequest(old, next)
		if w.engine.caller.sweeps() && old != nil && next != nil {
			w.checkSwept(*old, *next)
		}
		if next != nil && next.State == changerequest.Applied && old != nil && old.State != changerequest.Applied {
			applied[next.ID] = true
			w.checkApplied(*old)
			if w.engine.caller.sweeps() {
				w.appliedBySweep(*old)
			}
		}
		id := c.item.Int("id")
		w.requests.states[id] = append(w.requests.states[id], requestAt{time.Now(), next})
	}
	for _, c := range w.engine.changes {
		of := c.item.Int("changeRequestId")
		if c.table == eventlog.Table && of != 0 && !applied[of] && c.item.String("subject") != requestSubject(of) {
			w.fail("%s changes %s for the request %d, which is not applied", w.engine.caller.process.name,
				c.item.String("subject"), of)
		}
	}
	if changed {
		w.checkNumbers()
	}
}

func requestSubject(id int64) string { return fmt.Sprint("change-request:", id) }

// checkRequest checks the change of one request.
func (w *World) checkRequest(old, next *changerequest.Request) {
	switch {
	case old == nil:
		if next.ID <= w.requests.highest || next.State != changerequest.Draft {
			w.fail("the request %d begins as %s, after the request %d", next.ID, next.State, w.requests.highest)
		}
		w.requests.highest = next.ID
		old = &changerequest.Request{ID: next.ID, State: changerequest.Draft}
	case old.State.IsFinal() && (next == nil || !sameButComments(*old, *next)):
		w.fail("the request %d is %s, and changes", old.ID, old.State)
	case next == nil && old.State != changerequest.Draft:
		w.fail("the request %d is deleted, which is %s", old.ID, old.State)
	}
	if next == nil {
		return
	}
	if old.State != next.State && !slices.Contains(follows[old.State], next.State) {
		w.fail("the request %d becomes %s, after %s", next.ID, next.State, old.State)
	}
	w.checkVotes(*old, *next)
	w.checkChanges(*old, *next)
}

// sameButComments reports whether a request has got comments at most.
func sameButComments(old, next changerequest.Request) bool {
	n := len(old.Comments)
	kept := n == 0 || len(next.Comments) >= n && reflect.DeepEqual(next.Comments[:n], old.Comments)
	next.Comments, next.LastID, next.LastEvent = old.Comments, old.LastID, old.LastEvent
	return kept && reflect.DeepEqual(old, next)
}

// authors returns the accounts that have made a request, or added, edited or deleted a change of it.
func authors(r changerequest.Request) []int64 {
	ids := append([]int64{r.CreatedBy.ID}, r.Authors...)
	for _, c := range r.Changes {
		ids = append(ids, c.CreatedBy.ID)
	}
	return ids
}

// hasApproved reports whether a request has an approval of an account that counts.
func hasApproved(r changerequest.Request, account int64) bool {
	return slices.ContainsFunc(r.Approvals, func(v changerequest.Vote) bool { return v.By.ID == account && !v.StruckOut })
}

// checkVotes checks who has approved or rejected a request, and that one that gets approved has the approvals of its own
// environment.
func (w *World) checkVotes(old, next changerequest.Request) {
	states := w.teamsSince(w.engine.caller.begun()) // the authorizer has read the groups of who votes
	for kind, votes := range map[string][2][]changerequest.Vote{
		"approved": {old.Approvals, next.Approvals}, "rejected": {old.Rejections, next.Rejections},
	} {
		for i, v := range votes[1] {
			repeats := func(other changerequest.Vote) bool { return other.By.ID == v.By.ID && other.At.Equal(v.At) }
			if slices.ContainsFunc(votes[0], repeats) {
				continue
			}
			if slices.Contains(authors(next), v.By.ID) || v.By.ID == 0 {
				w.fail("the request %d is %s by the account %d, its author", next.ID, kind, v.By.ID)
			}
			if !slices.ContainsFunc(states, func(s teamsAt) bool { return s.mayVote(v.By.ID, next, w.placesOf(next)) }) {
				w.fail("the request %d is %s by the account %d, which may not", next.ID, kind, v.By.ID)
			}
			if slices.ContainsFunc(votes[1][:i], func(v2 changerequest.Vote) bool { return v2.By.ID == v.By.ID }) {
				w.fail("the request %d is %s twice by the account %d", next.ID, kind, v.By.ID)
			}
		}
	}
	own := []place{placeOf(next)}
	if next.State == changerequest.Approved && old.State != next.State && old.State != changerequest.Scheduled &&
		!slices.ContainsFunc(states, func(s teamsAt) bool { return s.isApproved(next, own) }) {
		w.fail("the request %d becomes approved without the approvals of %v: %+v", next.ID, own, next.Approvals)
	}
}

func placeOf(r changerequest.Request) place { return place{r.Project, r.Environment} }

// mayApprove reports whether an account may approve requests in a place. A service account needs a custom role.
func (t teamsAt) mayApprove(account int64, in place) bool {
	return !t.isGone(account) && t.may(account, in.project, "APPROVE_CHANGE_REQUEST", in.environment)
}

// mayVote reports whether an account may approve or reject a request: in its environment, or in another place that it can
// change and that needs approvals.
func (t teamsAt) mayVote(account int64, r changerequest.Request, places []place) bool {
	return slices.ContainsFunc(places, func(in place) bool {
		return (in == placeOf(r) || t.needed(in) > 0) && t.mayApprove(account, in)
	})
}

// isApproved reports whether a request has the approvals that places need, by people who may approve there.
func (t teamsAt) isApproved(r changerequest.Request, places []place) bool {
	for _, in := range places {
		voters := map[int64]bool{}
		for _, v := range r.Approvals {
			if !v.StruckOut && !slices.Contains(authors(r), v.By.ID) && t.mayApprove(v.By.ID, in) {
				voters[v.By.ID] = true
			}
		}
		if int64(len(voters)) < t.needed(in) {
			return false
		}
	}
	return true
}

// checkChanges checks a request whose changes have changed: whoever did it is an author, and it has no approvals. The world
// remembers what the result of each new change depends on.
func (w *World) checkChanges(old, next changerequest.Request) {
	if reflect.DeepEqual(old.Changes, next.Changes) {
		return
	}
	if len(next.Approvals) > 0 || next.State != changerequest.Draft && next.State != changerequest.InReview {
		w.fail("the request %d is changed, and is %s with the approvals %v", next.ID, next.State, next.Approvals)
	}
	for _, c := range w.engine.changes {
		if by := c.item.Int(eventlog.AttributeCreatedByUserID); c.item.String("subject") == requestSubject(next.ID) && by != 0 &&
			!slices.Contains(next.Authors, by) {
			w.fail("the request %d is changed by the account %d, which is no author of it", next.ID, by)
		}
	}
	since := w.engine.caller.readSince(next.ID)
	for _, c := range next.Changes {
		same := func(other changerequest.Change) bool { return reflect.DeepEqual(other, c) }
		if !slices.ContainsFunc(old.Changes, same) {
			w.requests.bases[changeID{next.ID, c.ID}] = w.basisOf(next, c, since)
		}
	}
}

// checkNumbers compares the stored numbers of requests of projects, and the ids of those that are not closed, with the
// requests.
func (w *World) checkNumbers() {
	stored, recount := map[string]string{}, map[string]string{}
	numbers, open := map[string]map[changerequest.State]int64{}, map[string][]string{}
	for _, item := range w.db.Items(changerequest.Table) {
		if !isRequest(item) {
			continue
		}
		r := w.decodeRequest(item)
		if numbers[r.Project] == nil {
			numbers[r.Project] = map[changerequest.State]int64{}
		}
		numbers[r.Project][r.State]++
		if !r.State.IsFinal() {
			open[r.Project] = append(open[r.Project], fmt.Sprint(r.ID))
		}
		if r.ID > w.requests.highest {
			w.fail("there is a request %d, after the request %d", r.ID, w.requests.highest)
		}
	}
	for _, project := range teamProjects {
		recount[project] = fmt.Sprint(numbers[project], canonical(open[project]))
	}
	for _, item := range w.db.Items(changerequest.Table) {
		for _, project := range teamProjects {
			if item.String("key") != "project:"+project {
				continue
			}
			of := map[changerequest.State]int64{}
			for _, state := range changerequest.States() {
				if n := item.Int("number " + string(state)); n != 0 {
					of[state] = n
				}
			}
			var ids []string
			if set, ok := item["open"].(*types.AttributeValueMemberNS); ok {
				ids = slices.Clone(set.Value)
			}
			stored[project] = fmt.Sprint(of, canonical(ids))
		}
	}
	for _, project := range teamProjects {
		if stored[project] != "" && stored[project] != recount[project] {
			w.fail("the numbers of requests of %s are %s, but there are %s", project, stored[project], recount[project])
		}
		if stored[project] == "" && len(numbers[project]) > 0 {
			w.fail("the project %s has no numbers of requests, but there are %s", project, recount[project])
		}
	}
}

// eventsOfCall returns the events that the call has recorded, apart from that of a request itself.
func (w *World) eventsOfCall(request int64) (own dynamo.Item, others []dynamo.Item) {
	for _, c := range w.engine.changes {
		switch {
		case c.table != eventlog.Table || c.item["type"] == nil:
		case c.item.String("subject") == requestSubject(request):
			own = c.item
		default:
			others = append(others, c.item)
		}
	}
	return own, others
}

// payload returns the payload of a change as an object.
func (w *World) payload(c changerequest.Change) (p object) {
	if len(c.Payload) > 0 && c.Action != changerequest.ReorderStrategy {
		w.must(json.Unmarshal(c.Payload, &p))
	}
	return p
}
