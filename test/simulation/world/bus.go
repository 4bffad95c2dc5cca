package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/test/helper/eventbridge"
)

// busState is what the world knows about the bus.
type busState struct {
	contents  map[string]string // of the events that it has stored, by sequence and by id
	discarded map[string]bool   // sequences of events that were given up
}

// sent is an event in the form in which it is sent.
type sent struct{ ID, Type, Subject, Sequence string }

// discard receives an event that is given up: from the publisher its id in the log, otherwise the event. The bus must
// have refused it for good, and the webhook for days.
func (w *World) discard(c *call) {
	var in struct{ MessageBody string }
	if err := json.Unmarshal(c.body, &in); err != nil {
		w.fail("SendMessage: %v", err)
	}
	if strings.HasPrefix(c.process.name, "publish") {
		if !w.refusesForGood(in.MessageBody) {
			w.fail("%s gives the event %s up, which the bus does not refuse for good", c.process.name, in.MessageBody)
		}
		w.bus.discarded[in.MessageBody] = true
		return
	}
	var e sent
	if err := json.Unmarshal([]byte(in.MessageBody), &e); err != nil {
		w.fail("%s discards something that is not an event: %s", c.process.name, in.MessageBody)
	}
	if age := time.Since(w.webhook.queuedAt[e.Sequence]); age < givenUpAfter {
		w.fail("%s gives the event %s up after %s", c.process.name, e.Sequence, age)
	}
	w.bus.discarded[e.Sequence] = true
}

// refusesForGood reports whether the bus refuses an event because of its content.
func (w *World) refusesForGood(sequence string) bool {
	return w.has(noBus) && mix(w.Seed, hashOf(sequence), 16)%24 == 0
}

// putEvents responds like EventBridge. A request that exceeds its limits is a violation: no repetition would succeed.
func (w *World) putEvents(c *call) (status int, response []byte) {
	status, response = eventbridge.PutEvents(c.body, func(i int, detail string) (code string) {
		var e sent
		if err := json.Unmarshal([]byte(detail), &e); err != nil {
			w.fail("an event is not valid: %v: %s", err, detail)
		}
		if w.refusesForGood(e.Sequence) {
			return "MalformedDetail"
		}
		if w.happens(noBus, mix(c.key, uint64(i)), 0.05) || w.storm(noBus, 4*time.Minute, "each event") ||
			w.storm(noBus, 4*time.Minute, e.Sequence) {
			return "ThrottlingException"
		}
		w.store(e, detail)
		return ""
	})
	if status != http.StatusOK {
		w.fail("%s sends a request that the bus refuses: %s", c.process.name, response)
	}
	return status, response
}

// userName is the name of a user who made a change, as it is when the event is sent.
var userName = regexp.MustCompile(`"createdBy":"[^"]*"(,"createdByUserId":\d)`)

// contentOf returns what does not change of an event that is sent again.
func contentOf(event string) string { return userName.ReplaceAllString(event, "$1") }

// store stores an event in the bus, which sends it to the queue if a rule selects its type.
func (w *World) store(e sent, detail string) {
	w.note("    event %s %s %s", e.Type, e.Subject, e.Sequence)
	content := contentOf(detail)
	for _, id := range []string{e.ID, e.Sequence} {
		if before := cmp.Or(w.bus.contents[id], content); before != content {
			w.fail("one event has two contents: %s and %s", before, content)
		}
		w.bus.contents[id] = content
	}
	if w.toWebhook(e.Type) {
		if w.webhook.queuedAt[e.Sequence].IsZero() {
			w.webhook.queuedAt[e.Sequence] = time.Now()
		}
		w.webhook.queue = append(w.webhook.queue, &message{SQSMessage: events.SQSMessage{MessageId: w.newID(), Body: detail,
			Attributes: map[string]string{"SentTimestamp": fmt.Sprint(time.Now().UnixMilli())}}})
		w.after(50*time.Millisecond, w.poll)
	}
}

// toWebhook reports whether the rule of the template selects a type of the bus.
func (w *World) toWebhook(kind string) bool {
	return slices.Contains(w.template.Rules[0].Types, kind)
}
