package changerequest_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

// The people of the tests.
const (
	author = 1 + iota
	stranger
	approver
	approved // has approved what is approved
	admin
	editor // has added a change to the request of the author
)

var (
	now        = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	later      = now.Add(time.Hour)
	production = protection.Place{Project: "payments", Environment: "production"}
	elsewhere  = protection.Place{Project: "shop", Environment: "production"}
)

func person(id int64) changerequest.Person { return changerequest.Person{ID: id} }

// request returns a request with one change that needs an approval, and has it in the states in which it must have it.
func request(s changerequest.State) changerequest.Request {
	r := changerequest.Request{
		ID:          7,
		Project:     production.Project,
		Environment: production.Environment,
		State:       s,
		Changes:     []changerequest.Change{{ID: 1, Action: changerequest.ArchiveFeature, Feature: "f"}},
		CreatedBy:   person(author),
		Authors:     []int64{author, editor},
	}
	if s == changerequest.Scheduled {
		r.Schedule = &changerequest.Schedule{At: later.Add(time.Minute), By: person(approver), Status: changerequest.Pending}
	}
	if s == changerequest.Approved || s == changerequest.Scheduled || s == changerequest.Applied {
		r.Approvals = []changerequest.Vote{{By: person(approved), At: now}}
	}
	return r
}

// needs returns the circumstances in which a request needs n approvals in production.
func needs(n int64) changerequest.Circumstances {
	c := changerequest.Circumstances{Now: now, Approvers: map[int64][]protection.Place{approved: {production, elsewhere}}}
	if n > 0 {
		c.Needed = map[protection.Place]int64{production: n}
	}
	return c
}

func asked(s changerequest.State) changerequest.Asked {
	a := changerequest.Asked{State: s}
	if s == changerequest.Scheduled {
		a.ScheduledAt = later
	}
	return a
}

var letters = map[changerequest.State]string{
	changerequest.Draft: "D", changerequest.InReview: "R", changerequest.Approved: "A", changerequest.Scheduled: "S",
	changerequest.Applied: "X", changerequest.Rejected: "J", changerequest.Canceled: "C",
}

// became returns the letter of the state of a request, or the digit of an error: 0 for a 400, 3 for a 403, 9 for a 409.
func became(r changerequest.Request, err error) string {
	if err != nil {
		kinds := map[apierror.Kind]string{apierror.NoAccess: "3", apierror.Conflict: "9", apierror.Validation: "0"}
		return kinds[apierror.KindOf(err)]
	}
	return letters[r.State]
}

// What each caller gets who asks for each state of a request with each state: a word for each state that is asked for, with
// a letter for the state that a request with each state then has, 3 for a 403 and 9 for a 409.
func TestEveryChangeOfState(t *testing.T) {
	t.Parallel()
	approves := []protection.Place{production}
	for _, test := range []struct {
		name   string
		caller changerequest.Caller
		want   string
	}{
		{
			"the author", changerequest.Caller{Person: person(author)},
			"D:9999999 R:R999999 A:333A333 S:3333333 X:3333333 J:3333333 C:CCCC999",
		},
		{"the author, who may do everything else", changerequest.Caller{
			Person: person(author), IsAdmin: true, Approves: approves, Applies: true,
		}, "D:9999999 R:R999999 A:333A333 S:99SS999 X:99XX999 J:3333333 C:CCCC999"},
		{"an approver who has added a change", changerequest.Caller{
			Person: person(editor), Approves: approves, Applies: true,
		}, "D:9999999 R:R999999 A:333A333 S:99SS999 X:99XX999 J:3333333 C:CCCC999"},
		{
			"an approver", changerequest.Caller{Person: person(approver), Approves: approves},
			"D:9999999 R:3333333 A:9AA3999 S:3333333 X:3333333 J:9JJJ999 C:3333333",
		},
		{
			"who has approved it", changerequest.Caller{Person: person(approved), Approves: approves, Applies: true},
			"D:9999999 R:3333333 A:9A9A999 S:99SS999 X:99XX999 J:9JJJ999 C:3333333",
		},
		{"who approves in a place that needs none", changerequest.Caller{
			Person: person(approver), Approves: []protection.Place{elsewhere},
		}, "D:9999999 R:3333333 A:3333333 S:3333333 X:3333333 J:3333333 C:3333333"},
		{
			"who applies", changerequest.Caller{Person: person(stranger), Applies: true},
			"D:9999999 R:3333333 A:333A333 S:99SS999 X:99XX999 J:3333333 C:3333333",
		},
		{
			"an Admin", changerequest.Caller{Person: person(admin), IsAdmin: true, Approves: approves, Applies: true},
			"D:9999999 R:R999999 A:9AAA999 S:99SS999 X:99XX999 J:9JJJ999 C:CCCC999",
		},
		{
			"an API token", changerequest.Caller{IsAdmin: true, Approves: approves, Applies: true},
			"D:9999999 R:R999999 A:333A333 S:99SS999 X:99XX999 J:3333333 C:CCCC999",
		},
		{
			"anybody else", changerequest.Caller{Person: person(stranger)},
			"D:9999999 R:3333333 A:3333333 S:3333333 X:3333333 J:3333333 C:3333333",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			states := changerequest.States()
			var got []string
			for _, a := range states {
				row := letters[a] + ":"
				for _, s := range states {
					row += became(request(s).Become(asked(a), test.caller, needs(1)))
				}
				got = append(got, row)
			}
			assert.Equal(t, strings.Fields(test.want), got)
		})
	}
}

// A request is approved when each place has its approvals, by people who may approve there now.
func TestApprovalsOfEachPlace(t *testing.T) {
	t.Parallel()
	c := needs(2)
	c.Needed[elsewhere] = 1
	approve := func(r changerequest.Request, id int64, places ...protection.Place) changerequest.Request {
		t.Helper()
		r, err := r.Become(asked(changerequest.Approved), changerequest.Caller{Person: person(id), Approves: places}, c)
		assert.OK(t, err)
		c.Approvers[id] = places
		return r
	}
	r := approve(request(changerequest.InReview), 11, production)
	r = approve(r, 12, production, elsewhere)
	assert.Equal(t, "A", letters[r.State])
	assert.Equal(t, now, r.Reached[changerequest.Approved])

	c.Approvers = nil
	r = approveAll(t, &c, 11, 12, 13)
	assert.Equal(t, "R", letters[r.State])
	apply := func() string {
		_, err := r.Become(asked(changerequest.Applied), changerequest.Caller{Applies: true}, c)
		return apierror.From(err).Message
	}
	assert.Equal(t, `The change request 7 needs 1 more approval in the environment "production" of another project.`, apply())
	c.Needed = map[protection.Place]int64{production: 5, elsewhere: 1} // today's numbers count
	assert.Equal(t, `The change request 7 needs 2 more approvals in the environment "production" of the project "payments", `+
		`and 1 more approval in the environment "production" of another project.`, apply())
	c.Needed = map[protection.Place]int64{production: 3}
	r, err := r.Become(asked(changerequest.Applied), changerequest.Caller{Applies: true}, c)
	assert.Equal(t, "X", became(r, err))
}

// approveAll returns a request in review that accounts have approved who may approve in production.
func approveAll(t *testing.T, c *changerequest.Circumstances, ids ...int64) changerequest.Request {
	t.Helper()
	r := request(changerequest.InReview)
	c.Approvers = map[int64][]protection.Place{}
	for _, id := range ids {
		places := []protection.Place{production}
		var err error
		r, err = r.Become(asked(changerequest.Approved), changerequest.Caller{Person: person(id), Approves: places}, *c)
		assert.OK(t, err)
		c.Approvers[id] = places
	}
	return r
}

// When somebody who has approved may approve no more, the request is in review again, and can be approved again.
func TestApprovalStruckOut(t *testing.T) {
	t.Parallel()
	applier := changerequest.Caller{Person: person(stranger), Applies: true}
	for _, s := range []changerequest.State{changerequest.Approved, changerequest.Scheduled} {
		c := needs(1)
		c.Approvers = nil
		r, err := request(s).Become(asked(changerequest.Applied), applier, c)
		assert.Equal(t, "9", became(r, err))
		assert.Equal(t, "R", letters[r.State])
		assert.Equal(t, true, r.Schedule == nil)
		assert.Equal(t, []changerequest.Vote{{By: person(approved), At: now, StruckOut: true}}, r.Approvals)

		c.Approvers = needs(1).Approvers // the person may approve again, but the approval does not count
		assert.Equal(t, "9", became(r.Become(asked(changerequest.Applied), applier, c)))
		r, err = r.Become(asked(changerequest.Approved),
			changerequest.Caller{Person: person(approved), Approves: []protection.Place{production}}, c)
		assert.Equal(t, "A", became(r, err))
		assert.Equal(t, []changerequest.Vote{{By: person(approved), At: now}}, r.Approvals)
	}
	// A person who still counts somewhere keeps the approval.
	c := needs(2)
	c.Approvers = map[int64][]protection.Place{approved: {elsewhere}}
	r, err := request(changerequest.Approved).Become(asked(changerequest.Applied), applier, c)
	assert.Equal(t, "9", became(r, err))
	assert.Equal(t, request(changerequest.Approved), r)
}

// A request that needs no approvals is approved when it is sent, and applied with the permissions of its operations.
func TestNoApprovalsNeeded(t *testing.T) {
	t.Parallel()
	anybody := changerequest.Caller{Person: person(author)}
	assert.Equal(t, "A", became(request(changerequest.Draft).Become(asked(changerequest.InReview), anybody, needs(0))))
	assert.Equal(t, "3", became(request(changerequest.Approved).Become(asked(changerequest.Applied), anybody, needs(0))))
	may := changerequest.Caller{Person: person(author), Applies: true}
	assert.Equal(t, "X", became(request(changerequest.Approved).Become(asked(changerequest.Applied), may, needs(0))))
	// It was sent while approvals were needed.
	assert.Equal(t, "X", became(request(changerequest.InReview).Become(asked(changerequest.Applied), may, needs(0))))
	assert.Equal(t, "S", became(request(changerequest.InReview).Become(asked(changerequest.Scheduled), may, needs(0))))
	assert.Equal(t, "3", became(request(changerequest.InReview).Become(asked(changerequest.Approved), may, needs(0))))
	// Somebody who may approve in its environment may reject it.
	rejecter := changerequest.Caller{Person: person(approver), Approves: []protection.Place{production}}
	assert.Equal(t, "J", became(request(changerequest.Approved).Become(asked(changerequest.Rejected), rejecter, needs(0))))
}

// A request without changes is not sent.
func TestSendWithoutChanges(t *testing.T) {
	t.Parallel()
	r := request(changerequest.Draft)
	r.Changes = nil
	_, err := r.Become(asked(changerequest.InReview), changerequest.Caller{Person: person(author)}, needs(1))
	assert.Equal(t, "The change request 7 has no changes.", apierror.From(err).Message)
}

// The time of a schedule is in the future, at most a year.
func TestScheduleTime(t *testing.T) {
	t.Parallel()
	may := changerequest.Caller{Person: person(stranger), Applies: true}
	schedule := func(r changerequest.Request, at time.Time) (changerequest.Request, error) {
		return r.Become(changerequest.Asked{State: changerequest.Scheduled, ScheduledAt: at}, may, needs(1))
	}
	for _, test := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, "0"},
		{now, "0"},
		{now.Add(time.Millisecond), "S"},
		{now.AddDate(1, 0, 0), "S"},
		{now.AddDate(1, 0, 0).Add(time.Millisecond), "0"},
	} {
		assert.Equal(t, test.want, became(schedule(request(changerequest.Approved), test.at)))
	}
	r, err := schedule(request(changerequest.Scheduled), later)
	assert.OK(t, err)
	assert.Equal(t, changerequest.Schedule{At: later, By: person(stranger), Status: changerequest.Pending}, *r.Schedule)
	assert.Equal(t, "9", became(schedule(r, later)))
	r.Schedule.Status = changerequest.Suspended
	assert.Equal(t, "S", became(schedule(r, later)))
	r, err = r.Become(asked(changerequest.Applied), may, needs(1))
	assert.OK(t, err)
	assert.Equal(t, true, r.Schedule == nil)
}

// A request with conflicts is neither applied nor scheduled.
func TestConflictsPreventApplying(t *testing.T) {
	t.Parallel()
	c := needs(1)
	c.Conflicts = []string{`The toggle "f" is archived.`, "The strategy s1 was edited."}
	may := changerequest.Caller{Person: person(stranger), Applies: true, Approves: []protection.Place{production}}
	for _, s := range []changerequest.State{changerequest.Applied, changerequest.Scheduled} {
		r, err := request(changerequest.Approved).Become(asked(s), may, c)
		assert.Equal(t, "9", became(r, err))
		assert.Equal(t, `The change request 7 has conflicts: The toggle "f" is archived. The strategy s1 was edited. `+
			"Change the request or make a new one.", apierror.From(err).Message)
	}
	assert.Equal(t, "A", became(request(changerequest.InReview).Become(asked(changerequest.Approved), may, c)))
}

// A changed request loses its approvals and its schedule, and whoever changed it is an author.
func TestChanged(t *testing.T) {
	t.Parallel()
	changes := append(request(changerequest.Draft).Changes, changerequest.Change{ID: 2, Action: changerequest.DeleteDependency})
	got := ""
	for _, s := range changerequest.States() {
		r, err := request(s).Changed(changes, changerequest.Caller{Person: person(admin), IsAdmin: true}, now)
		if got += became(r, err); err != nil {
			continue
		}
		assert.Equal(t, 0, len(r.Approvals))
		assert.Equal(t, true, r.Schedule == nil)
		assert.Equal(t, changes, r.Changes)
		assert.Equal(t, []int64{author, editor, admin}, r.Authors)
	}
	assert.Equal(t, "DRRR999", got)
	by := changerequest.Caller{Person: person(stranger), Approves: []protection.Place{production}, Applies: true}
	assert.Equal(t, "3", became(request(changerequest.Draft).Changed(changes, by, now)))
	by.Person = person(editor)
	assert.Equal(t, "D", became(request(changerequest.Draft).Changed(nil, by, now)))
	assert.Equal(t, "9", became(request(changerequest.InReview).Changed(nil, by, now)))
}

// Each reason not to apply a request at its time suspends it.
func TestWhenDue(t *testing.T) {
	t.Parallel()
	may := changerequest.Caller{Person: person(approver), Applies: true}
	conflict := needs(1)
	conflict.Conflicts = []string{"A.", "B."}
	gone := needs(1)
	gone.AuthorGone = true
	frozen := conflict
	frozen.Frozen = "It is frozen."
	for _, test := range []struct {
		by     changerequest.Caller
		c      changerequest.Circumstances
		want   string
		frozen bool
	}{
		{may, needs(1), "", false},
		{may, needs(0), "", false},
		{may, needs(2), `It needs 1 more approval in the environment "production" of the project "payments".`, false},
		{may, conflict, "It has conflicts: A. B.", false},
		{may, gone, "The account of an author is disabled or deleted.", false},
		{may, frozen, "It is frozen.", true},
		{changerequest.Caller{}, needs(1), "The one who scheduled it may no longer apply it.", false},
		{changerequest.Caller{}, needs(0), "The one who scheduled it has no longer the permissions of its operations.", false},
	} {
		old := request(changerequest.Scheduled)
		r := old.WhenDue(test.by, test.c)
		if test.want == "" {
			assert.Equal(t, "X", letters[r.State])
			assert.Equal(t, now, r.Reached[changerequest.Applied])
			continue
		}
		want := *old.Schedule
		want.Status, want.Reason, want.Frozen = changerequest.Suspended, test.want, test.frozen
		assert.Equal(t, want, *r.Schedule)
		assert.Equal(t, changerequest.Pending, old.Schedule.Status)
	}
}
