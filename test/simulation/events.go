package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/eventbridge"
)

// bus is the part of the world that handles events: the log, EventBridge, the queue and the receiver of the webhook.
type bus struct {
	log       map[string][]dynamo.Item // the events of the log, by subject, in their order
	contents  map[string]string        // of the events that the bus has stored, by sequence and by id
	received  map[string]bool          // sequences that the webhook has accepted
	queue     []*message
	discarded map[string]bool      // sequences of events that were given up
	queuedAt  map[string]time.Time // by sequence, the first time that the event came to the queue
	flippedAt map[string]time.Time // the last ones of the flags of toggles
	lifetimes map[string][]lifetime
	reopens   time.Time // the webhook refuses until then
	announced time.Time // the beginning of the last search for expiring tokens
}

// sent is an event in the form in which it is sent.
type sent struct{ ID, Type, Subject, Sequence string }

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

// serve responds to a call that is not DynamoDB's.
func (w *World) serve(c *call) (status int, response []byte) {
	switch c.service + "." + c.name {
	case "AWSEvents.PutEvents":
		if w.storm(noBus, time.Minute, "") {
			return http.StatusBadRequest, []byte(`{"__type":"InternalException"}`)
		}
		return w.putEvents(c)
	case "AmazonSSM.GetParameter":
		return http.StatusOK, []byte(`{"Parameter":{"Value":"` + webhook + ` ` + secret + `"}}`)
	case "AmazonSQS.ChangeMessageVisibility":
		var in struct {
			ReceiptHandle     string
			VisibilityTimeout int
		}
		_ = json.Unmarshal(c.body, &in)
		for _, m := range w.queue {
			if m.ReceiptHandle == in.ReceiptHandle {
				m.visible = time.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
				w.at(m.visible, w.poll)
			}
		}
		return http.StatusOK, []byte(`{}`)
	case "AmazonSQS.SendMessage":
		w.discard(c)
		return http.StatusOK, []byte(`{"MessageId":"1"}`)
	case "webhook.test./events":
		return w.receive(c), nil
	}
	return serveIssuer(c.name)
}

// discard receives an event that is given up: from the publisher its id in the log, otherwise the event. The bus must have
// refused it for good, and the webhook for days.
func (w *World) discard(c *call) {
	var in struct{ MessageBody string }
	if err := json.Unmarshal(c.body, &in); err != nil {
		w.fail("SendMessage: %v", err)
	}
	if strings.HasPrefix(c.process.name, "publish") {
		if !w.refusesForGood(in.MessageBody) {
			w.fail("%s gives the event %s up, which the bus does not refuse for good", c.process.name, in.MessageBody)
		}
		w.discarded[in.MessageBody] = true
		return
	}
	var e sent
	if err := json.Unmarshal([]byte(in.MessageBody), &e); err != nil {
		w.fail("%s discards something that is not an event: %s", c.process.name, in.MessageBody)
	}
	if age := time.Since(w.queuedAt[e.Sequence]); age < givenUpAfter {
		w.fail("%s gives the event %s up after %s", c.process.name, e.Sequence, age)
	}
	w.discarded[e.Sequence] = true
}

// givenUpAfter is how long the webhook must have refused an event that is given up (docs/events.md).
const givenUpAfter = 3*24*time.Hour - time.Minute

// refusesForGood reports whether the bus refuses an event because of its content.
func (w *World) refusesForGood(sequence string) bool {
	return w.has(noBus) && mix(w.Seed, hashOf(sequence), 16)%64 == 0
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
		if w.happens(noBus, mix(c.key, uint64(i)), 0.05) || w.storm(noBus, 4*time.Minute, "each event") {
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

// store stores an event in the bus, which sends it to the queue if a rule selects its type.
func (w *World) store(e sent, detail string) {
	w.note("    event %s %s %s", e.Type, e.Subject, e.Sequence)
	for _, id := range []string{e.ID, e.Sequence} {
		if before := cmp.Or(w.contents[id], detail); before != detail {
			w.fail("one event has two contents: %s and %s", before, detail)
		}
		w.contents[id] = detail
	}
	if w.toWebhook(e.Type) {
		if w.queuedAt[e.Sequence].IsZero() {
			w.queuedAt[e.Sequence] = time.Now()
		}
		w.queue = append(w.queue, &message{SQSMessage: events.SQSMessage{MessageId: w.newID(), Body: detail,
			Attributes: map[string]string{"SentTimestamp": fmt.Sprint(time.Now().UnixMilli())}}})
		w.after(50*time.Millisecond, w.poll)
	}
}

// toWebhook reports whether the rule of the template selects a type of the bus.
func (w *World) toWebhook(kind string) bool {
	return slices.Contains(w.template.Rules[0].Types, kind)
}

// poll invokes the function with the visible messages.
func (w *World) poll() {
	mapping := w.functions["deliver-webhook"].Queues[0]
	i := slices.IndexFunc(w.template.Queues, func(q samtemplate.Queue) bool { return q.LogicalID == mapping.Queue })
	settings := w.template.Queues[i]
	var in events.SQSEvent
	w.queue = slices.DeleteFunc(w.queue, func(m *message) bool {
		if len(in.Records) == mapping.BatchSize || m.visible.After(time.Now()) ||
			// The world could not distinguish the requests to the webhook.
			slices.ContainsFunc(in.Records, func(other events.SQSMessage) bool { return other.Body == m.Body }) {
			return false
		}
		if m.receives == settings.MaxReceiveCount {
			var e sent
			w.must(json.Unmarshal([]byte(m.Body), &e))
			w.discarded[e.Sequence] = true
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
	failed, ok := w.deliver("deliver-webhook", encode(in))
	if !ok {
		return
	}
	w.enter(hashOf(in.Records[0].ReceiptHandle), func() {
		w.queue = slices.DeleteFunc(w.queue, func(m *message) bool {
			delivered := slices.ContainsFunc(in.Records, func(r events.SQSMessage) bool {
				return r.ReceiptHandle == m.ReceiptHandle
			})
			return delivered && !w.happens(redelivered, hashOf(m.MessageId), 0.05) && !slices.Contains(failed, m.MessageId)
		})
	})
}

// receive is the webhook.
func (w *World) receive(c *call) int {
	var e sent
	if err := json.Unmarshal(c.body, &e); err != nil || w.contents[e.Sequence] != string(c.body) {
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
	if time.Now().Before(w.reopens) {
		return []int{http.StatusServiceUnavailable, http.StatusNotFound, http.StatusTooManyRequests}[hashOf(c.body)%3]
	}
	w.received[e.Sequence] = true
	return http.StatusNoContent
}

// lifetime is the lifetime of a type from a time on.
type lifetime struct {
	days int64 // 0: none
	from time.Time
}

// allows reports whether a toggle of an age can have a flag. It can lack it for some time after it is due.
func (l lifetime) allows(flag bool, age, late time.Duration) bool {
	lasts := time.Duration(l.days) * 24 * time.Hour
	if flag {
		return lasts > 0 && age+maxSkew >= lasts
	}
	return lasts == 0 || age-late < lasts
}

// staleAfter is how long a re-evaluation can use a lifetime that was replaced, and clocks can differ.
const staleAfter = 5 * time.Second

// lifetime returns the current lifetime of a type.
func (w *World) lifetime(id string) (current lifetime) {
	for _, current = range w.lifetimes[id] {
	}
	return current
}

// flipped checks a flip when it is written: some lifetime of the type allows it. For a re-evaluation, it is one of the
// last five seconds, for others the current one.
func (w *World) flipped(c change) {
	was, is, kind := c.old.Bool("potentiallyStale"), c.next.Bool("potentiallyStale"), c.next.String("type")
	name, sameType, all := c.item.String("name"), c.old.String("type") == kind, w.lifetimes[kind]
	now, by := time.Now(), w.caller.process.name
	reevaluated, since, late := w.caller.reevaluates(), now, time.Minute
	// The write of others decides a flag only if it depends on the type.
	decided := c.next["staleness"] != nil && (c.old["staleness"] == nil || was != is || !sameType) && all != nil
	if reevaluated {
		decided, since, late = was != is, now.Add(-staleAfter), staleAfter
	}
	if decided {
		age, justified := now.Sub(*c.next.Time("createdAt")), false
		for i, l := range all {
			replaced := i+1 < len(all) && !all[i+1].from.After(since)
			justified = justified || !replaced && l.allows(is, age, late)
		}
		if !justified {
			w.fail("%s sets the flag of %s to %t, but the lifetime is %d days, and the age %s", by, name, is,
				w.lifetime(kind).days, age)
		}
	}
	if was == is {
		return
	}
	if reevaluated && was && sameType && !w.lifetime(kind).from.After(w.flippedAt[name].Add(-staleAfter)) {
		w.fail("%s clears the flag of %s because of a changed lifetime, but it has not changed since the flag was set", by,
			name)
	}
	w.flippedAt[name] = now
}

// subject returns the subject of the item of a change, and the item without what is not recorded. Both are empty if
// nothing about the item is recorded.
func (c change) subject(item dynamo.Item) (subject string, recorded dynamo.Item) {
	recorded = maps.Clone(item)
	for _, name := range []string{"event", "usage", "pats", "seenAt", "evaluationRequests"} {
		delete(recorded, name)
	}
	id := fmt.Sprint(item.Int("id"))
	switch {
	case item == nil:
	case c.table == "Features":
		return "toggle:" + item.String("name"), recorded
	case c.table == "FeatureTypes":
		return "type:" + item.String("id"), recorded
	case c.table == "ContextFields" && contextfield.IsField(item): // otherwise usage, or the version of all fields
		return "field:" + item.String("name"), recorded
	case c.table == "Users" && item["kind"] != nil: // otherwise a counter, or an account whose deletion is recorded
		return map[string]string{"user": "user:", "service-account": "account:"}[item.String("kind")] + id, recorded
	case c.table == "PersonalAccessTokens" && item.Int("userId") > 0: // otherwise a counter
		return "pat:" + id, recorded
	case c.table == "ApiTokens":
		return "api-token:" + item.String("id"), recorded
	}
	return "", nil
}

// checkRecorded checks that a call has recorded each change that it has made, and nothing else. The ids of a subject's
// events rise in the order of the calls.
func (w *World) checkRecorded() {
	recorded := map[string][]string{} // types of events, by subject
	for _, c := range w.changes {
		if c.table != "Events" || c.item["type"] == nil {
			continue
		}
		id, subject := c.item.Int("id"), c.item.String("subject")
		if c.old["type"] != nil {
			w.fail("the event %d is changed", id)
		}
		if last := w.lastEvent(subject); last >= id {
			w.fail("the event %d of %s is not later than the one before, %d", id, subject, last)
		}
		w.log[subject] = append(w.log[subject], c.next)
		recorded[subject] = append(recorded[subject], c.next.String("type"))
	}
	for _, c := range w.changes {
		subject, before := c.subject(c.old)
		next, after := c.subject(c.next)
		if subject = cmp.Or(subject, next); subject == "" || reflect.DeepEqual(before, after) {
			continue
		}
		events := recorded[subject]
		if delete(recorded, subject); events == nil {
			w.fail("%s changes %s without an event", w.caller.process.name, subject)
		}
		if last := w.lastEvent(subject); c.next != nil && c.next.Int("event") != last {
			w.fail("the last event of %s is %d, but its item has %d", subject, last, c.next.Int("event"))
		}
		was, is := c.old.Bool("potentiallyStale"), c.next.Bool("potentiallyStale")
		for flag, state := range map[bool]string{true: "on", false: "off"} {
			flips := was != is && is == flag
			if flips != slices.Contains(events, "feature-potentially-stale-"+state) {
				w.fail("the flag of %s is recorded wrongly: %s: %t", subject, state, !flips)
			}
		}
	}
	for subject := range recorded {
		w.fail("%s records an event of %s without a change", w.caller.process.name, subject)
	}
}

// lastEvent returns the id of the last event of a subject, or 0.
func (w *World) lastEvent(subject string) (id int64) {
	if log := w.log[subject]; len(log) > 0 {
		id = log[len(log)-1].Int("id")
	}
	return id
}

// checkEvents checks, in the quiet world, that each event has arrived.
func (w *World) checkEvents() {
	for _, subject := range slices.Sorted(maps.Keys(w.log)) {
		expires := map[string]bool{}
		for _, e := range w.log[subject] {
			kind, sequence := e.String("type"), fmt.Sprint(e.Int("id"))
			if data := e.String("data"); kind == "token-expiring" {
				if expires[data] {
					w.fail("the expiry of %s is recorded twice: %s", subject, data)
				}
				expires[data] = true
			}
			switch {
			case w.discarded[sequence]: // an operator sends them again
			case w.contents[sequence] == "":
				w.fail("the bus has not stored the event %s %s of %s", sequence, kind, subject)
			case w.toWebhook("toggleadmin."+kind) && !w.received[sequence]:
				w.fail("the webhook has not received the event %s %s of %s", sequence, kind, subject)
			}
		}
	}
	w.checkExpiring()
}

// checkExpiring checks that each token that is about to expire was recorded at the last threshold that it had reached
// at the last search.
func (w *World) checkExpiring() {
	for _, item := range w.db.Items("PersonalAccessTokens") {
		if item["expiresAt"] == nil {
			continue
		}
		expires := item.Time("expiresAt").Sub(w.announced)
		if expires < time.Minute {
			continue
		}
		for _, threshold := range []int{1, 7, 14} {
			left := expires - time.Duration(threshold)*24*time.Hour // clocks differ, and the search takes some time
			if left < -time.Minute && !slices.ContainsFunc(w.log[fmt.Sprint("pat:", item.Int("id"))], func(e dynamo.Item) bool {
				return strings.HasSuffix(e.String("data"), fmt.Sprintf(`"days":%d}`, threshold))
			}) {
				w.fail("the token %d expires in less than %d days, which was not recorded", item.Int("id"), threshold)
			}
			if left < time.Minute {
				break
			}
		}
	}
}
