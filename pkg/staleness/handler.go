package staleness

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/featuretype"
)

// readTime bounds the reading of a type, or of all.
const readTime = 5 * time.Second

// Stream is the function on the stream of FeatureTypes. It is safe for concurrent use.
type Stream struct {
	Types     featuretype.Getter
	Evaluator *Evaluator
	Report    Report
}

// wakeUp is what the records of a batch say about one type. A record only says that there is something to look at: the type is read as it
// is now, since records come at least once, and again possibly out of order.
type wakeUp struct {
	id       string
	sequence string    // of the first record
	changed  time.Time // when that was written, to the second
}

// Handle is the Lambda handler. It re-evaluates every type of the batch, once, and reports the first record of each that met a fault, by
// its sequence number, to be delivered again. A type that is left unfinished for want of time is no failure, for the sweep goes on with
// it; but one that was deleted is, as no sweep would find its toggles.
func (s *Stream) Handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	answer := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	fail := func(w *wakeUp) {
		answer.BatchItemFailures = append(answer.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: w.sequence})
	}
	var found []*wakeUp
	var types []featuretype.FeatureType
	deleted := map[string]bool{}
	for _, w := range s.wakeUps(ctx, event) {
		t, err := s.get(ctx, w.id)
		switch {
		case errors.Is(err, featuretype.ErrNotFound): // then its toggles are of an unknown type: none is flagged
			deleted[w.id] = true
			s.Report.deleted(ctx, w.id)
			t = featuretype.FeatureType{ID: w.id}
		case err != nil:
			s.Report.unreadable(ctx, onStream, w.id, err)
			fail(w)
			continue
		}
		found, types = append(found, w), append(types, t)
	}
	for i, outcome := range s.Evaluator.Evaluate(ctx, types) {
		s.Report.outcome(ctx, onStream, &outcome, found[i].changed)
		if outcome.Err != nil || outcome.Left > 0 && deleted[outcome.Type.ID] {
			fail(found[i])
		}
	}
	return answer, nil
}

func (s *Stream) get(ctx context.Context, id string) (featuretype.FeatureType, error) {
	ctx, cancel := stopEarly(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, readTime)
	defer cancel()
	return s.Types.Get(ctx, id)
}

// wakeUps gives the types whose lifetime may have changed, in the order of their first records. A record that says of both images that
// they have the same lifetime wakes nobody up; nor does one without a type's key, which no repetition would mend.
func (s *Stream) wakeUps(ctx context.Context, event events.DynamoDBEvent) []*wakeUp {
	var all []*wakeUp
	known := map[string]bool{}
	for i := range event.Records {
		change := &event.Records[i].Change
		id, ok := text(change.Keys["id"], events.DataTypeString)
		switch {
		case !ok:
			s.Report.malformed(ctx, event.Records[i].EventID)
		case !known[id] && !sameLifetime(change):
			known[id] = true
			all = append(all, &wakeUp{id: id, sequence: change.SequenceNumber, changed: change.ApproximateCreationDateTime.Time})
		}
	}
	return all
}

func sameLifetime(change *events.DynamoDBStreamRecord) bool {
	if change.OldImage == nil || change.NewImage == nil {
		return false
	}
	before, had := text(change.OldImage["lifetimeDays"], events.DataTypeNumber)
	after, has := text(change.NewImage["lifetimeDays"], events.DataTypeNumber)
	return had == has && before == after
}

// text gives an attribute's text, if it is of that type: the library's own readers panic.
func text(value events.DynamoDBAttributeValue, want events.DynamoDBDataType) (string, bool) {
	switch {
	case value.DataType() != want || value.IsNull():
		return "", false
	case want == events.DataTypeNumber:
		return value.Number(), true
	}
	return value.String(), true
}

// Sweeper is the function on the schedule. It is safe for concurrent use.
type Sweeper struct {
	Types     featuretype.Lister
	Evaluator *Evaluator
	Report    Report
}

// Summary is the sweep's answer, for whoever calls it by hand: nobody reads it on a schedule.
type Summary struct {
	Flagged   int `json:"flagged"`
	Unflagged int `json:"unflagged"`
	Left      int `json:"left"` // 0: every flag is as it should be
}

// errUnswept is all that Lambda gets to know of a fault; the log has the cause.
var errUnswept = errors.New("the sweep met a fault, see its log: the next one goes on")

// Handle is the Lambda handler: it re-evaluates all types, whatever the event is. To have time left over for some is no failure.
func (s *Sweeper) Handle(ctx context.Context, _ json.RawMessage) (Summary, error) {
	types, err := s.list(ctx)
	if err != nil {
		s.Report.unreadable(ctx, onSchedule, "", err)
		return Summary{}, errUnswept
	}
	// Each minute another type is the first: where more have much to do than run at once, each has its turn.
	if n := int64(len(types)); n > 0 {
		first := s.Evaluator.Now().Unix() / 60 % n
		types = append(types[first:len(types):len(types)], types[:first]...)
	}
	var sum Summary
	for _, outcome := range s.Evaluator.Evaluate(ctx, types) {
		s.Report.outcome(ctx, onSchedule, &outcome, time.Time{})
		sum.Flagged += outcome.Flagged
		sum.Unflagged += outcome.Unflagged
		sum.Left += outcome.Left
		if outcome.Err != nil {
			err = errUnswept
		}
	}
	return sum, err
}

func (s *Sweeper) list(ctx context.Context) ([]featuretype.FeatureType, error) {
	ctx, cancel := stopEarly(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, readTime)
	defer cancel()
	return s.Types.List(ctx)
}
