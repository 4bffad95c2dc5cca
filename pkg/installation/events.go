package installation

import (
	"context"
	"encoding/json"
	"time"

	"toggleadmin/pkg/exitstatus"
)

// FollowEvents calls emit for each event that was sent since a time, and for each new one until ctx ends, which is not an error.
func (i *Installation) FollowEvents(ctx context.Context, since time.Time, now func() time.Time, emit func(json.RawMessage) error) error {
	if err := i.sendsEvents(); err != nil {
		return err
	}
	return i.Stack.FollowEvents(ctx, since, now, emit)
}

// ReplayEvents sends the events of a time again, with the same ids. name identifies the replay.
func (i *Installation) ReplayEvents(ctx context.Context, name string, from, to time.Time) error {
	if err := i.sendsEvents(); err != nil {
		return err
	}
	return i.Stack.ReplayEvents(ctx, name, from, to)
}

func (i *Installation) sendsEvents() error {
	switch {
	case i.IsLocal():
		return exitstatus.Errorf(exitstatus.Rejected, "the local service prints its events to its terminal: use --stack NAME")
	case i.EventSource == "":
		return exitstatus.Errorf(exitstatus.Rejected, "%s sends no events: deploy it with the parameter Events=true", i.Name)
	}
	return nil
}
