// Package schedule plays EventBridge Scheduler's rates: it calls a function at a fixed rate with the event that Scheduler sends.
//
// The one concept: a run is due by the clock, whatever became of the one before. Runs may overlap; each has its own deadline, and goes on
// as an asynchronous event does when it fails (package invocation). A run that the end of the program cuts short is made up at the next
// start, and of those that were due meanwhile one.
//
//	behaviour                                    | source                          | test
//	the first run is made at once                | scheduler: schedule-types       | TestRate
//	then one each period, by the clock           | scheduler: schedule-types       | TestRate
//	runs overlap                                 | inferred: an asynchronous call  | TestRunsOverlap
//	the event's members                          | seen                            | TestEvent
//	a restart keeps the rhythm; one missed run   | choice                          | TestRestart
//	a run that was cut short is made up          | choice                          | TestRestart
//	a clock that was put back: a run at once     | choice                          | TestTheClockWasPutBack
//
// Not played: cron and one-time expressions, start and end dates, time zones, flexible windows, the 60 seconds of imprecision, Input, and
// RetryPolicy with its dead-letter queue: they are for events that cannot be handed to Lambda, which here they always can. Errors of the
// function are Lambda's: EventInvokeConfig says what becomes of them.
package schedule

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"toggleadmin/pkg/local/checkpoint"
	"toggleadmin/pkg/samtemplate"
)

// Config is everything that a schedule takes from outside.
type Config struct {
	Schedule          samtemplate.Schedule
	Region, AccountID string
	NewID             func() string // UUIDs
	Now               func() time.Time
	// Deliver calls the function, and again where that fails. An error means that the program ends before the run is done.
	Deliver    func(ctx context.Context, trigger string, payload []byte) error
	Checkpoint checkpoint.File
	Logger     *slog.Logger
}

// state is what the checkpoint keeps.
type state struct {
	Next time.Time   `json:"next"` // zero: never run
	Open []time.Time `json:"open"` // runs that have begun and are not done
}

type schedule struct {
	Config
	mu    sync.Mutex
	state state
}

// Run makes the runs that are due until the context ends, and then returns as soon as those under way have ended.
func Run(ctx context.Context, c Config) {
	s := &schedule{Config: c}
	if err := c.Checkpoint.Load(&s.state); err != nil {
		c.Logger.Warn("the schedule begins anew", slog.String("schedule", c.Schedule.Name), slog.Any("cause", err))
		s.state = state{}
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, at := range slices.Clone(s.state.Open) {
		running.Go(func() { s.deliver(ctx, at) })
	}
	for {
		timer := time.NewTimer(s.untilNext())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		at := s.begin()
		running.Go(func() { s.deliver(ctx, at) })
	}
}

// untilNext is the time until the next run is due: at most a period, also where the clock was put back.
func (s *schedule) untilNext() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	if s.state.Next.IsZero() || s.state.Next.Sub(now) > s.Schedule.Every {
		s.state.Next = now
	}
	return s.state.Next.Sub(now)
}

// begin notes that the run that is due has begun, and when the next one is.
func (s *schedule) begin() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, every := s.state.Next, s.Schedule.Every
	if late := s.Now().Sub(at); late >= every { // nothing ran: one run for all that were due
		at = at.Add(late.Truncate(every))
	}
	s.state.Next = at.Add(every)
	s.state.Open = append(s.state.Open, at)
	s.save()
	return at
}

// deliver makes one run.
func (s *schedule) deliver(ctx context.Context, at time.Time) {
	if s.Deliver(ctx, "schedule "+s.Schedule.Name, s.event(at)) != nil {
		return // made up at the next start
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Open = slices.DeleteFunc(s.state.Open, at.Equal)
	s.save()
}

func (s *schedule) save() {
	if err := s.Checkpoint.Save(&s.state); err != nil {
		s.Logger.Warn("a run may be made again after a restart", slog.String("schedule", s.Schedule.Name), slog.Any("cause", err))
	}
}

// event is what Scheduler sends where the schedule has no Input.
func (s *schedule) event(at time.Time) []byte {
	event, err := json.Marshal(struct {
		Version    string   `json:"version"`
		ID         string   `json:"id"`
		DetailType string   `json:"detail-type"`
		Source     string   `json:"source"`
		Account    string   `json:"account"`
		Time       string   `json:"time"`
		Region     string   `json:"region"`
		Resources  []string `json:"resources"`
		Detail     string   `json:"detail"`
	}{
		"0", s.NewID(), "Scheduled Event", "aws.scheduler", s.AccountID, at.UTC().Format(time.RFC3339), s.Region,
		[]string{"arn:aws:scheduler:" + s.Region + ":" + s.AccountID + ":schedule/default/" + s.Schedule.Name}, "{}",
	})
	if err != nil { // strings only
		panic(err)
	}
	return event
}
