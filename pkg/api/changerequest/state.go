package changerequest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
)

// maxAhead is how many years after now a request can be scheduled.
const maxAhead = 1

// Asked is the change of the state of a request that a caller asks for.
type Asked struct {
	State       State
	ScheduledAt time.Time // of the state Scheduled; otherwise it is zero
	SentAt      string    // ScheduledAt as it was sent, for errors
}

// Caller is who asks, and what they may do now.
type Caller struct {
	Person   Person
	IsAdmin  bool
	Approves []protection.Place // in which of the places that the request changes the caller may approve
	// Applies: the caller may apply the request. If it needs approvals, this is APPLY_CHANGE_REQUEST in its environment,
	// otherwise the permissions of the direct operations.
	Applies bool
}

// Circumstances are what a change of the state depends on besides the request and the caller.
type Circumstances struct {
	Now       time.Time
	Needed    map[protection.Place]int64   // the approvals that each place needs today; missing: none
	Approvers map[int64][]protection.Place // where each account that has approved may approve today
	Conflicts []string                     // sentences: why applying would have another result than the approvers saw

	// Of a scheduled request whose time has come.
	AuthorGone bool   // the account of an author is disabled or deleted
	Frozen     string // a sentence: which environment is frozen; "": none
}

// Become returns the request after a change of its state. The kind of its error is NoAccess if the caller may not ask for
// it, Validation for a time that is not possible, and Conflict if the request cannot have the state. If it cannot be
// applied because somebody who approved it may approve no more, the returned request is in review, and is to be stored.
func (r Request) Become(asked Asked, by Caller, c Circumstances) (Request, error) {
	switch asked.State {
	case InReview:
		return r.send(by, c)
	case Approved:
		if r.State == Scheduled {
			return r.unschedule(by, c)
		}
		return r.approve(by, c)
	case Rejected:
		return r.reject(by, c)
	case Applied, Scheduled:
		return r.apply(asked, by, c)
	case Canceled:
		return r.cancel(by, c)
	case Draft:
	}
	return r, r.cannotBecome(asked.State)
}

func (r Request) cannotBecome(s State) error {
	return apierror.Errorf(apierror.Conflict, "The change request %d has the state %q and cannot become %q.", r.ID, r.State, s)
}

// checkAuthor returns an error unless the caller is an author of the request or an Admin.
func (r Request) checkAuthor(by Caller) error {
	if by.IsAdmin || r.IsAuthor(by.Person.ID) {
		return nil
	}
	return apierror.Errorf(apierror.NoAccess, "Only an author of the change request %d, or an Admin, may do this.", r.ID)
}

// checkApprover returns an error unless the caller may approve or reject the request.
func (r Request) checkApprover(by Caller, c Circumstances) error {
	if r.IsAuthor(by.Person.ID) {
		return apierror.Errorf(apierror.NoAccess,
			"You are an author of the change request %d. Another person approves or rejects it.", r.ID)
	}
	counts := func(p protection.Place) bool { return c.Needed[p] > 0 || len(c.Needed) == 0 && p == r.Place() }
	if by.Person.ID == 0 || !slices.ContainsFunc(by.Approves, counts) {
		return apierror.Errorf(apierror.NoAccess, "You need the %q permission in %s to approve or reject the change request %d.",
			access.ApproveChangeRequest, named(r.Place()), r.ID)
	}
	return nil
}

// named returns the name of a place for people.
func named(p protection.Place) string {
	return fmt.Sprintf("the environment %q of the project %q", p.Environment, p.Project)
}

// named returns a place in words. People who see the request need not see another project.
func (r Request) named(p protection.Place) string {
	if p.Project == r.Project {
		return named(p)
	}
	return fmt.Sprintf("the environment %q of another project", p.Environment)
}

func (r Request) send(by Caller, c Circumstances) (Request, error) {
	if err := r.checkAuthor(by); err != nil {
		return r, err
	}
	switch {
	case r.State != Draft:
		return r, r.cannotBecome(InReview)
	case len(r.Changes) == 0:
		return r, apierror.Errorf(apierror.Conflict, "The change request %d has no changes.", r.ID)
	case len(c.Needed) == 0:
		return r.reach(Approved, c.Now), nil
	}
	return r.reach(InReview, c.Now), nil
}

func (r Request) approve(by Caller, c Circumstances) (Request, error) {
	if err := r.checkApprover(by, c); err != nil {
		return r, err
	}
	if r.State != InReview && r.State != Approved {
		return r, r.cannotBecome(Approved)
	}
	var others []Vote
	for _, v := range r.Approvals {
		switch {
		case v.By.ID != by.Person.ID:
			others = append(others, v)
		case !v.StruckOut:
			return r, apierror.Errorf(apierror.Conflict, "You have already approved the change request %d.", r.ID)
		}
	}
	r.Approvals = append(others, Vote{By: by.Person, At: c.Now})
	approvers := maps.Clone(c.Approvers)
	if approvers == nil {
		approvers = map[int64][]protection.Place{}
	}
	approvers[by.Person.ID] = by.Approves
	c.Approvers = approvers
	if r.State == InReview && len(r.missing(c)) == 0 {
		r = r.reach(Approved, c.Now)
	}
	return r, nil
}

func (r Request) reject(by Caller, c Circumstances) (Request, error) {
	if err := r.checkApprover(by, c); err != nil {
		return r, err
	}
	if r.State == Draft || r.State.IsFinal() {
		return r, r.cannotBecome(Rejected)
	}
	r.Rejections = append(slices.Clone(r.Rejections), Vote{By: by.Person, At: c.Now})
	return r.reach(Rejected, c.Now), nil
}

func (r Request) cancel(by Caller, c Circumstances) (Request, error) {
	if err := r.checkAuthor(by); err != nil {
		return r, err
	}
	if r.State.IsFinal() {
		return r, r.cannotBecome(Canceled)
	}
	return r.reach(Canceled, c.Now), nil
}

// unschedule ends the schedule of a request.
func (r Request) unschedule(by Caller, c Circumstances) (Request, error) {
	if err := r.checkAuthor(by); err != nil && !by.Applies {
		return r, err
	}
	return r.reach(Approved, c.Now), nil
}

// apply returns the request as applied or scheduled. One in review is applied if it needs no more approvals: fewer can be
// required than when it was sent.
func (r Request) apply(asked Asked, by Caller, c Circumstances) (Request, error) {
	switch {
	case !by.Applies && len(c.Needed) == 0:
		return r, apierror.Errorf(apierror.NoAccess,
			"You need the permissions of its operations to apply the change request %d, which needs no approvals.", r.ID)
	case !by.Applies:
		return r, apierror.Errorf(apierror.NoAccess, "You need the %q permission in %s to apply the change request %d.",
			access.ApplyChangeRequest, named(r.Place()), r.ID)
	case r.State == Draft || r.State.IsFinal():
		return r, r.cannotBecome(asked.State)
	}
	if asked.State == Scheduled {
		if err := checkTime(asked, c.Now); err != nil {
			return r, err
		}
		if s := r.Schedule; s != nil && s.Status == Pending && s.At.Equal(asked.ScheduledAt) {
			return r, apierror.Errorf(apierror.Conflict, "The change request %d is scheduled for this time already.", r.ID)
		}
	}
	if missing := r.missing(c); len(missing) > 0 {
		return r.withdraw(c), apierror.Errorf(apierror.Conflict, "The change request %d needs %s.", r.ID,
			strings.Join(missing, ", and "))
	}
	if len(c.Conflicts) > 0 {
		return r, apierror.New(apierror.Conflict, fmt.Sprintf("The change request %d has conflicts: %s Change the request or "+
			"make a new one.", r.ID, strings.Join(c.Conflicts, " ")))
	}
	r = r.reach(asked.State, c.Now)
	if asked.State == Scheduled {
		r.Schedule = &Schedule{At: asked.ScheduledAt, By: by.Person, Status: Pending}
	}
	return r, nil
}

// isDue reports whether the time of a scheduled request has come.
func (r Request) isDue(now time.Time) bool {
	return r.State == Scheduled && r.Schedule.isWaiting() && !r.Schedule.At.After(now)
}

// WhenDue returns a scheduled request after its time has come: applied, or suspended with the reason not to apply it. by is
// who has scheduled it, with what they may do now.
func (r Request) WhenDue(by Caller, c Circumstances) Request {
	missing := r.missing(c)
	switch {
	case c.Frozen != "":
		return r.suspend(c.Frozen, true)
	case c.AuthorGone:
		return r.suspend("The account of an author is disabled or deleted.", false)
	case !by.Applies && len(c.Needed) == 0:
		return r.suspend("The one who scheduled it has no longer the permissions of its operations.", false)
	case !by.Applies:
		return r.suspend("The one who scheduled it may no longer apply it.", false)
	case len(missing) > 0:
		return r.suspend(fmt.Sprintf("It needs %s.", strings.Join(missing, ", and ")), false)
	case len(c.Conflicts) > 0:
		return r.suspend("It has conflicts: "+strings.Join(c.Conflicts, " "), false)
	}
	return r.reach(Applied, c.Now)
}

// suspend returns a scheduled request that is not applied for a reason. frozen means that the reason is a freeze.
func (r Request) suspend(reason string, frozen bool) Request {
	s := *r.Schedule
	s.Status, s.Reason, s.Frozen, s.FailingSince = Suspended, reason, frozen, nil
	r.Schedule = &s
	return r
}

// fail returns a scheduled request that could not be applied for a reason.
func (r Request) fail(reason string) Request {
	r = r.suspend(reason, false)
	r.Schedule.Status = Failed
	return r
}

// checkTime returns an error unless a request can be scheduled for the time that was asked for.
func checkTime(asked Asked, now time.Time) error {
	at := asked.ScheduledAt
	switch {
	case at.IsZero():
		return apierror.Invalid(apierror.Missing("/body/scheduledAt"))
	case !at.After(now):
		return apierror.Invalid(apierror.At("/body/scheduledAt", "must be in the future").Sent(asked.SentAt))
	case at.After(now.AddDate(maxAhead, 0, 0)):
		return apierror.Invalid(apierror.At("/body/scheduledAt", "must be at most a year after now").Sent(asked.SentAt))
	}
	return nil
}

// counted returns the accounts whose approvals make up those that are needed.
func (r Request) counted(c Circumstances) (ids []int64) {
	for _, place := range slices.SortedFunc(maps.Keys(c.Needed), comparePlaces) {
		n := c.Needed[place]
		for _, v := range r.Approvals {
			if n > 0 && !v.StruckOut && slices.Contains(c.Approvers[v.By.ID], place) {
				ids = append(ids, v.By.ID)
				n--
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// missing returns the approvals that a request needs today besides those that it has, as phrases.
func (r Request) missing(c Circumstances) (phrases []string) {
	for _, place := range slices.SortedFunc(maps.Keys(c.Needed), comparePlaces) {
		n := c.Needed[place]
		for _, v := range r.Approvals {
			if !v.StruckOut && slices.Contains(c.Approvers[v.By.ID], place) {
				n--
			}
		}
		switch {
		case n == 1:
			phrases = append(phrases, "1 more approval in "+r.named(place))
		case n > 1:
			phrases = append(phrases, fmt.Sprintf("%d more approvals in %s", n, r.named(place)))
		}
	}
	return phrases
}

func comparePlaces(a, b protection.Place) int {
	return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Environment, b.Environment))
}

// withdraw strikes out the approvals of people who may approve in none of the places that need approvals any more. If
// there are any, the request is in review again.
func (r Request) withdraw(c Circumstances) Request {
	approvals := slices.Clone(r.Approvals)
	gone := false
	for i, v := range approvals {
		if !v.StruckOut && len(c.Approvers[v.By.ID]) == 0 {
			approvals[i].StruckOut, gone = true, true
		}
	}
	if !gone {
		return r
	}
	r.Approvals = approvals
	return r.reach(InReview, c.Now)
}

// checkOpen returns an error if the request is closed.
func (r Request) checkOpen() error {
	if !r.State.IsFinal() {
		return nil
	}
	return apierror.Errorf(apierror.Conflict, "The change request %d has the state %q and cannot be changed.", r.ID, r.State)
}

// Changed returns the request after a person has added, edited or deleted a change: it loses its approvals and its
// schedule. The kind of its error is NoAccess or Conflict.
func (r Request) Changed(changes []Change, by Caller, now time.Time) (Request, error) {
	if err := r.checkAuthor(by); err != nil {
		return r, err
	}
	if err := r.checkOpen(); err != nil {
		return r, err
	}
	if r.State != Draft && len(changes) == 0 {
		return r, apierror.Errorf(apierror.Conflict,
			"The change request %d would have no changes. Cancel it instead.", r.ID)
	}
	r.Changes = changes
	r.Approvals = nil
	if account := by.Person.ID; account != 0 && !slices.Contains(r.Authors, account) {
		r.Authors = append(slices.Clone(r.Authors), account)
	}
	if r.State == Approved || r.State == Scheduled {
		r = r.reach(InReview, now)
	}
	return r, nil
}
