package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/spelling"
)

type eventsCmd struct {
	apiOptions

	List   listEventsCmd   `cmd:"" help:"List events, newest first."`
	Tail   tailEventsCmd   `cmd:"" help:"Print events as they are recorded, until Ctrl-C. It waits while the installation cannot be reached."`
	Replay replayEventsCmd `cmd:"" help:"Send events again, with the same ids."`
}

type (
	listEventsCmd struct {
		eventTypes
		Since   point  `placeholder:"TIME" help:"Only events since this time: 2h or 7d ago, 2026-11-20, or 2026-11-20T09:00:00Z."`
		Until   point  `placeholder:"TIME" help:"Only events before this time."`
		Project string `placeholder:"NAME" help:"Only events of this project."`
		Feature string `placeholder:"NAME" help:"Only events of this toggle."`
		Subject string `placeholder:"KIND:ID" help:"Only events about this subject, such as pat:17, user:7, account:8 or type:release."`
		By      string `placeholder:"ID|NAME" help:"Only changes by this account: an id, or a name as the list shows it, which must be the one of a single account."`
		Token   string `placeholder:"ID" help:"Only changes that were made with this token."`
		Query   string `placeholder:"TEXT" help:"Only events with this text in type, subject, name or data, in any letter case."`
		Limit   int    `default:"50" placeholder:"N" help:"Maximum number of events (default 50)."`

		Environment string `placeholder:"NAME" help:"Only events of this environment."`
	}
	tailEventsCmd struct {
		eventTypes
		Since    point `placeholder:"TIME" help:"Begin with the events since this time, not with the newest 10."`
		NoFollow bool  `help:"Do not wait for new events."`
	}
	replayEventsCmd struct {
		Since point `required:"" placeholder:"TIME" help:"Send the events since this time: 2h or 7d ago, 2026-11-20, or 2026-11-20T09:00:00Z."`
		Until point `placeholder:"TIME" help:"Only events before this time."`
	}
	eventTypes struct {
		Type []eventType `placeholder:"TYPE" help:"Only events of this type. Repeat for more."`
	}
)

func (c eventTypes) names() (names []string) {
	for _, t := range c.Type {
		names = append(names, string(t))
	}
	return names
}

// eventType is a known type of event.
type eventType string

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *eventType) UnmarshalText(text []byte) error {
	*t = eventType(text)
	if known := knownTypes(); !slices.Contains(known, string(text)) {
		return fmt.Errorf("%q is not a type of event: %sapi/openapi.yaml lists all types", text,
			didYouMean(string(text), known))
	}
	return nil
}

func knownTypes() (names []string) {
	for _, t := range eventlog.Types() {
		names = append(names, string(t))
	}
	return names
}

// didYouMean returns the beginning of a hint: the name that is similar to a text, if there is one.
func didYouMean(text string, names []string) string {
	if closest := spelling.Closest(text, names); closest != "" {
		return "did you mean " + closest + "? "
	}
	return ""
}

// point is a point in time: a duration before now, a day or a time. The zero value is none.
type point struct {
	ago lifetime
	at  time.Time
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *point) UnmarshalText(text []byte) error {
	if p.ago.UnmarshalText(text) == nil {
		return nil
	}
	var err error
	if p.at, err = time.Parse(time.DateOnly, string(text)); err != nil {
		p.at, err = datetime.Parse(string(text))
	}
	if err != nil {
		return fmt.Errorf("%q is not a time: use 2h or 7d for a time ago, a day (UTC) such as 2026-11-20, "+
			"or a date and time such as 2026-11-20T09:00:00Z", text)
	}
	if first := time.Unix(0, 0); p.at.Before(first) { // before all events, but not zero
		p.at = first
	}
	return nil
}

func (p point) time(now time.Time) time.Time {
	if p.ago != 0 {
		return now.Add(-time.Duration(p.ago))
	}
	return p.at
}

// between returns a filter of the events since a time and before another one, which both can be zero.
func between(since, until point, now time.Time) (eventlog.Filter, error) {
	f := eventlog.Filter{From: since.time(now), Until: until.time(now)}
	if !f.From.IsZero() && !f.Until.IsZero() && !f.From.Before(f.Until) {
		return f, exitstatus.Errorf(exitstatus.Usage, "--since is %s, it must be before --until, %s",
			datetime.Format(f.From), datetime.Format(f.Until))
	}
	return f, nil
}

// Validate is called by kong.
func (c *listEventsCmd) Validate() error {
	if c.Limit < 1 {
		return fmt.Errorf("--limit must be at least 1, not %d", c.Limit)
	}
	return nil
}

func (c *listEventsCmd) Run(s *session) error {
	f, err := between(c.Since, c.Until, s.now())
	if err != nil {
		return err
	}
	f.Types, f.Text = c.names(), c.Query
	f.Projects, f.Features, f.Tokens, f.Subjects = given(c.Project), given(c.Feature), given(c.Token), given(c.Subject)
	f.Environments = given(c.Environment)
	if s.usesURL() {
		return c.list(s, f)
	}
	i, err := s.open()
	if err != nil {
		return err
	}
	if id, ok := access.ParseID(c.By); ok {
		f.Users = []int64{id}
	} else if c.By != "" {
		accounts, err := user.NewStore(i.Client, i.Tables, nil).List(s.step())
		if err != nil {
			return err
		}
		for _, u := range accounts {
			if u.RecordedName() == c.By {
				f.Users = append(f.Users, u.ID)
			}
		}
		if f.Users == nil { // an API token, an operator or the system
			f.Names = []string{c.By}
		}
	}
	if len(f.Users) > 1 {
		return exitstatus.Errorf(exitstatus.Usage, "several accounts have the name %q: give --by one of their ids: %s", c.By,
			strings.Trim(fmt.Sprint(f.Users), "[]"))
	}
	if c.Query != "" {
		if f.Named, err = s.names.Containing(s.step(), c.Query); err != nil {
			return err
		}
	}
	all, err := i.Events(s.now).Newest(s.step(), f, c.Limit+1)
	if err != nil {
		return err
	}
	if err := s.names.Fill(s.step(), all); err != nil {
		return err
	}
	all = shownEvents(s, all, c.Limit)
	if s.JSON {
		for _, e := range all {
			if err := s.printEvent(e); err != nil {
				return err
			}
		}
		return nil
	}
	return printList(s, all, eventColumns())
}

// list is Run through the API.
func (c *listEventsCmd) list(s *session, f eventlog.Filter) error {
	r, err := s.remote()
	if err != nil {
		return err
	}
	all, err := r.Events(s.step(), f, c.By, c.Limit+1)
	if err != nil {
		return err
	}
	all = shownEvents(s, all, c.Limit)
	if s.JSON {
		for _, e := range all {
			if err := s.printRemoteEvent(s.ctx, e); err != nil {
				return err
			}
		}
		return nil
	}
	return printList(s, all, remoteEventColumns())
}

// remoteEventColumns are eventColumns for events of the API.
func remoteEventColumns() []column[operator.RemoteEvent] {
	type event = operator.RemoteEvent
	return []column[event]{
		{name: "ID", cell: func(e event) string { return strconv.FormatInt(e.ID, 10) }},
		{name: "TIME", cell: func(e event) string { return eventlog.TimeOf(e.ID).Local().Format(time.DateTime) }},
		{name: "TYPE", cell: func(e event) string { return string(e.Type) }, cut: cutFirst},
		{name: "TOKEN", cell: func(e event) string { return text(e.TokenID) }, cut: cutFirst},
		{name: "SUMMARY", cell: func(e event) string { return e.Summary }, cut: cutLast},
	}
}

// shownEvents returns the first events up to a limit, and says that there are none or more.
func shownEvents[T any](s *session, all []T, limit int) []T {
	if len(all) == 0 {
		s.inform("no event matches")
	} else if len(all) > limit {
		all = all[:limit]
		s.inform("the newest %s; --limit shows more", count(limit, "event"))
	}
	return all
}

// given returns the values of an option that has one.
func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// eventColumns returns the columns of a table of events.
func eventColumns() []column[eventlog.Event] {
	return []column[eventlog.Event]{
		{name: "ID", cell: func(e eventlog.Event) string { return strconv.FormatInt(e.ID, 10) }},
		{name: "TIME", cell: func(e eventlog.Event) string { return e.CreatedAt().Local().Format(time.DateTime) }},
		{name: "TYPE", cell: func(e eventlog.Event) string { return string(e.Type) }, cut: cutFirst},
		{name: "TOKEN", cell: func(e eventlog.Event) string { return e.By.TokenID }, cut: cutFirst},
		{name: "SUMMARY", cell: eventsearch.Summary, cut: cutLast},
	}
}

// printNamed prints an event as one line, with names.
func (s *session) printNamed(ctx context.Context, e eventlog.Event) error {
	one := []eventlog.Event{e}
	if err := s.names.Fill(ctx, one); err != nil {
		return err
	}
	return s.printEvent(one[0])
}

// printEvent prints an event as one line.
func (s *session) printEvent(e eventlog.Event) error {
	if s.JSON {
		return writeJSON(s.out, eventsearch.NewResponse(e), "")
	}
	return printLine(s, eventColumns(), e)
}

// printLine prints the cells of a row as one line.
func printLine[T any](s *session, columns []column[T], row T) error {
	var cells []string
	for _, c := range columns {
		cells = append(cells, c.cell(row))
	}
	_, err := fmt.Fprintln(s.out, printable(strings.Join(cells, columnGap)))
	return err
}

// printRemoteEvent prints an event of the API as one line.
func (s *session) printRemoteEvent(_ context.Context, e operator.RemoteEvent) error {
	if !s.JSON {
		return printLine(s, remoteEventColumns(), e)
	}
	_, err := fmt.Fprintln(s.out, string(e.JSON))
	return err
}

// tailed is the number of events with which tail begins.
const tailed = 10

func (c *tailEventsCmd) Run(s *session) error {
	if s.usesURL() {
		return c.tail(s)
	}
	i, err := s.open()
	if err != nil {
		return err
	}
	events, f := i.Events(s.now), eventlog.Filter{Types: c.names(), From: c.Since.time(s.now())}
	if f.From.IsZero() {
		newest, err := events.Newest(s.step(), f, tailed)
		if err != nil {
			return err
		}
		if f.From = s.now(); len(newest) > 0 {
			oldest := newest[len(newest)-1]
			f.From, f.First = oldest.CreatedAt(), oldest.ID
		}
	}
	if c.NoFollow {
		return events.All(s.ctx, f, func(e eventlog.Event) error { return s.printNamed(s.step(), e) })
	}
	return installation.FollowEvents(s.ctx, f, installation.Follow[eventlog.Event]{
		Read: events.All, ID: func(e eventlog.Event) int64 { return e.ID }, Interval: installation.FollowInterval, Now: s.now,
		Emit: s.printNamed, Reopen: s.reopenLog,
	})
}

// tailInterval is the time between two requests for new events.
const tailInterval = 2 * time.Second

// tail is Run through the API.
func (c *tailEventsCmd) tail(s *session) error {
	r, err := s.remote()
	if err != nil {
		return err
	}
	f := eventlog.Filter{Types: c.names(), From: c.Since.time(s.now())}
	if f.From.IsZero() {
		newest, err := r.Events(s.step(), f, "", tailed)
		if err != nil {
			return err
		}
		if f.From = s.now(); len(newest) > 0 {
			f.First = newest[len(newest)-1].ID
			f.From = eventlog.TimeOf(f.First)
		}
	}
	if c.NoFollow {
		return r.AllEvents(s.ctx, f, func(e operator.RemoteEvent) error { return s.printRemoteEvent(s.ctx, e) })
	}
	warned := false
	read := func(ctx context.Context, f eventlog.Filter, visit func(operator.RemoteEvent) error) error {
		err := r.AllEvents(ctx, f, visit)
		warned = warned && err != nil
		return err
	}
	return installation.FollowEvents(s.ctx, f, installation.Follow[operator.RemoteEvent]{
		Read: read, ID: func(e operator.RemoteEvent) int64 { return e.ID }, Interval: tailInterval, Now: s.now,
		Emit: s.printRemoteEvent, Reopen: func(err error) (installation.ReadEvents[operator.RemoteEvent], error) {
			if exitstatus.Of(err) != exitstatus.Unreachable {
				return nil, err
			}
			if !warned {
				s.inform("Warning: waiting, %v", err)
			}
			warned = true
			return read, wait(s.ctx, reopenInterval)
		},
	})
}

// reopenInterval is the time between two attempts to open an installation that cannot be reached.
const reopenInterval = time.Second

// reopenLog waits until an installation that could not be reached can be opened again, such as after a restart of the
// local service, which then has another address. It returns all other errors.
func (s *session) reopenLog(err error) (installation.ReadEvents[eventlog.Event], error) {
	for warned := false; ; warned = true {
		err = installation.Explain(s.name(), s.Local, err)
		if exitstatus.Of(err) != exitstatus.Unreachable {
			return nil, err
		}
		if !warned {
			s.inform("Warning: waiting, %v", err)
		}
		if err := wait(s.ctx, reopenInterval); err != nil {
			return nil, err
		}
		var i *installation.Installation
		if i, err = s.openTarget(); err == nil {
			return i.Events(s.now).All, nil
		}
	}
}

func (c *replayEventsCmd) Run(s *session) error {
	f, err := between(c.Since, c.Until, s.now())
	if err != nil {
		return err
	}
	i, err := s.open()
	if err != nil {
		return err
	}
	sent, err := i.ReplayEvents(s.ctx, f, s.now)
	if err != nil {
		return err
	}
	return s.result(map[string]int{"sent": sent}, "sent %s", count(sent, "event"))
}
