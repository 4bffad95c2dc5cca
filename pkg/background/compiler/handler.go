package compiler

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

const (
	// stopBefore is the time before the deadline of an invocation from which no call starts.
	stopBefore = 2 * time.Second
	// countFor is the age until which sweeps count events: the period of StreamReadersAlarm.
	countFor = 2 * time.Minute
	// concurrency is the maximum number of environments that an invocation compiles at the same time.
	concurrency = 4
	// late is longer than the time by which a transaction can commit after the time in the ids of its events, and than
	// the differences between the clocks of processes.
	late = time.Minute
	// checkEvery is how often a sweep reads everything of an environment again, whether or not there are events.
	checkEvery = time.Hour
	// keepParts is how long parts of replaced snapshots are kept: longer than a compilation, or the time between
	// reading a pointer and its parts.
	keepParts = time.Hour
	// deletionMinute is the minute of each hour in which the sweep deletes the others.
	deletionMinute = 0
)

// Handler handles the triggers of compilations. It is safe for concurrent use.
type Handler struct {
	Compiler *Compiler
	Events   *eventlog.Reader
}

// Stream compiles the environments that the events of a batch concern. If that fails, it reports the first record of
// the batch, so that the stream delivers all of them again. A repeated compilation changes nothing.
func (h *Handler) Stream(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	response := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var all []eventlog.Event
	for i := range batch.Records {
		if e, ok := eventlog.FromStream(batch.Records[i]); ok {
			all = append(all, e)
		}
	}
	if err := h.compileChanges(ctx, changesOf(all)); err != nil {
		h.Compiler.logger.ErrorContext(ctx, "snapshots not compiled", logging.Cause(err))
		response.BatchItemFailures = append(response.BatchItemFailures,
			events.DynamoDBBatchItemFailure{ItemIdentifier: batch.Records[0].Change.SequenceNumber})
	}
	return response, nil
}

func (h *Handler) compileChanges(ctx context.Context, changed changes) error {
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	names, err := changed.environments(func() ([]string, error) { return h.Compiler.environmentNames(ctx) })
	if err != nil {
		return err
	}
	return forEach(names, func(name string) error { return h.Compiler.compile(ctx, name, changed.of(name)) })
}

// forEach calls a function for environments, several at a time. It returns all errors.
func forEach(names []string, call func(name string) error) error {
	errs := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i, name := range names {
		group.Go(func() error {
			errs[i] = call(name)
			return nil
		})
	}
	_ = group.Wait() // the functions return nil
	return errors.Join(errs...)
}

// errSweep is the error that Lambda receives. The cause is only in the log.
var errSweep = errors.New("the sweep failed, see its log for the cause; the next sweep continues")

// Sweep compiles the environments whose snapshots may lack changes: those that were not compiled for an hour, and those
// with events that are later than what the snapshot covers. It ignores the event.
func (h *Handler) Sweep(ctx context.Context, _ json.RawMessage) (struct{}, error) {
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	err := h.sweep(ctx)
	if err != nil {
		h.Compiler.logger.ErrorContext(ctx, "sweep of snapshots failed", logging.Cause(err))
		err = errSweep
	}
	return struct{}{}, err
}

func (h *Handler) sweep(ctx context.Context) error {
	began := h.Compiler.now()
	environments, err := h.Compiler.environments.List(ctx)
	if err != nil {
		return err
	}
	names := namesOf(environments)
	pointers, err := h.Compiler.pointers(ctx, names)
	if err != nil {
		return err
	}
	if err := h.Compiler.correctFull(ctx, environments, pointers); err != nil {
		return err
	}
	var due []string
	recent := map[string]snapshottable.Pointer{}
	for _, name := range names {
		p, exists := pointers[name]
		switch {
		case !exists, isDue(p, began):
			due = append(due, name)
		default:
			recent[name] = p
		}
	}
	err = errors.Join(
		forEach(due, func(name string) error { return h.Compiler.Compile(ctx, name) }), // needs no events
		h.sweepChanged(ctx, recent, began))
	if began.Minute() == deletionMinute {
		err = errors.Join(err, h.Compiler.deleteUnused(ctx, names))
	}
	return err
}

// isDue reports whether everything of a snapshot must be read again: an hour after the last time, if the snapshot has
// another format or no tags, or if the clock of the process that has read everything was fast. Its times say nothing
// then.
func isDue(p snapshottable.Pointer, now time.Time) bool {
	return p.Format != snapshottable.Format || !p.HasTags() || now.Sub(p.CheckedAt) >= checkEvery || isAhead(p, now)
}

// isAhead reports whether the times of a pointer are later than clocks differ.
func isAhead(p snapshottable.Pointer, now time.Time) bool {
	return p.CheckedAt.After(now.Add(late)) || p.Covers.After(now.Add(late))
}

// sweepChanged compiles the environments with events that are later than what the snapshot covers. The others cover all
// events before the sweep.
func (h *Handler) sweepChanged(ctx context.Context, pointers map[string]snapshottable.Pointer, began time.Time) error {
	if len(pointers) == 0 {
		return nil
	}
	recent, err := h.eventsSince(ctx, pointers, began.Add(-countFor))
	if err != nil {
		return err
	}
	h.Compiler.reportEvents(ctx, recent, began)
	return forEach(slices.Sorted(maps.Keys(pointers)), func(name string) error {
		pointer := pointers[name]
		var later []eventlog.Event
		for _, e := range recent {
			if !e.CreatedAt().Before(pointer.Covers.Add(-late)) {
				later = append(later, e)
			}
		}
		switch {
		case !changesOf(later).of(name).isEmpty():
			return h.Compiler.Compile(ctx, name)
		case len(later) > 0:
			return h.Compiler.cover(ctx, pointer, began)
		}
		return nil
	})
}

// eventsSince returns the events since a time, and those before it that one of the snapshots may not cover.
func (h *Handler) eventsSince(
	ctx context.Context, pointers map[string]snapshottable.Pointer, from time.Time,
) (recent []eventlog.Event, err error) {
	for _, p := range pointers {
		if uncovered := p.Covers.Add(-late); uncovered.Before(from) {
			from = uncovered
		}
	}
	err = h.Events.All(ctx, eventlog.Filter{From: from}, func(e eventlog.Event) error {
		recent = append(recent, e)
		return nil
	})
	return recent, err
}
