package schedule

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

const (
	// stopBefore is the time before the deadline of an invocation from which no request is applied.
	stopBefore = 2 * time.Second
	// repeatFor is how long a request that cannot be applied is tried again.
	repeatFor = 10 * time.Minute
	// defaultTimeout is the default of Sweeper.Timeout.
	defaultTimeout = 10 * time.Second
)

// Sweeper applies the change requests that are due. It is safe for concurrent use.
type Sweeper struct {
	// Open returns the requests, with the clock of a sweep.
	Open   func(now func() time.Time) *changerequest.Store
	Now    func() time.Time
	Logger *slog.Logger
	// Timeout limits the time to apply one request, so that one that conflicts does not use the time of the others. The
	// default is 10 seconds.
	Timeout time.Duration
}

// Event is what invokes a sweep: the event of a schedule.
type Event struct {
	Time time.Time `json:"time"`
}

// Summary is the response of a sweep, for manual invocations.
type Summary struct {
	Applied   int `json:"applied"`
	Suspended int `json:"suspended"` // with those that were suspended before, while a freeze lasts
	Failed    int `json:"failed"`
	Left      int `json:"left"` // the next sweep tries them again
}

var (
	errSweep  = errors.New("the sweep failed, see its log for the cause; the next sweep continues")
	errNoTime = errors.New("the event has no time: invoke the function with {\"time\": \"2026-11-30T08:00:00Z\"}")
)

// Sweep applies the change requests that are due at the time of the event. A request that is suspended or has failed for
// good is no error.
func (s *Sweeper) Sweep(ctx context.Context, event Event) (Summary, error) {
	if event.Time.IsZero() {
		return Summary{}, errNoTime
	}
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	began := s.Now()
	now := func() time.Time { return event.Time.Add(s.Now().Sub(began)) }
	requests := s.Open(now)
	due, err := requests.Due(ctx)
	if err != nil {
		s.Logger.ErrorContext(ctx, "change requests that are due cannot be read", logging.Cause(err))
		return Summary{}, errSweep
	}
	var sum Summary
	waits := map[protection.Place]bool{} // for an earlier request that could not be applied
	for _, r := range due {
		if waits[r.Place()] || ctx.Err() != nil {
			sum.Left++
			continue
		}
		if s.apply(ctx, requests, r, now(), &sum) {
			waits[r.Place()] = true
		}
	}
	if sum.Left > 0 {
		return sum, errSweep
	}
	return sum, nil
}

// apply applies a request that is due. It returns whether the next sweep tries it again.
func (s *Sweeper) apply(
	ctx context.Context, requests *changerequest.Store, r changerequest.Request, now time.Time, sum *Summary,
) (again bool) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(s.Timeout, defaultTimeout))
	next, applied, err := requests.ApplyDue(limited, r.Project, r.ID)
	cancel()
	id := slog.Int64("changeRequest", r.ID)
	switch {
	case err != nil:
	case applied:
		sum.Applied++
		s.Logger.InfoContext(ctx, "change request applied", id)
		return false
	case next.State == changerequest.Scheduled && next.Schedule.Status == changerequest.Suspended:
		sum.Suspended++
		return false
	default: // somebody has changed it
		return false
	}
	s.Logger.ErrorContext(ctx, "change request not applied", id, logging.Cause(err))
	reason := reasonOf(err)
	if since := r.Schedule.FailingSince; reason == "" && since != nil && now.Sub(*since) >= repeatFor {
		reason = "Applying it has failed for ten minutes. An operator finds the cause in the log of sweep-change-requests."
	}
	if reason == "" {
		err = requests.MarkFailing(ctx, r)
	} else if err = requests.Fail(ctx, r.Project, r.ID, reason); err == nil {
		sum.Failed++
		return false
	}
	if err != nil {
		s.Logger.ErrorContext(ctx, "failure of a change request not recorded", id, logging.Cause(err))
	}
	sum.Left++
	return true
}

// reasonOf returns the message of an error that a repetition does not change, or "".
func reasonOf(err error) string {
	switch apierror.KindOf(err) { //nolint:exhaustive // the others can pass, also a freeze that has just begun
	case apierror.Validation, apierror.NotFound, apierror.NameExists, apierror.Conflict:
		return apierror.From(err).Message
	}
	return ""
}
