package installation

import (
	"context"
	"encoding/json"
	"time"

	"toggleadmin/pkg/exitstatus"
)

// FollowEvents calls emit for each event that was sent since a time, and for each new one until ctx ends, which is not an error.
func (i *Installation) FollowEvents(ctx context.Context, since time.Time, now func() time.Time, emit func(json.RawMessage) error) error {
	if i.IsLocal() {
		return i.followArchive(ctx, since, emit)
	}
	if err := i.sendsEvents(); err != nil {
		return err
	}
	return i.Stack.FollowEvents(ctx, since, now, emit)
}

// Replay is the result of ReplayEvents.
type Replay struct {
	Name string `json:"replay,omitempty"` // of a stack: EventBridge sends the events after ReplayEvents has returned
	Sent int    `json:"sent,omitempty"`   // of the local service: events that were sent to the webhook
}

// ReplayEvents sends the events since a time again, with the same ids. name identifies the replay.
func (i *Installation) ReplayEvents(ctx context.Context, name string, since time.Time, now func() time.Time) (Replay, error) {
	if i.IsLocal() {
		sent, err := i.sendArchived(ctx, since, now)
		return Replay{Sent: sent}, err
	}
	if err := i.sendsEvents(); err != nil {
		return Replay{}, err
	}
	return Replay{Name: name}, i.Stack.ReplayEvents(ctx, name, since, now())
}

func (i *Installation) sendsEvents() error {
	if i.EventSource == "" {
		return exitstatus.Errorf(exitstatus.Rejected, "%s sends no events: deploy it with the parameter Events=true", i.Name)
	}
	return nil
}
