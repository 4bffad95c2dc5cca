package world

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/accesstable"
)

// sweepChangeRequests is the folder of the function that applies scheduled change requests.
const sweepChangeRequests = "sweep-change-requests"

// wrongBy is how wrong the clock of a process that sweeps change requests can be.
const wrongBy = 72 * time.Hour

// failsAfter is how long a scheduled request is tried again, and the interval of the sweeps.
const failsAfter, sweepsEach = 10 * time.Minute, time.Minute

// sweeps reports whether the call is part of a sweep of change requests.
func (c *call) sweeps() bool { return strings.HasPrefix(c.process.name, sweepChangeRequests) }

// sweepRequests applies the change requests that are due at the time of an event, which can be delivered late. Sometimes
// somebody changes what they depend on between the reads and the write. It reports whether nothing is left to the next
// sweep.
func (w *World) sweepRequests(at time.Time) bool {
	begun := time.Now()
	t := &tracked{begun: begun}
	if r := w.random(hashOf(sweepChangeRequests), uint64(begun.UnixNano())); !w.calm && r.IntN(2) == 0 {
		other := &actor{World: w, Rand: r, name: fmt.Sprint("rival of the sweep of ", begun.Sub(w.start))}
		selects := choose(other, (*call).isWrite, (*call).isWrite, isRead("Features", 1))
		t.rival = &rival{selects, func() {
			other.turn(other.name)
			other.disturbDue()
		}}
	}
	event := encode(object{"time": at.UTC().Format(time.RFC3339)})
	_, err := w.invoke(context.WithValue(context.Background(), trackedKey{}, t), sweepChangeRequests, event)
	w.turn(fmt.Sprint(sweepChangeRequests, " of ", begun))
	if err == nil {
		w.checkNothingLeft(begun, at.Truncate(time.Second))
	}
	return err == nil
}

// disturbDue changes a scheduled request, or what it depends on.
func (a *actor) disturbDue() {
	due := slices.DeleteFunc(a.openRequests(), func(r *changerequest.Request) bool { return !isPending(r) })
	if len(due) == 0 || a.IntN(3) == 0 {
		a.disturbRequests()
		return
	}
	r := choose(a, due...)
	if c := choose(a, r.Changes...); c.Feature != "" && a.feature(c.Feature) != nil && a.IntN(2) == 0 {
		a.changeSubject(r, c)
		return
	}
	a.moveOn(r)
}

// later returns a time for which a request is scheduled, often shortly before or after another one for the same place.
func (a *actor) later(r *changerequest.Request) string {
	for _, other := range a.openRequests() {
		if isPending(other) && other.ID != r.ID && placeOf(*other) == placeOf(*r) && a.IntN(2) == 0 {
			at := other.Schedule.At.Add(choose(a, -sweepsEach/4, sweepsEach/4))
			return later(at, time.Now().Add(sweepsEach/4)).UTC().Format(time.RFC3339Nano)
		}
	}
	at := time.Now().Add(within(a.Rand, choose(a, sweepsEach/2, sweepsEach, 12*sweepsEach)))
	if a.IntN(2) == 0 { // several are due at the same time, at which there is a sweep
		at = at.Add(sweepsEach).Truncate(sweepsEach)
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// isPending reports whether a request is to be applied at a time, and no sweep has suspended it.
func isPending(r *changerequest.Request) bool {
	return r != nil && r.State == changerequest.Scheduled && r.Schedule.Status == changerequest.Pending
}

// pendingSince returns since when a request is pending for the time for which it is scheduled now.
func (w *World) pendingSince(id int64) (since time.Time) {
	states := w.requests.states[id]
	last := states[len(states)-1].request
	for _, s := range slices.Backward(states) {
		if !isPending(s.request) || !s.request.Schedule.At.Equal(last.Schedule.At) {
			break
		}
		since = s.from
	}
	return since
}

// pendingBefore returns the requests that are due at a time, and have been pending since before another one, in the order
// in which they are due. A sweep that began at the latter finds them, although its index shows writes late.
func (w *World) pendingBefore(due, begun time.Time) (all []*changerequest.Request) {
	for _, r := range w.openRequests() {
		if isPending(r) && !r.Schedule.At.After(due) && w.pendingSince(r.ID).Before(begun.Add(-maxLag)) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *changerequest.Request) int { return a.Schedule.At.Compare(b.Schedule.At) })
	return all
}

// checkNothingLeft checks that a sweep that says that nothing is left has applied, suspended or failed what is due.
func (w *World) checkNothingLeft(begun, at time.Time) {
	for _, r := range w.pendingBefore(at, begun) {
		w.fail("the request %d is due since %s, and a sweep leaves it", r.ID, r.Schedule.At.Sub(w.start))
	}
}

// checkSwept checks what a sweep writes of a scheduled request: nothing before its time, only what was to be applied, each
// request after those that were due before it, and the reason why it was not applied.
func (w *World) checkSwept(old, next changerequest.Request) {
	s := old.Schedule
	if old.State != changerequest.Scheduled || s.Status != changerequest.Pending && !s.Frozen {
		w.fail("a sweep changes the request %d, which is %s and not to be applied", old.ID, old.State)
		return
	}
	if s.At.After(time.Now()) {
		w.fail("a sweep changes the request %d %s before it is due", old.ID, time.Until(s.At))
	}
	if next.State == changerequest.Applied {
		w.checkSweptInOrder(old)
		w.checkSweptRights(old)
		return
	}
	if next.State != changerequest.Scheduled || !next.Schedule.At.Equal(s.At) {
		w.fail("a sweep makes the request %d %s", next.ID, next.State)
		return
	}
	is := next.Schedule
	switch {
	case is.FailingSince != nil: // it is only marked that applying it fails
		if s.FailingSince != nil && !s.FailingSince.Equal(*is.FailingSince) {
			w.fail("a sweep forgets that the request %d fails since %s", old.ID, s.FailingSince.Sub(w.start))
		}
		if is.Status != s.Status || is.Reason != s.Reason {
			w.fail("a sweep marks that the request %d fails, and changes its schedule: %+v, before %+v", old.ID, is, s)
		}
	case is.Status == changerequest.Failed:
		if is.Reason == "" || strings.Contains(is.Reason, "ten minutes") &&
			(s.FailingSince == nil || time.Since(*s.FailingSince) < failsAfter) {
			w.fail("the request %d fails too early or without a reason: %+v, before %+v", old.ID, is, s)
		}
	case is.Status == changerequest.Suspended:
		w.checkSuspended(old, *is)
	default:
		w.fail("a sweep makes the schedule of the request %d %s", old.ID, is.Status)
	}
}

// checkSweptInOrder checks that no request for the same place was to be applied before another one.
func (w *World) checkSweptInOrder(r changerequest.Request) {
	for _, earlier := range w.pendingBefore(r.Schedule.At, w.engine.caller.begun()) {
		if placeOf(*earlier) == placeOf(r) && earlier.Schedule.At.Before(r.Schedule.At) {
			w.fail("the request %d is applied before the request %d, which was due before it", r.ID, earlier.ID)
		}
	}
}

// checkSweptRights checks that the accounts of the authors are enabled when a sweep applies a request, that who has
// scheduled it may apply it, and that nothing is frozen.
func (w *World) checkSweptRights(r changerequest.Request) {
	places, now := append(w.changedPlaces(), placeOf(r)), w.latest()
	for _, author := range authors(r) {
		if now.isGone(author) {
			w.fail("a sweep applies the request %d, whose author %d is disabled or deleted", r.ID, author)
		}
	}
	for _, in := range places {
		if now.isFrozen(in) {
			w.fail("a sweep applies the request %d while %v is frozen", r.ID, in)
		}
	}
	if by := r.Schedule.By.ID; !slices.ContainsFunc(w.teamsSince(w.engine.caller.readSince(r.ID)),
		func(s teamsAt) bool { return s.mayWhenDue(by, r, places) }) {
		w.fail("a sweep applies the request %d, which the account %d has scheduled that may not apply it", r.ID, by)
	}
}

// mayWhenDue reports whether an account that has scheduled a request still may apply it.
func (t teamsAt) mayWhenDue(account int64, r changerequest.Request, places []place) bool {
	return account == 0 || !t.isGone(account) && t.mayApply(account, r, places)
}

// isGone reports whether an account is disabled or deleted.
func (t teamsAt) isGone(account int64) bool {
	stored, exists := t.accounts[account]
	return !exists || stored.Disabled
}

// checkSuspended checks that the reason why a sweep suspends a request was one at some time after it was read.
func (w *World) checkSuspended(r changerequest.Request, s changerequest.Schedule) {
	places := w.placesOf(r)
	if slices.ContainsFunc(w.teamsSince(w.engine.caller.readSince(r.ID)), func(t teamsAt) bool {
		frozen := slices.ContainsFunc(places, t.isFrozen)
		switch {
		case s.Frozen:
			return frozen
		case strings.HasPrefix(s.Reason, "It needs"):
			return !t.isApproved(r, places)
		case strings.HasPrefix(s.Reason, "The account of an author"):
			return slices.ContainsFunc(authors(r), t.isGone)
		case strings.HasPrefix(s.Reason, "The one who scheduled it"):
			return !t.mayWhenDue(r.Schedule.By.ID, r, places) || !t.mayWhenDue(r.Schedule.By.ID, r, []place{placeOf(r)})
		default:
			return strings.HasPrefix(s.Reason, "It has conflicts")
		}
	}) {
		return
	}
	w.fail("a sweep suspends the request %d without a reason: %s", r.ID, s.Reason)
}

// sweepRequestsAtEnd sweeps change requests until nothing is due any more, although DynamoDB is unavailable to the sweeps
// for some minutes. Freezes do not end meanwhile.
func (w *World) sweepRequestsAtEnd() {
	if len(w.requests.toggles) == 0 {
		return
	}
	if w.has(unavailable) {
		w.scheduleAll()
	}
	due, works := time.Now(), time.Now()
	for _, r := range w.openRequests() {
		if isPending(r) {
			due = later(due, r.Schedule.At)
		}
	}
	until := due.Add(2 * sweepsEach)
	if w.has(unavailable) && due.After(works) {
		works = due.Add(failsAfter/2 + w.upTo(2*failsAfter, 22))
		until = works.Add(2 * sweepsEach)
		w.engine.unavailable = accesstable.Table
	}
	for time.Now().Before(until) && !w.over {
		w.sleep(sweepChangeRequests, time.Until(time.Now().Add(sweepsEach).Truncate(sweepsEach)))
		if !time.Now().Before(works) {
			w.engine.unavailable = ""
		}
		swept := w.sweepRequests(time.Now())
		switch {
		case w.engine.unavailable != "":
			w.checkFailing()
		case !swept && !w.over:
			w.fail("the last sweeps of change requests leave something")
		}
	}
}

// scheduleAll schedules the requests that are approved.
func (w *World) scheduleAll() {
	const name = "last author"
	last := &actor{World: w, Rand: w.random(hashOf(name)), name: name}
	for _, r := range w.openRequests() {
		if r.State == changerequest.Approved {
			last.applyRequest(last.admin, r, object{"state": changerequest.Scheduled, "scheduledAt": last.later(r)})
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// checkFailing checks that no request is tried longer than it may be while DynamoDB is unavailable.
func (w *World) checkFailing() {
	for _, r := range w.openRequests() {
		if isPending(r) && r.Schedule.FailingSince != nil && time.Since(*r.Schedule.FailingSince) > failsAfter+sweepsEach {
			w.fail("the request %d cannot be applied since %s, and has not failed", r.ID, r.Schedule.FailingSince.Sub(w.start))
		}
	}
	first := map[place]bool{}
	for _, r := range w.pendingBefore(time.Now().Add(-sweepsEach), time.Now().Add(-sweepsEach)) {
		if r.Schedule.FailingSince == nil && !first[placeOf(*r)] {
			w.fail("the request %d cannot be applied, and this is not marked", r.ID)
		}
		first[placeOf(*r)] = true
	}
}

// appliedBySweep remembers the deletions of segments by a request that a sweep applies.
func (w *World) appliedBySweep(r changerequest.Request) {
	for _, c := range r.Changes {
		if c.Action == changerequest.DeleteSegment {
			deletion := observed()
			deletion.status = success["segment"]
			w.edit(deletion, "segment", fmt.Sprint(c.Segment), "delete", edit{})
		}
	}
}
