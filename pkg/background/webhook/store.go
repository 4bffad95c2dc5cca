package webhook

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// maxBackoff is the longest delay between the attempts of a call. The SDK's default, 20 s, is most of the function's
// timeout.
const maxBackoff = 200 * time.Millisecond

func retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = maxBackoff })
}

// Queue is the queue that invokes the function. It is safe for concurrent use.
type Queue struct {
	client        *sqs.Client
	url, failures string
}

// NewQueue returns the queue with a URL, and its dead-letter queue.
func NewQueue(cfg aws.Config, url, failures string) *Queue {
	return &Queue{sqs.NewFromConfig(cfg, func(o *sqs.Options) { o.Retryer = retryer() }), url, failures}
}

// Delay makes a message that was received visible after d, in place of the queue's own timeout.
func (q *Queue) Delay(ctx context.Context, receiptHandle string, d time.Duration) error {
	_, err := q.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: &receiptHandle, VisibilityTimeout: int32(math.Ceil(d.Seconds())),
	})
	if err != nil {
		return fmt.Errorf("change the visibility of a message: %w", err)
	}
	return nil
}

// Discard sends the body of a message to the dead-letter queue.
func (q *Queue) Discard(ctx context.Context, body string) error {
	if _, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.failures, MessageBody: &body}); err != nil {
		return fmt.Errorf("send a message to the dead-letter queue: %w", err)
	}
	return nil
}
