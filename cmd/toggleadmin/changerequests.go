package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/operator/exitstatus"
)

type changeRequestsCmd struct {
	apiOptions

	List     listChangeRequestsCmd    `cmd:"" help:"List the change requests that are not closed, newest first."`
	Show     showChangeRequestCmd     `cmd:"" help:"Print a change request with its changes and conflicts."`
	Approve  approveChangeRequestCmd  `cmd:"" help:"Approve a change request as an account that may do so."`
	Reject   rejectChangeRequestCmd   `cmd:"" help:"Reject a change request as an account that may approve it."`
	Apply    applyChangeRequestCmd    `cmd:"" help:"Make the changes of a change request that has its approvals."`
	Schedule scheduleChangeRequestCmd `cmd:"" help:"Have a change request applied at a time."`
	Cancel   cancelChangeRequestCmd   `cmd:"" help:"Cancel a change request."`
}

type (
	listChangeRequestsCmd struct {
		Project string `placeholder:"ID" help:"Only those of this project."`
		Closed  bool   `help:"Also those that are applied, rejected or canceled."`
		Limit   int    `default:"50" placeholder:"N" help:"Maximum number of change requests (default 50)."`
	}
	showChangeRequestCmd    struct{ requestID }
	approveChangeRequestCmd struct {
		requestID
		asAccount
		withComment
	}
	rejectChangeRequestCmd struct {
		requestID
		asAccount
		withComment
	}
	applyChangeRequestCmd struct {
		requestID
		asOperator
		withComment
	}
	scheduleChangeRequestCmd struct {
		requestID
		asAccount
		withComment

		At *moment  `required:"" placeholder:"TIME" xor:"time" help:"When it is applied, such as 2027-01-31T09:00:00Z, at most a year from now."`
		In lifetime `required:"" placeholder:"TIME" xor:"time" help:"After what time it is applied, such as 2h or 3d."`
	}
	cancelChangeRequestCmd struct {
		requestID
		asOperator
		withComment
	}
	requestID struct {
		ID id `arg:"" help:"ID of the change request."`
	}
	asAccount struct {
		Account id `placeholder:"ID" help:"Person or service account whose rights count, and whose name the change request has. Required, except with --url: that of the token."`
	}
	asOperator struct {
		Account id `placeholder:"ID" help:"Person or service account whose rights count. Default: the operator, who has all rights but no approval, or with --url the account of the token."`
	}
	withComment struct {
		Comment string `placeholder:"TEXT" help:"Comment on the change request."`
	}
)

// Validate is called by kong.
func (c *listChangeRequestsCmd) Validate() error {
	if c.Limit < 1 {
		return fmt.Errorf("--limit: %d is not a positive number", c.Limit)
	}
	return nil
}

func (c *listChangeRequestsCmd) Run(s *session, o manager) error {
	requests, err := o.ChangeRequests(s.step(), c.Project, c.Closed, c.Limit)
	if err != nil {
		return err
	}
	type request = changerequest.Found
	return printList(s, requests, []column[request]{
		{name: "ID", cell: func(r request) string { return strconv.FormatInt(r.ID, 10) }},
		{name: "TITLE", cell: func(r request) string { return r.Title }, cut: cutLast},
		{name: "PROJECT", cell: func(r request) string { return r.Project }, cut: cutLast, isName: true},
		{name: "ENVIRONMENT", cell: func(r request) string { return r.Environment }, cut: cutLast, isName: true},
		{name: "STATE", cell: func(r request) string { return s.requestState(r.State, r.Schedule) }},
		{name: "TOGGLES", cell: func(r request) string { return strings.Join(r.Features, ", ") }, cut: cutFirst},
		{name: "AUTHOR", cell: func(r request) string { return r.CreatedBy.Username }, cut: cutFirst, isName: true},
		{name: "CREATED", cell: func(r request) string { return s.relative(&r.CreatedAt) }},
	})
}

// requestState returns the state of a change request, with what becomes of a scheduled one.
func (s *session) requestState(state changerequest.State, schedule *changerequest.ShownSchedule) string {
	if schedule == nil {
		return string(state)
	}
	if schedule.Status == changerequest.Pending {
		return "Scheduled " + s.relative(&schedule.ScheduledAt)
	}
	return "Scheduled, " + string(schedule.Status)
}

func (c *showChangeRequestCmd) Run(s *session, o manager) error {
	r, err := o.ChangeRequest(s.step(), int64(c.ID))
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, r)
	}
	properties := [][2]string{
		{"ID", strconv.FormatInt(r.ID, 10)},
		{"Title", r.Title},
		{"Project", r.Project},
		{"Environment", r.Environment},
		{"State", string(r.State)},
	}
	if r.Schedule != nil {
		properties = append(properties,
			[2]string{"Scheduled for", localTime(&r.Schedule.ScheduledAt)},
			[2]string{"Schedule", strings.TrimSuffix(string(r.Schedule.Status)+": "+r.Schedule.Reason, ": ")})
	}
	var needed, approvers []string
	for _, place := range r.Environments {
		needed = append(needed, fmt.Sprintf("%d in %s of %s", place.RequiredApprovals, place.Environment, place.Project))
	}
	for _, vote := range r.Approvals {
		if !vote.StruckOut {
			approvers = append(approvers, vote.CreatedBy.Username)
		}
	}
	properties = append(properties,
		[2]string{"Approvals needed", strings.Join(needed, ", ")},
		[2]string{"Approved by", strings.Join(approvers, ", ")},
		[2]string{"Author", r.CreatedBy.Username},
		[2]string{"Created", localTime(&r.CreatedAt)})
	if err := s.printProperties(properties); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	return s.printRequestChanges(r)
}

// requestChange is a change of a change request, with what it changes.
type requestChange struct {
	of, action, payload, conflict string
}

// printRequestChanges prints the changes of a change request.
func (s *session) printRequestChanges(r changerequest.Response) error {
	var changes []requestChange
	for _, f := range r.Features {
		for _, c := range f.Changes {
			changes = append(changes, requestChange{f.Name, string(c.Action), string(c.Payload), c.Conflict})
		}
	}
	for _, c := range r.Segments {
		changes = append(changes, requestChange{"segment " + c.Name, string(c.Action), string(c.Payload), c.Conflict})
	}
	return writeTable(s.out, s.width, []column[requestChange]{
		{name: "CHANGES", cell: func(c requestChange) string { return c.of }, cut: cutLast, isName: true},
		{name: "ACTION", cell: func(c requestChange) string { return c.action }},
		{name: "PAYLOAD", cell: func(c requestChange) string { return c.payload }, cut: cutFirst},
		{name: "CONFLICT", cell: func(c requestChange) string { return c.conflict }, cut: cutFirst},
	}, changes)
}

// check returns an error if the account is required and missing.
func (a asAccount) check(s *session) error {
	if a.Account == 0 && !s.usesURL() {
		return exitstatus.Errorf(exitstatus.Usage, "--account is missing: its rights count; see --help")
	}
	return nil
}

func (c *approveChangeRequestCmd) Run(s *session, o manager) error {
	if err := c.check(s); err != nil {
		return err
	}
	return s.setRequestState(o, c.requestID, c.Account, changerequest.Asked{State: changerequest.Approved}, c.Comment)
}

func (c *rejectChangeRequestCmd) Run(s *session, o manager) error {
	if err := c.check(s); err != nil {
		return err
	}
	if err := s.confirm("Reject the change request %d?", c.ID); err != nil {
		return err
	}
	return s.setRequestState(o, c.requestID, c.Account, changerequest.Asked{State: changerequest.Rejected}, c.Comment)
}

func (c *applyChangeRequestCmd) Run(s *session, o manager) error {
	if err := s.confirm("Make the changes of the change request %d?", c.ID); err != nil {
		return err
	}
	return s.setRequestState(o, c.requestID, c.Account, changerequest.Asked{State: changerequest.Applied}, c.Comment)
}

func (c *scheduleChangeRequestCmd) Run(s *session, o manager) error {
	if err := c.check(s); err != nil {
		return err
	}
	asked := changerequest.Asked{State: changerequest.Scheduled, ScheduledAt: s.now().Add(time.Duration(c.In))}
	if c.At != nil {
		asked.ScheduledAt = time.Time(*c.At)
	}
	return s.setRequestState(o, c.requestID, c.Account, asked, c.Comment)
}

func (c *cancelChangeRequestCmd) Run(s *session, o manager) error {
	if err := s.confirm("Cancel the change request %d?", c.ID); err != nil {
		return err
	}
	return s.setRequestState(o, c.requestID, c.Account, changerequest.Asked{State: changerequest.Canceled}, c.Comment)
}

// setRequestState changes the state of a change request, and prints the request.
func (s *session) setRequestState(
	o manager, r requestID, account id, asked changerequest.Asked, comment string,
) error {
	changed, err := o.SetChangeRequestState(s.step(), int64(r.ID), int64(account), asked, comment)
	if err != nil {
		return err
	}
	state := string(changed.State)
	if changed.Schedule != nil {
		state += " for " + localTime(&changed.Schedule.ScheduledAt)
	}
	return s.result(changed, "the change request %d is %s", changed.ID, state)
}
