package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
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
		line := string(text)
		var e struct {
			Time, Type, Subject string
			Data                json.RawMessage
		}
		if err := json.Unmarshal(text, &e); err == nil && !s.JSON {
			line = fmt.Sprintf("%s  %s  %s  %s", e.Time, e.Type, e.Subject, e.Data)
		}
		_, err := fmt.Fprintln(s.out, printable(line))
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
	replay, err := i.ReplayEvents(s.step(), "toggleadmin-"+id.String(), s.now().Add(-time.Duration(c.Since)), s.now)
	if err != nil {
		return err
	}
	if replay.Name == "" {
		return s.result(replay, "sent %d events to the webhook", replay.Sent)
	}
	return s.result(replay, "started the replay %s: `aws events describe-replay --replay-name %[1]s` shows its progress", replay.Name)
}
