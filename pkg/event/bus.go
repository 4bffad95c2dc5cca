package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// busSource is the source of the entries. Rules match it. The source in the event itself is the name of the stack.
const busSource = "toggleadmin"

// LogMessage is the message of the line that a publisher logs for each event that the bus has stored. Its attribute LogEvent is the event.
const (
	LogMessage = "event sent"
	LogEvent   = "event"
)

// NewPublisher returns a publisher for an EventBridge bus, or nil if bus, its name, is empty. The detail of an entry is the event.
func NewPublisher(cfg aws.Config, bus string, logger *slog.Logger) Publisher {
	if bus == "" {
		return nil
	}
	return &publisher{client: eventbridge.NewFromConfig(cfg, func(o *eventbridge.Options) { o.Retryer = aws.NopRetryer{} }), bus: bus, logger: logger}
}

type publisher struct {
	client *eventbridge.Client
	bus    string
	logger *slog.Logger
}

// Publish implements Publisher. MaxBatch events of this service are far below the maximum size of a request.
func (p *publisher) Publish(ctx context.Context, events []Event) []error {
	errs := make([]error, len(events))
	if err := p.put(ctx, events, errs); err != nil {
		for i := range errs {
			errs[i] = fmt.Errorf("put events: %w", err)
		}
	}
	for i, err := range errs {
		if err == nil {
			p.logger.InfoContext(ctx, LogMessage, slog.Any(LogEvent, events[i]))
		}
	}
	return errs
}

// put makes the request. It sets the errors of single entries, or returns the error of all.
func (p *publisher) put(ctx context.Context, events []Event, errs []error) error {
	entries := make([]types.PutEventsRequestEntry, len(events))
	for i := range events {
		detail, err := json.Marshal(events[i])
		if err != nil {
			return err
		}
		entries[i] = types.PutEventsRequestEntry{
			EventBusName: &p.bus, Source: aws.String(busSource), DetailType: aws.String(string(events[i].Type)), Detail: aws.String(string(detail)),
		}
	}
	out, err := p.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		return err
	}
	if len(out.Entries) != len(events) {
		return errors.New("the response does not have a result for each entry")
	}
	for i, entry := range out.Entries {
		if entry.EventId == nil || entry.ErrorCode != nil {
			errs[i] = fmt.Errorf("put event %s: %s: %s", events[i].ID, aws.ToString(entry.ErrorCode), aws.ToString(entry.ErrorMessage))
		}
	}
	return nil
}
