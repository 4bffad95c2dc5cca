package eventbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// busSource is the source of the entries. Rules match it. The source in the event itself is the name of the stack.
const busSource = "toggleadmin"

// MaxBatch is the maximum number of events that Publish accepts: of entries of a PutEvents request. With an event of at
// most 16 KB, ten are below the maximum size of a request, 256 KB.
const MaxBatch = 10

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
// the bus has stored it.
func (b *Bus) Publish(ctx context.Context, events []Event) []error {
	errs := make([]error, len(events))
	if err := b.put(ctx, events, errs); err != nil {
		for i := range errs {
			errs[i] = fmt.Errorf("put events: %w", err)
		}
	}
	return errs
}

// put makes the request. It sets the errors of single entries, or returns the error of all.
func (b *Bus) put(ctx context.Context, events []Event, errs []error) error {
	entries := make([]types.PutEventsRequestEntry, len(events))
	for i := range events {
		detail, err := json.Marshal(events[i])
		if err != nil {
			return err
		}
		entries[i] = types.PutEventsRequestEntry{
			EventBusName: &b.name, Source: aws.String(busSource), DetailType: aws.String(events[i].Type),
			Detail: aws.String(string(detail)),
		}
	}
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		return err
	}
	if len(out.Entries) != len(events) {
		return errors.New("the response does not have a result for each entry")
	}
	for i, entry := range out.Entries {
		if entry.EventId == nil || entry.ErrorCode != nil {
			errs[i] = &RejectedError{events[i].ID, aws.ToString(entry.ErrorCode), aws.ToString(entry.ErrorMessage)}
		}
	}
	return nil
}

// RejectedError reports an event that the bus has rejected, while it answered the request.
type RejectedError struct{ ID, Code, Message string }

// Error implements error.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("put event %s: %s: %s", e.ID, e.Code, e.Message)
}

// temporary reports whether the bus may accept the event later.
func (e *RejectedError) temporary() bool {
	return slices.Contains([]string{"ThrottlingException", "InternalFailure", "InternalException"}, e.Code)
}

// newRejections returns a function that sends the id of an event to the queue of rejected events.
func newRejections(cfg aws.Config, queue string) func(context.Context, string) error {
	client := sqs.NewFromConfig(cfg)
	return func(ctx context.Context, id string) error {
		_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: aws.String(id)})
		return err
	}
}
