package world

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"toggleadmin/pkg/samtemplate"
)

// webhookState is what the world knows about the queue and the receiver of the webhook.
type webhookState struct {
	queue    []*message
	received map[string]bool      // sequences that it has accepted
	queuedAt map[string]time.Time // by sequence, the first time that the event came to the queue
	reopens  time.Time            // it refuses until then
}

// webhookURL exists in the world only.
const webhookURL = "https://webhook.test/events"

// secret is that of the webhook, and signed checks what it has signed.
const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"

var signed = sync.OnceValue(func() *standardwebhooks.Webhook {
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		panic(err)
	}
	return w
})

type message struct {
	events.SQSMessage
	receives int
	visible  time.Time
}

// poll invokes the function with the visible messages.
func (w *World) poll() {
	mapping := w.lambda.functions["deliver-webhook"].Queues[0]
	i := slices.IndexFunc(w.template.Queues, func(q samtemplate.Queue) bool { return q.LogicalID == mapping.Queue })
	settings := w.template.Queues[i]
	var in events.SQSEvent
	w.webhook.queue = slices.DeleteFunc(w.webhook.queue, func(m *message) bool {
		if len(in.Records) == mapping.BatchSize || m.visible.After(time.Now()) ||
			// The world could not distinguish the requests to the webhook.
			slices.ContainsFunc(in.Records, func(other events.SQSMessage) bool { return other.Body == m.Body }) {
			return false
		}
		if m.receives == settings.MaxReceiveCount {
			var e sent
			w.must(json.Unmarshal([]byte(m.Body), &e))
			w.bus.discarded[e.Sequence] = true
			return true
		}
		m.receives++
		m.ReceiptHandle = fmt.Sprint(m.MessageId, "/", m.receives)
		m.visible = time.Now().Add(settings.VisibilityTimeout)
		in.Records = append(in.Records, m.SQSMessage)
		w.at(m.visible, w.poll)
		return false
	})
	if len(in.Records) == 0 || w.over {
		return
	}
	w.spawn(func() { w.deliverMessages(in) })
	w.after(time.Millisecond, w.poll)
}

// deliverMessages deletes the messages that are processed. The others are visible again after the timeout.
func (w *World) deliverMessages(in events.SQSEvent) {
	failed, ok := w.deliver(context.Background(), "deliver-webhook", encode(in))
	if !ok {
		return
	}
	w.enter(hashOf(in.Records[0].ReceiptHandle), func() {
		w.webhook.queue = slices.DeleteFunc(w.webhook.queue, func(m *message) bool {
			delivered := slices.ContainsFunc(in.Records, func(r events.SQSMessage) bool {
				return r.ReceiptHandle == m.ReceiptHandle
			})
			return delivered && !w.happens(redelivered, hashOf(m.MessageId), 0.05) && !slices.Contains(failed, m.MessageId)
		})
	})
}

// givenUpAfter is how long the webhook must have refused an event that is given up (docs/events.md).
const givenUpAfter = 3*24*time.Hour - time.Minute

// receive is the webhook.
func (w *World) receive(c *call) int {
	var e sent
	if err := json.Unmarshal(c.body, &e); err != nil || w.bus.contents[e.Sequence] != contentOf(string(c.body)) {
		w.fail("the webhook receives something that the bus has not stored: %s", c.body)
	}
	// An attempt to deliver an event again has the same id.
	if id := c.header.Get(standardwebhooks.HeaderWebhookID); id != e.ID {
		w.fail("the webhook receives the event %s with the id %q", e.ID, id)
	}
	if err := signed().VerifyIgnoringTimestamp(c.body, c.header); err != nil {
		w.fail("the webhook receives the event %s with a wrong signature: %v", e.ID, err)
	}
	seconds, _ := strconv.ParseInt(c.header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if d := time.Since(time.Unix(seconds, 0)).Abs(); d > time.Minute { // a frozen process sends it late
		w.fail("the webhook receives the event %s with the time of %s ago", e.ID, d)
	}
	if time.Now().Before(w.webhook.reopens) {
		return []int{http.StatusServiceUnavailable, http.StatusNotFound, http.StatusTooManyRequests}[hashOf(c.body)%3]
	}
	w.webhook.received[e.Sequence] = true
	return http.StatusNoContent
}
