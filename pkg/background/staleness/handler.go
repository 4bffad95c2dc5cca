package staleness

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

// Handler handles both triggers of re-evaluation. It is safe for concurrent use.
type Handler struct {
	Evaluator *Evaluator
	Logger    *slog.Logger
	Function  string // name of the deployed function, a dimension of its metrics; empty: no metrics
}

// change is a write of a type. Records come at least once and possibly out of order, so that the type is read again and
// the record's values are not used.
type change struct {
	id       string
	sequence string    // of the first record
	at       time.Time // of the first record, in whole seconds
}

// Stream handles records of the stream of FeatureTypes. It re-evaluates each type once. If that fails, it reports the
// type's first record as failed, which is then delivered again. A type that was not finished in time is not a failure,
// because the next sweep continues with it, unless the type was deleted or not read.
func (h *Handler) Stream(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	response := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	changes := h.changes(ctx, event)
	types := make([]string, len(changes))
	for i, c := range changes {
		types[i] = c.id
	}
	results := h.Evaluator.Evaluate(ctx, types)
	for i, result := range results {
		h.logResult(ctx, onStream, &result, changes[i].at)
		if result.Err != nil || result.Left > 0 && !result.Found {
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.DynamoDBBatchItemFailure{ItemIdentifier: changes[i].sequence})
		}
	}
	return response, nil
}

// changes returns the types of the records, in the order of their first records. Every write of a type requests the
// re-evaluation of its toggles, also one that keeps the lifetime (contract section 4.3). Records without a type's key,
// which a repeated delivery would not correct, are ignored.
func (h *Handler) changes(ctx context.Context, event events.DynamoDBEvent) []change {
	var all []change
	known := map[string]bool{}
	for i := range event.Records {
		record := &event.Records[i].Change
		key := record.Keys["id"]
		if key.DataType() != events.DataTypeString { // String panics
			h.Logger.ErrorContext(ctx, "record without a feature type",
				slog.String("eventId", logging.Truncate(event.Records[i].EventID)))
		} else if id := key.String(); !known[id] {
			known[id] = true
			all = append(all, change{id, record.SequenceNumber, record.ApproximateCreationDateTime.Time})
		}
	}
	return all
}

// Summary is the response of a sweep, for manual invocations.
type Summary struct {
	Flagged   int `json:"flagged"`
	Unflagged int `json:"unflagged"`
	Left      int `json:"left"` // 0: every flag is correct
}

// errSweep is the error that Lambda receives. The cause is only in the log.
var errSweep = errors.New("the sweep failed, see its log for the cause; the next sweep continues")

// Sweep re-evaluates all types. It ignores the event. Running out of time is not an error.
func (h *Handler) Sweep(ctx context.Context, _ json.RawMessage) (Summary, error) {
	types, err := h.types(ctx)
	if err != nil {
		h.Logger.ErrorContext(ctx, "feature types not read", slog.String("trigger", onSchedule), logging.Cause(err))
		return Summary{}, errSweep
	}
	var sum Summary
	for _, result := range h.Evaluator.Evaluate(ctx, types) {
		h.logResult(ctx, onSchedule, &result, time.Time{})
		sum.Flagged += result.Flagged
		sum.Unflagged += result.Unflagged
		sum.Left += result.Left
		if result.Err != nil {
			err = errSweep
		}
	}
	return sum, err
}

// readTimeout limits the time to read the list of types.
const readTimeout = 5 * time.Second

// types returns the ids of all types.
func (h *Handler) types(ctx context.Context) ([]string, error) {
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, readTimeout)
	defer cancel()
	all, err := h.Evaluator.Types.List(ctx)
	ids := make([]string, len(all))
	for i, t := range all {
		ids[i] = t.ID
	}
	return ids, err
}
