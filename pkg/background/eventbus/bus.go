package eventbus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

// busSource is the source of the entries. Rules match it. The source in the event itself is the name of the stack.
const busSource = "toggleadmin"

const (
	// MaxBatch is the maximum number of events that Publish accepts: of entries of a PutEvents request.
	MaxBatch = 10
	// maxRequest is more than the size of the entries of a request, in bytes (EventBridge User Guide, "Calculating
	// PutEvents event entry size").
	maxRequest = 256 << 10
)

// Bus is an EventBridge bus. It is safe for concurrent use.
type Bus struct {
	client *eventbridge.Client
	name   string
}

// NewBus returns the bus with a name.
func NewBus(cfg aws.Config, name string) *Bus {
	return &Bus{eventbridge.NewFromConfig(cfg, func(o *eventbridge.Options) { o.Retryer = aws.NopRetryer{} }), name}
}

// Publish makes one attempt to send at most MaxBatch events. The detail of an entry is the event. It returns an error
// for each event, in the same order: nil means that the bus has stored the event. After an error it is unknown whether
// the bus has stored it. See Rejected.
func (b *Bus) Publish(ctx context.Context, events []Event) []error {
	errs := make([]error, len(events))
	entries := make([]types.PutEventsRequestEntry, len(events))
	for i, e := range events {
		entries[i] = types.PutEventsRequestEntry{
			EventBusName: &b.name, Source: aws.String(busSource), DetailType: aws.String(e.Type),
			Detail: aws.String(string(e.Encode())),
		}
	}
	for first := 0; first < len(entries); {
		end := requestEnd(entries, first)
		if err := b.put(ctx, entries[first:end], errs[first:end]); concernsEntries(err) && end-first > 1 {
			for i := first; i < end; i++ { // one entry can be the cause
				_ = b.put(ctx, entries[i:i+1], errs[i:i+1])
			}
		}
		first = end
	}
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("put event %s: %w", events[i].ID, err)
		}
	}
	return errs
}

// requestEnd returns the end of the request that begins with an entry: its entries together are smaller than maxRequest.
// An entry that is larger is alone.
func requestEnd(entries []types.PutEventsRequestEntry, first int) (end int) {
	size := 0
	for end = first; end < len(entries); end++ {
		e := entries[end]
		size += len(aws.ToString(e.Source)) + len(aws.ToString(e.DetailType)) + len(aws.ToString(e.Detail))
		if size >= maxRequest && end > first {
			break
		}
	}
	return end
}

// put makes a request and sets the errors of its entries. It returns the error of the whole request.
func (b *Bus) put(ctx context.Context, entries []types.PutEventsRequestEntry, errs []error) error {
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
	if err == nil && len(out.Entries) != len(entries) {
		err = errors.New("the response does not have a result for each entry")
	}
	for i := range errs {
		errs[i] = err
		if err == nil && (out.Entries[i].EventId == nil || out.Entries[i].ErrorCode != nil) {
			errs[i] = &RejectedError{aws.ToString(out.Entries[i].ErrorCode), aws.ToString(out.Entries[i].ErrorMessage)}
		}
	}
	return err
}

// concernsEntries reports whether the bus rejected a request because of what it contains.
func concernsEntries(err error) bool {
	response, ok := errors.AsType[*http.ResponseError](err)
	if !ok {
		return false
	}
	failure, ok := errors.AsType[smithy.APIError](err)
	return response.HTTPStatusCode() == 413 || ok && failure.ErrorCode() == "ValidationException"
}

// RejectedError reports an event that the bus has rejected, although it accepted the request.
type RejectedError struct{ Code, Message string }

// Error implements error.
func (e *RejectedError) Error() string { return e.Code + ": " + e.Message }

// Rejected reports whether an error of Publish means that the bus rejects the event for good, because of what the event
// contains. All other errors, also unknown ones, can be temporary (EventBridge API Reference, PutEventsResultEntry).
func Rejected(err error) bool {
	rejected, ok := errors.AsType[*RejectedError](err)
	return concernsEntries(err) || ok && slices.Contains([]string{"InvalidArgument", "MalformedDetail"}, rejected.Code)
}

// newRejections returns a function that sends the id of an event to the queue of rejected events.
func newRejections(cfg aws.Config, queue string) func(context.Context, string) error {
	client := sqs.NewFromConfig(cfg)
	return func(ctx context.Context, id string) error {
		_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: aws.String(id)})
		return err
	}
}
