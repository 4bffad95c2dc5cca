package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"toggleadmin/pkg/event"
)

type eventsCmd struct {
	Tail   tailEventsCmd   `cmd:"" help:"Print events until Ctrl-C."`
	Replay replayEventsCmd `cmd:"" help:"Send events again, with the same ids."`
}

type (
	tailEventsCmd struct {
		Since lifetime `placeholder:"TIME" help:"Also print the events of this time, such as 2h or 7d."`
	}
	replayEventsCmd struct {
		Since lifetime `required:"" placeholder:"TIME" help:"Send the events of this time again, such as 2h or 7d."`
	}
)

func (c *tailEventsCmd) Run(s *session) error {
	i, err := s.open()
	if err != nil {
		return err
	}
	return i.FollowEvents(s.ctx, s.now().Add(-time.Duration(c.Since)), s.now, func(text json.RawMessage) error {
		var e event.Event
		if err := json.Unmarshal(text, &e); s.JSON || err != nil {
			_, err := fmt.Fprintln(s.out, printable(string(text))) // one line for each event
			return err
		}
		data, err := json.Marshal(e.Data)
		if err == nil {
			_, err = fmt.Fprintln(s.out, printable(fmt.Sprintf("%s  %s  %s  %s", e.Time, e.Type, e.Subject, data)))
		}
		return err
	})
}

func (c *replayEventsCmd) Run(s *session) error {
	i, err := s.open()
	if err != nil {
		return err
	}
	id, err := uuid.NewRandomFromReader(s.random)
	if err != nil {
		return err
	}
	to := s.now()
	from := to.Add(-time.Duration(c.Since))
	name := "toggleadmin-" + id.String()
	if err := i.ReplayEvents(s.step(), name, from, to); err != nil {
		return err
	}
	return s.result(map[string]string{"replay": name},
		"started the replay %s: `aws events describe-replay --replay-name %[1]s` shows its progress", name)
}
