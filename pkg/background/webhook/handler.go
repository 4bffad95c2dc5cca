package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// parameterLifetime is how long the URL and the secrets are used before they are read again. A change takes effect
// within this time.
const parameterLifetime = 5 * time.Minute

// UnreadableParameter is the message of the log line about a parameter that cannot be read or used. A metric filter of
// template.yaml counts these lines.
const UnreadableParameter = "the URL and the secret of the webhook cannot be read or used"

// maxIDLength is the maximum length of an event's id, which becomes a header.
const maxIDLength = 256

// Handler delivers the events of a queue. It is safe for concurrent use.
type Handler struct {
	Parameter interface { // returns the text of the parameter with the URL and the secrets
		Get(ctx context.Context) (string, error)
	}
	Queue interface {
		Delay(ctx context.Context, receiptHandle string, d time.Duration) error // makes a message visible after d
		Discard(ctx context.Context, body string) error                         // sends a message to the dead-letter queue
	}
	Loopback  bool              // the URL may begin with http:// and a loopback address
	Transport http.RoundTripper // nil: one that connects only to permitted addresses
	Now       func() time.Time
	Logger    *slog.Logger

	mu     sync.Mutex
	target *target
	readAt time.Time
}

// target is where events are sent.
type target struct {
	text    string // of the parameter
	client  *Client
	secrets []*standardwebhooks.Webhook
}

// Handle delivers the events of a batch concurrently. The response names the messages that stay in the queue.
func (h *Handler) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	to, err := h.currentTarget(ctx)
	if err != nil {
		h.Logger.ErrorContext(ctx, UnreadableParameter, slog.Any("cause", err), slog.Bool("earlierIsUsed", to != nil))
	}
	failed := make([]bool, len(batch.Records))
	var deliveries sync.WaitGroup
	for i := range batch.Records {
		deliveries.Go(func() { failed[i] = !h.deliver(ctx, &batch.Records[i], to) })
	}
	deliveries.Wait()
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i := range batch.Records {
		if failed[i] {
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: batch.Records[i].MessageId})
		}
	}
	return response, nil
}

// currentTarget returns the target, and reads the parameter if it is not known or too old. If that fails, it returns an
// error and the earlier target, or nil if there is none.
func (h *Handler) currentTarget(ctx context.Context) (*target, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	if h.target != nil && now.Sub(h.readAt) < parameterLifetime {
		return h.target, nil
	}
	text, err := h.Parameter.Get(ctx)
	if err != nil {
		return h.target, err
	}
	if h.target == nil || h.target.text != text {
		read := &target{text: text}
		var address string
		if address, read.secrets, err = ParseParameter(text); err == nil {
			read.client, err = NewClient(address, h.Loopback, h.Now)
		}
		if err != nil {
			return h.target, err
		}
		if h.Transport != nil {
			read.client.http.Transport = h.Transport
		}
		h.target = read
	}
	h.readAt = now
	return h.target, nil
}

// errNoTarget is the cause of an event that is not delivered because its destination is not known.
var errNoTarget = errors.New(UnreadableParameter)

// deliver sends one event. It returns false if the message must stay in the queue.
func (h *Handler) deliver(ctx context.Context, m *events.SQSMessage, to *target) bool {
	body := []byte(m.Body)
	var envelope struct { // of EventBridge, in messages from the dead-letter queue of the rule
		DetailType string `json:"detail-type"`
		Detail     json.RawMessage
	}
	if err := json.Unmarshal(body, &envelope); err == nil && envelope.DetailType != "" {
		body = envelope.Detail
	}
	var event struct{ ID, Type, Subject string }
	if err := json.Unmarshal(body, &event); err != nil || !isHeaderValue(event.ID) {
		return h.discard(ctx, m, h.Logger.With(slog.String("messageId", m.MessageId)),
			errors.New("the message is not an event"))
	}
	age := h.age(m)
	log := h.Logger.With(slog.String("eventId", event.ID), slog.String("type", event.Type),
		slog.String("subject", event.Subject),
		slog.String("age", age.Round(time.Second).String()))
	err := errNoTarget
	if to != nil {
		err = to.client.Send(ctx, event.ID, body, to.secrets)
	}
	switch {
	case err == nil:
		log.InfoContext(ctx, "event delivered")
		return true
	case errors.Is(err, ErrGone):
		log.WarnContext(ctx, "the webhook responds with 410: the event is not sent again")
		return true
	case age >= giveUpAfter:
		return h.discard(ctx, m, log, err)
	}
	delay := retryDelay(age)
	h.delay(ctx, m, delay)
	log.WarnContext(ctx, "event not delivered", slog.Any("cause", err),
		slog.String("again", delay.Round(time.Second).String()))
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

// age returns the time since the message came to the queue. The age of a message without this time is 0.
func (h *Handler) age(m *events.SQSMessage) time.Duration {
	sent, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	if err != nil {
		return 0
	}
	return max(h.Now().Sub(time.UnixMilli(sent)), 0)
}

// delay makes a message visible after d. If that fails, it becomes visible after the queue's own timeout.
func (h *Handler) delay(ctx context.Context, m *events.SQSMessage, d time.Duration) {
	if err := h.Queue.Delay(ctx, m.ReceiptHandle, d); err != nil {
		h.Logger.ErrorContext(ctx, "cannot delay a message: it is delivered again sooner",
			slog.String("messageId", m.MessageId),
			slog.Any("cause", err))
	}
}

// discard moves a message to the dead-letter queue. It returns false if that fails: then the message becomes visible
// after the queue's timeout.
func (h *Handler) discard(ctx context.Context, m *events.SQSMessage, log *slog.Logger, cause error) bool {
	if err := h.Queue.Discard(ctx, m.Body); err != nil {
		log.ErrorContext(ctx, "a message cannot be moved to the dead-letter queue",
			slog.Any("cause", fmt.Errorf("%w; %w", cause, err)))
		return false
	}
	log.ErrorContext(ctx, "a message is moved to the dead-letter queue", slog.Any("cause", cause))
	return true
}
