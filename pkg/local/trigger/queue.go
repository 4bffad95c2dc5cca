package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/samtemplate"
)

// runQueue invokes a function with the messages of a queue until the context ends. Messages that it does not process
// become visible again.
func (t *Triggers) runQueue(ctx context.Context, f *samtemplate.Function, s samtemplate.QueueMapping) {
	q := t.Bus.Queue(s.Queue)
	for ctx.Err() == nil {
		batch := q.Receive(s.BatchSize)
		if len(batch) == 0 {
			pause(ctx, queueInterval)
			continue
		}
		processed, err := t.process(f, q, batch)
		if err != nil && ctx.Err() == nil {
			t.Logger.Warn("messages are not processed, trying again", slog.String("queue", q.LogicalID), slog.Any("cause", err))
		}
		q.Delete(processed)
	}
}

// process invokes the function and returns the messages that it has processed. After an error that is none of them.
func (t *Triggers) process(f *samtemplate.Function, q *bus.Queue, batch []bus.Message) ([]bus.Message, error) {
	event := events.SQSEvent{}
	var ids []string
	for i := range batch {
		event.Records, ids = append(event.Records, t.message(q, &batch[i])), append(ids, batch[i].ID)
	}
	failed, _, err := t.invokeBatch(f, fmt.Sprintf("queue %s, %s", q.LogicalID, count(len(batch), "message")), event, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(batch, func(m bus.Message) bool {
		return slices.ContainsFunc(failed, func(i int) bool { return ids[i] == m.ID })
	}), nil
}

// invokeBatch invokes a function with the items of a batch, which have these ids. It returns the items that the
// function has not processed according to its response, by index, and the id of the invocation.
func (t *Triggers) invokeBatch(f *samtemplate.Function, source string, event any, ids []string) (
	failed []int, invocation string, err error,
) {
	payload, err := json.Marshal(event)
	if err != nil {
		return nil, "", fmt.Errorf("encode the event: %w", err)
	}
	output, invocation, err := t.invoke(f, source, payload)
	if err != nil {
		return nil, invocation, err
	}
	var response events.SQSEventResponse // as for streams
	if len(output) > 0 {
		if err := json.Unmarshal(output, &response); err != nil {
			return nil, invocation, fmt.Errorf("the function's response is not valid: %w", err)
		}
	}
	for _, f := range response.BatchItemFailures {
		i := slices.Index(ids, f.ItemIdentifier)
		if i < 0 {
			return nil, invocation, fmt.Errorf("the function reports itemIdentifier %q, which is not in the batch",
				f.ItemIdentifier)
		}
		failed = append(failed, i)
	}
	return failed, invocation, nil
}

// message returns a message in AWS's form.
func (t *Triggers) message(q *bus.Queue, m *bus.Message) events.SQSMessage {
	return events.SQSMessage{
		MessageId: m.ID, ReceiptHandle: m.ReceiptHandle, Body: m.Body, EventSource: "aws:sqs", AWSRegion: t.Region,
		EventSourceARN: "arn:aws:sqs:" + t.Region + ":" + t.AccountID + ":" + q.LogicalID,
		Attributes: map[string]string{
			"ApproximateReceiveCount": strconv.Itoa(m.ReceiveCount),
			"SentTimestamp":           strconv.FormatInt(m.SentAt.UnixMilli(), 10),
		},
	}
}
