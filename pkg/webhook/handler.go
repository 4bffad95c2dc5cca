package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// secretLifetime is how long the secret is used before it is read again. A rotation takes effect within this time.
const secretLifetime = 5 * time.Minute

// maxIDLength is the maximum length of an event's id, which becomes a header.
const maxIDLength = 256

// Handler delivers the events of a queue. It is safe for concurrent use.
type Handler struct {
	Client *Client
	Secret interface { // returns the text of the secret
		Get(ctx context.Context) (string, error)
	}
	Queue interface { // makes a message visible after d
		Delay(ctx context.Context, receiptHandle string, d time.Duration) error
	}
	Now    func() time.Time
	Logger *slog.Logger

	mu      sync.Mutex
	secrets []*standardwebhooks.Webhook
	readAt  time.Time
}

// Handle delivers the events of a batch concurrently. The response names the messages that stay in the queue.
func (h *Handler) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	secrets, err := h.currentSecrets(ctx)
	if err != nil {
		h.Logger.ErrorContext(ctx, "the secret of the webhook cannot be read: events are delivered later", slog.Any("cause", err))
	}
	failed := make([]bool, len(batch.Records))
	var deliveries sync.WaitGroup
	for i := range batch.Records {
		deliveries.Go(func() {
			if secrets == nil {
				failed[i] = true
				h.delay(ctx, &batch.Records[i])
				return
			}
			failed[i] = !h.deliver(ctx, &batch.Records[i], secrets)
		})
	}
	deliveries.Wait()
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i := range batch.Records {
		if failed[i] {
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: batch.Records[i].MessageId})
		}
	}
	return response, nil
}

// currentSecrets returns the secrets, and reads them if they are not known or too old.
func (h *Handler) currentSecrets(ctx context.Context) ([]*standardwebhooks.Webhook, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	if h.secrets != nil && now.Sub(h.readAt) < secretLifetime {
		return h.secrets, nil
	}
	text, err := h.Secret.Get(ctx)
	if err != nil {
		return nil, err
	}
	secrets, err := ParseSecrets(text)
	if err == nil {
		h.secrets, h.readAt = secrets, now
	}
	return secrets, err
}

// deliver sends one event. It returns false if the message must stay in the queue.
func (h *Handler) deliver(ctx context.Context, m *events.SQSMessage, secrets []*standardwebhooks.Webhook) bool {
	var event struct{ ID, Type, Subject string }
	if err := json.Unmarshal([]byte(m.Body), &event); err != nil || !isHeaderValue(event.ID) {
		h.Logger.ErrorContext(ctx, "a message is not an event", slog.String("messageId", m.MessageId), slog.Int("attempt", attempt(m)))
		h.change(ctx, m, 0) // the remaining attempts follow at once
		return false
	}
	log := h.Logger.With(slog.String("eventId", event.ID), slog.String("type", event.Type), slog.String("subject", event.Subject),
		slog.Int("attempt", attempt(m)))
	err := h.Client.Send(ctx, event.ID, []byte(m.Body), secrets)
	switch {
	case err == nil:
		log.InfoContext(ctx, "event delivered")
		return true
	case errors.Is(err, ErrGone):
		log.WarnContext(ctx, "the webhook responds with 410: the event is not sent again")
		return true
	}
	delay := h.delay(ctx, m)
	log.WarnContext(ctx, "event not delivered", slog.Any("cause", err), slog.String("again", delay.String()))
	return false
}

// isHeaderValue reports whether a text can be an id.
func isHeaderValue(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return text != "" && len(text) <= maxIDLength
}

// delay makes a message visible after the delay for its number of attempts.
func (h *Handler) delay(ctx context.Context, m *events.SQSMessage) time.Duration {
	delay := retryDelay(attempt(m))
	h.change(ctx, m, delay)
	return delay
}

// change makes a message visible after d. If that fails, it becomes visible after the queue's own timeout.
func (h *Handler) change(ctx context.Context, m *events.SQSMessage, d time.Duration) {
	if err := h.Queue.Delay(ctx, m.ReceiptHandle, d); err != nil {
		h.Logger.ErrorContext(ctx, "a message cannot be delayed: it is delivered again earlier", slog.String("messageId", m.MessageId),
			slog.Any("cause", err))
	}
}

// attempt returns the number of times that the queue has delivered a message, this time included.
func attempt(m *events.SQSMessage) int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return 1
	}
	return n
}
