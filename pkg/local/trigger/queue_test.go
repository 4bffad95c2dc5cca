package trigger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/assert"
)

// onQueue runs a function with a mapping of a queue that contains the messages a, b and c. It returns the time of each
// invocation, with the bodies and receive counts of its messages.
func onQueue(t *testing.T, respond func(events.SQSEvent) ([]byte, error)) (batches []string) {
	t.Helper()
	inBubble(t, samtemplate.Function{Queues: []samtemplate.QueueMapping{{Queue: "Queue", BatchSize: 2}}}, nil,
		func(h *harness) {
			h.openBus(samtemplate.Template{
				Rules:  []samtemplate.Rule{{Queue: "Queue"}},
				Queues: []samtemplate.Queue{{LogicalID: "Queue", VisibilityTimeout: time.Minute}},
			})
			h.respond = func(payload []byte) ([]byte, error) {
				event := decode[events.SQSEvent](h, payload)
				batch := time.Since(h.begin).String()
				for _, m := range event.Records {
					batch += " " + m.Body + m.Attributes["ApproximateReceiveCount"]
				}
				batches = append(batches, batch)
				return respond(event)
			}
			for _, body := range []string{"a", "b", "c"} {
				assert.OK(t, h.config.Bus.Queue("Queue").Send(body))
			}
			h.run(90 * time.Second)
		})
	return batches
}

func TestQueue(t *testing.T) {
	t.Parallel()
	got := onQueue(t, func(event events.SQSEvent) ([]byte, error) {
		m := event.Records[0]
		if m.EventSourceARN != "arn:aws:sqs:eu-west-1:123456789012:Queue" || m.ReceiptHandle == "" || m.MessageId == "" {
			t.Errorf("%+v", m)
		}
		if len(event.Records) == 2 {
			return fmt.Appendf(nil, `{"batchItemFailures":[{"itemIdentifier":%q}]}`, event.Records[1].MessageId), nil
		}
		return nil, nil
	})
	assert.Equal(t, []string{"0s a1 b1", "0s c1", "1m0s b2"}, got)
}

// Nothing is deleted if it is not known what the function has processed.
func TestQueueFailures(t *testing.T) {
	t.Parallel()
	for response, err := range map[string]error{
		"": errFunction, `{"batchItemFailures":[{"itemIdentifier":"x"}]}`: nil,
	} {
		got := onQueue(t, func(events.SQSEvent) ([]byte, error) { return []byte(response), err })
		assert.Equal(t, []string{"0s a1 b1", "0s c1", "1m0s a2 b2", "1m0s c2"}, got)
	}
}
