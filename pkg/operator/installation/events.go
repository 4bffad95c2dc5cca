package installation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/dynamo"
)

// Log returns the log in which changes of the installation are recorded.
func (i *Installation) Log(now func() time.Time) *eventlog.Log {
	return eventlog.New(i.Client, i.Tables, now, i.LogDays)
}

// Events returns the reader of the event log of the installation.
func (i *Installation) Events(now func() time.Time) *eventlog.Reader {
	return eventlog.NewReader(i.Log(now))
}

// FollowInterval is the time between two reads of the log.
const FollowInterval = time.Second

const (
	// readTimeout is the time for the first read of the log. It doubles with each read that fails.
	readTimeout = 5 * time.Second
	// overlap is the time by which the order of ids can differ from the order of the commits.
	overlap = time.Minute
	// slow is the time by which the clock of an operator can be behind.
	slow = time.Hour
	// slowInterval is the time between two reads that find the events of slow clocks.
	slowInterval = time.Minute
)

// ReadEvents calls visit with each event that a filter selects, oldest first, until it returns an error. An Event is an
// event in the form of where the log is read.
type ReadEvents[Event any] func(ctx context.Context, f eventlog.Filter, visit func(Event) error) error

// Follow is how FollowEvents reads a log.
type Follow[Event any] struct {
	Read     ReadEvents[Event]
	ID       func(Event) int64
	Interval time.Duration                      // between two reads
	Now      func() time.Time                   // the clock of this process
	Emit     func(context.Context, Event) error // its context ends with the time for the read

	// Reopen returns how to continue after an error, also of Emit. Its error ends FollowEvents.
	Reopen func(error) (ReadEvents[Event], error)
}

// FollowEvents emits each event that a filter selects, and each new one until ctx ends, which is not an error. A read
// never begins later than overlap ago, so events of fast clocks do not hide others. Once a minute it begins an hour ago,
// and finds those of slow clocks.
func FollowEvents[Event any](ctx context.Context, f eventlog.Filter, follow Follow[Event]) error {
	read, now := follow.Read, follow.Now
	first := max(f.First, eventlog.FirstID(f.From))
	f.First = 0
	if earliest := now().Add(-slow); f.From.After(earliest) {
		f.From = earliest
	}
	reached := f.From // the time of the last event that was read, or the time of the read if that is earlier
	var readSlow time.Time
	seen := map[int64]bool{}
	timeout := readTimeout
	for all := false; ; {
		last, begun := reached, now()
		isSlow := begun.Sub(readSlow) >= slowInterval
		if all && isSlow {
			f.From = reached.Add(-slow)
		}
		reading, cancel := context.WithTimeout(ctx, timeout)
		err := read(reading, f, func(e Event) error {
			id := follow.ID(e)
			if seen[id] {
				return nil
			}
			if id >= first || all { // otherwise it is not new
				if err := follow.Emit(reading, e); err != nil {
					return err
				}
			}
			seen[id], last = true, eventlog.TimeOf(id)
			return nil
		})
		cancel()
		if err == nil {
			all, timeout = true, readTimeout
			if isSlow {
				readSlow = begun
			}
		} else if ctx.Err() == nil {
			timeout *= 2
			read, err = follow.Reopen(err)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		if begun.Before(last) {
			last = begun
		}
		if last.After(reached) {
			reached = last
			maps.DeleteFunc(seen, func(id int64, _ bool) bool { return id < eventlog.FirstID(reached.Add(-slow)) })
		}
		if from := reached.Add(-overlap); from.After(f.From) {
			f.From = from
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(follow.Interval):
		}
	}
}

// replayAttempts is the number of times that ReplayEvents sends an event.
const replayAttempts = 10

// ReplayEvents sends the events that a filter selects again, with the same ids, oldest first: those of a stack to the
// bus, and those of the local service to the webhook, if it receives the type. It returns their number, even with an
// error. It omits malformed events and those that the bus rejects for good, and returns an error with their ids.
func (i *Installation) ReplayEvents(ctx context.Context, f eventlog.Filter, now func() time.Time) (sent int,
	err error) {
	send, err := i.sender(now)
	if err != nil {
		return 0, err
	}
	if i.IsLocal() {
		f.Types = i.webhookTypes()
	}
	var logged []eventlog.Event
	var omitted error
	names := user.NewNames(i.Client, i.Tables)
	flush := func() error {
		if err := names.Fill(ctx, logged); err != nil {
			return err
		}
		var batch []eventbus.Event
		for _, e := range logged {
			converted, err := eventbus.New(i.EventSource, e)
			if err != nil { // an item that eventlog did not write; a repetition would not correct it
				omitted = errors.Join(omitted, err)
				continue
			}
			batch = append(batch, converted)
		}
		logged = nil
		for attempt := 1; len(batch) > 0; attempt++ {
			errs := send(ctx, batch)
			var left []eventbus.Event
			for k, err := range errs {
				switch {
				case err == nil:
					sent++
				case eventbus.Rejected(err):
					omitted = errors.Join(omitted, fmt.Errorf("event %s: %w", batch[k].Sequence, err))
				default:
					left = append(left, batch[k])
				}
			}
			batch = left
			if left != nil && (attempt == replayAttempts || dynamo.Pause(ctx, attempt) != nil) {
				return fmt.Errorf("%d events were sent, continue with --since %s: %w", sent, left[0].Time, errors.Join(errs...))
			}
		}
		return nil
	}
	err = i.Events(now).All(ctx, f, func(e eventlog.Event) error {
		if logged = append(logged, e); len(logged) < eventbus.MaxBatch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if omitted != nil {
		err = errors.Join(err, fmt.Errorf("%d events were sent, these cannot be sent: %w", sent, omitted))
	}
	return sent, err
}

// webhookTypes returns the types of events that the local webhook receives; nil: all.
func (i *Installation) webhookTypes() (types []string) {
	switch i.webhookEvents {
	case "*":
		return nil
	case "":
		for _, t := range eventbus.DefaultTypes() {
			types = append(types, string(t))
		}
		return types
	}
	return strings.Split(i.webhookEvents, ",")
}

// sender returns the function that sends at most eventbus.MaxBatch events, with the result of each.
func (i *Installation) sender(now func() time.Time) (func(context.Context, []eventbus.Event) []error, error) {
	if !i.IsLocal() {
		if i.EventSource == "" {
			return nil, exitstatus.Errorf(exitstatus.Rejected,
				"%s has no bus: deploy it with the parameter SendEventsToBus=true", i.Name)
		}
		return eventbus.NewBus(i.Stack.Config, i.Stack.Name).Publish, nil
	}
	if i.webhookURL == "" {
		return nil, exitstatus.Errorf(exitstatus.Rejected,
			"the local service has no webhook: start it with `make run WEBHOOK_URL=http://127.0.0.1:4000`")
	}
	client, err := webhook.NewClient(i.webhookURL, true, now)
	if err != nil {
		return nil, err
	}
	secrets, err := webhook.ParseSecrets(i.webhookSecret)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, batch []eventbus.Event) []error {
		errs := make([]error, len(batch))
		for k, e := range batch {
			err := client.Send(ctx, e.ID, e.Encode(), secrets)
			if !errors.Is(err, webhook.ErrGone) {
				errs[k] = err
			}
		}
		return errs
	}, nil
}
