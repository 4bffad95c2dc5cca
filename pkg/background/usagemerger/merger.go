package usagemerger

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

const (
	// stopBefore is the time before the deadline of an invocation from which no call starts.
	stopBefore = 2 * time.Second
	// settle is the time after the end of an hour from which it is merged: processes have written what they counted.
	settle = 2 * time.Minute
	// late is the time after the end of an hour until which each sweep reads its requests and applications.
	late = 10 * time.Minute
	// maxParts is the number of tallies after which a sweep merges no other hour.
	maxParts = 2_000
	// concurrency is the maximum number of writes that a sweep makes at the same time.
	concurrency = 16
)

// errSweep is the error that Lambda receives. The cause is only in the log.
var errSweep = errors.New("the sweep failed, see its log for the cause; the next sweep continues")

// Sweep does all that is due. It ignores the event.
func (m *Merger) Sweep(ctx context.Context, _ json.RawMessage) (struct{}, error) {
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &sweep{Merger: m, began: m.now(), leftOut: map[string]bool{}, tooMany: map[string]bool{}}
	// What takes longest comes last, so that it keeps the sweep from nothing else.
	err := errors.Join(s.putRequests(ctx), s.putApplications(ctx), s.putLastSeen(ctx), s.mergeHours(ctx),
		s.mergeLate(ctx))
	s.log(ctx, err)
	if err != nil || len(s.leftOut) > 0 {
		return struct{}{}, errSweep
	}
	return struct{}{}, nil
}

// sweep is a sweep in progress.
type sweep struct {
	*Merger
	began time.Time

	mu       sync.Mutex
	hours    int             // that it merged
	parts    int             // of these
	records  int             // of toggles
	counters int             // of requests
	seen     int             // toggles whose time it stored
	known    int             // applications that it stored
	excess   int             // entries that were counted together, or not at all, because of a limit
	leftOut  map[string]bool // why parts and items were left out: they cannot be read, or DynamoDB rejects them
	tooMany  map[string]bool // of which parts some were not read
}

// log writes one line: an error if something was left out or failed, and a warning if there was too much of something.
// A sweep without results is logged at level Debug.
func (s *sweep) log(ctx context.Context, err error) {
	ended := s.now()
	attributes := []slog.Attr{
		slog.Int("hours", s.hours), slog.Int("records", s.records), slog.Int("counters", s.counters),
		slog.Int("applications", s.known), slog.Int("toggles", s.seen), slog.Int("leftOut", len(s.leftOut)),
		slog.Int("excess", s.excess),
		slog.Float64("milliseconds", logging.Milliseconds(ended.Sub(s.began))),
	}
	level := slog.LevelInfo
	if s.hours+s.counters+s.known+s.seen == 0 {
		level = slog.LevelDebug
	}
	if s.excess+len(s.tooMany) > 0 {
		level = slog.LevelWarn
	}
	causes := slices.Sorted(maps.Keys(s.leftOut))
	if err != nil {
		causes = append(causes, err.Error())
	}
	if len(causes) > 0 {
		level = slog.LevelError
	}
	causes = slices.AppendSeq(causes, maps.Keys(s.tooMany))
	if len(causes) > 0 {
		attributes = append(attributes, slog.String("cause", logging.Truncate(strings.Join(causes, "\n"))))
	}
	s.logger.LogAttrs(ctx, level, "usage merged", attributes...)
}

// leaveOut notes what is left out.
func (s *sweep) leaveOut(causes ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cause := range causes {
		s.leftOut[cause.Error()] = true
	}
}

// readable notes what an IncompleteError left out, and returns other errors.
func (s *sweep) readable(err error) error {
	incomplete, ok := errors.AsType[*usagetable.IncompleteError](err)
	if !ok {
		return err
	}
	s.leaveOut(incomplete.Unreadable...)
	for _, cause := range incomplete.Excess {
		s.tooMany[cause.Error()] = true
	}
	return nil
}

// recentHours returns the hour of the sweep, and before it the last one if counts can still come.
func (s *sweep) recentHours() []time.Time {
	running := usage.HourOf(s.began)
	if s.began.Sub(running) < late {
		return []time.Time{running.Add(-time.Hour), running}
	}
	return []time.Time{running}
}
