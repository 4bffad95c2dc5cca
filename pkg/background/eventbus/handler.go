package eventbus

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

// Publisher sends events from the stream of the table Events to the bus. It is safe for concurrent use.
type Publisher struct {
	Bus interface {
		Publish(ctx context.Context, events []Event) []error
	}
	Names interface { // of users, which events do not contain
		Fill(ctx context.Context, events []eventlog.Event) error
	}
	Source string // of the events
	Now    func() time.Time
	Pause  func(ctx context.Context, attempt int) error
	// Reject stores the id, in the log, of an event that the bus rejects for good, or that is malformed.
	Reject func(ctx context.Context, id string) error
	Logger *slog.Logger
}

const (
	// attempts is the number of times that an invocation sends an event. The stream then delivers it again.
	attempts = 4
	// rejectAfter is the age from which an event that the bus rejects for good no longer delays other events, if the bus
	// accepts those. rejectAloneAfter is that age for an event without others. A retry by the stream contains the same
	// events.
	rejectAfter      = time.Minute
	rejectAloneAfter = 15 * time.Minute
	// stopBefore is the time before the deadline from which no new attempt starts.
	stopBefore = 2 * time.Second
)

// record is an event of the stream.
type record struct {
	id        int64 // in the log
	event     Event
	malformed bool   // cannot be sent
	unnamed   bool   // cannot be sent before the next delivery: the names of users could not be read
	sequence  string // of the stream
	at        time.Time
	err       error // of the last attempt; nil: the bus has stored it
}

// Publish sends the events of a batch of the stream. It reports the first one that was not sent, so that the stream
// delivers it and all that follow again.
func (p *Publisher) Publish(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	response := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	all := p.read(ctx, batch)
	for attempt := 1; attempt <= attempts; attempt++ {
		unsent := slices.DeleteFunc(slices.Clone(all), func(r *record) bool {
			return r.err == nil || r.malformed || r.unnamed
		})
		if len(unsent) == 0 || attempt > 1 && p.Pause(ctx, attempt-1) != nil {
			break
		}
		p.send(ctx, unsent)
	}
	left := slices.DeleteFunc(slices.Clone(all), func(r *record) bool { return r.err == nil })
	left = p.reject(ctx, left, len(left) < len(all))
	if len(left) > 0 {
		p.Logger.ErrorContext(ctx, "events not sent", slog.Int("left", len(left)), slog.Int64("first", left[0].id),
			logging.Cause(left[0].err))
		response.BatchItemFailures = append(response.BatchItemFailures,
			events.DynamoDBBatchItemFailure{ItemIdentifier: left[0].sequence})
	}
	return response, nil
}

// read returns the events that were appended to the log. It skips markers, and deletions by the time to live.
func (p *Publisher) read(ctx context.Context, batch events.DynamoDBEvent) []*record {
	var all []*record
	var appended []eventlog.Event
	for i := range batch.Records {
		r := &batch.Records[i]
		if e, ok := eventlog.FromStream(*r); ok {
			appended = append(appended, e)
			all = append(all, &record{id: e.ID, sequence: r.Change.SequenceNumber, at: e.CreatedAt(), err: errNotSent})
		}
	}
	unnamed := p.Names.Fill(ctx, appended)
	for i, r := range all {
		if unnamed != nil {
			r.unnamed, r.err = true, unnamed
			continue
		}
		var err error
		// An item that eventlog did not write: a repeated delivery would not correct it.
		if r.event, err = New(p.Source, appended[i]); err != nil {
			r.malformed, r.err = true, err
		}
	}
	return all
}

var errNotSent = errors.New("the invocation ended before the event was sent")

// send makes one attempt to send events, in concurrent requests.
func (p *Publisher) send(ctx context.Context, all []*record) {
	var requests sync.WaitGroup
	for batch := range slices.Chunk(all, MaxBatch) {
		requests.Go(func() {
			list := make([]Event, len(batch))
			for i, r := range batch {
				list[i] = r.event
			}
			for i, err := range p.Bus.Publish(ctx, list) {
				batch[i].err = err
			}
		})
	}
	requests.Wait()
}

// reject stores malformed events, and those that the bus rejects for good, so that they do not delay the others.
// accepted reports whether the bus has accepted others. It returns those that are still to be sent.
func (p *Publisher) reject(ctx context.Context, left []*record, accepted bool) []*record {
	return slices.DeleteFunc(left, func(r *record) bool {
		age := p.Now().Sub(r.at)
		rejected := Rejected(r.err) && (age >= rejectAloneAfter || accepted && age >= rejectAfter)
		if !r.malformed && !rejected {
			return false
		}
		if err := p.Reject(ctx, strconv.FormatInt(r.id, 10)); err != nil {
			r.err = errors.Join(r.err, err)
			return false
		}
		p.Logger.ErrorContext(ctx, "event rejected", slog.Int64("id", r.id), logging.Cause(r.err))
		return true
	})
}
