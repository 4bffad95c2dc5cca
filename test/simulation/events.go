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
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/dynamo"
)

// bus is the part of the world that has to do with events: the log, EventBridge, the queue and the receiver of the
// webhook.
type bus struct {
	log       map[string][]dynamo.Item // the events of the log, by subject, in their order
	contents  map[string]string        // of the events that the bus has stored, by sequence and by id
	received  map[string]bool          // sequences that the webhook has accepted
	queue     []*message
	discarded int
	stored    time.Time            // the last time that the bus has stored an event
	flippedAt map[string]time.Time // the last ones of the flags of toggles
	lifetimes map[string][]lifetime
	reopens   time.Time // the webhook refuses until then
}

// sent is an event in the form in which it is sent.
type sent struct{ ID, Type, Subject, Sequence string }

type message struct {
	id, body string
	receives int
	sent     time.Time
	visible  time.Time
}

// serve responds to a call that is not DynamoDB's.
func (w *World) serve(c *call) (status int, response []byte) {
	switch c.service + "." + c.name {
	case "AWSEvents.PutEvents":
		if w.has(noBus) && w.storm(noBus, time.Minute, "") {
			return http.StatusBadRequest, []byte(`{"__type":"InternalException"}`)
		}
		return http.StatusOK, w.putEvents(c)
	case "AmazonSSM.GetParameter":
		return http.StatusOK, []byte(`{"Parameter":{"Value":"` + webhook + ` whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"}}`)
	case "AmazonSQS.ChangeMessageVisibility":
		var in struct {
			ReceiptHandle     string
			VisibilityTimeout int
		}
		_ = json.Unmarshal(c.body, &in)
		for _, m := range w.queue {
			if m.receipt() == in.ReceiptHandle {
				m.visible = time.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
				w.at(m.visible, w.poll)
			}
		}
		return http.StatusOK, []byte(`{}`)
	case "AmazonSQS.SendMessage":
		if w.discarded++; strings.HasPrefix(c.process.name, "publish") && time.Since(w.stored) > time.Minute {
			w.fail("%s gives an event up, but the bus refuses all", c.process.name)
		}
		return http.StatusOK, []byte(`{"MessageId":"1"}`)
	case "webhook.test./events":
		return w.receive(c.body), nil
	}
	return serveIssuer(c.name)
}

func (w *World) putEvents(c *call) []byte {
	var in struct {
		Entries []struct{ Detail string }
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		w.fail("PutEvents: %v", err)
	}
	var out struct {
		FailedEntryCount int
		Entries          []map[string]string
	}
	for i, entry := range in.Entries {
		if w.happens(noBus, mix(c.key, uint64(i)), 0.05) || w.storm(noBus, 4*time.Minute, "each event") {
			out.FailedEntryCount++
			out.Entries = append(out.Entries, map[string]string{"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"})
			continue
		}
		out.Entries = append(out.Entries, map[string]string{"EventId": strconv.Itoa(i + 1)})
		w.store(entry.Detail)
	}
	response, _ := json.Marshal(out)
	return response
}

// store stores an event in the bus, which sends it to the queue if a rule selects its type.
func (w *World) store(detail string) {
	var e sent
	if err := json.Unmarshal([]byte(detail), &e); err != nil {
		w.fail("an event is not valid: %v: %s", err, detail)
		return
	}
	w.note("    event %s %s %s", e.Type, e.Subject, e.Sequence)
	for _, id := range []string{e.ID, e.Sequence} {
		if before := cmp.Or(w.contents[id], detail); before != detail {
			w.fail("one event has two contents: %s and %s", before, detail)
		}
		w.contents[id] = detail
	}
	w.stored = time.Now()
	if w.toWebhook(e.Type) {
		w.queue = append(w.queue, &message{id: w.newID(), body: detail, sent: time.Now(), visible: time.Now()})
		w.after(50*time.Millisecond, w.poll)
	}
}

// toWebhook reports whether the rule of the template selects a type of the bus.
func (w *World) toWebhook(kind string) bool {
	rule := w.template.Rules[0]
	return rule.Types == nil || slices.Contains(rule.Types, kind)
}

// receipt changes with every receive.
func (m *message) receipt() string { return m.id + "/" + strconv.Itoa(m.receives) }

// poll invokes the function with the visible messages.
func (w *World) poll() {
	mapping := w.functions["deliver-webhook"].Queues[0]
	i := slices.IndexFunc(w.template.Queues, func(q samtemplate.Queue) bool { return q.LogicalID == mapping.Queue })
	settings := w.template.Queues[i]
	var batch []*message
	var in events.SQSEvent
	w.queue = slices.DeleteFunc(w.queue, func(m *message) bool {
		if len(batch) == mapping.BatchSize || m.visible.After(time.Now()) || same(batch, m) {
			return false
		}
		if settings.MaxReceiveCount > 0 && m.receives == settings.MaxReceiveCount {
			w.discarded++
			return true
		}
		m.receives++
		m.visible = time.Now().Add(settings.VisibilityTimeout)
		batch = append(batch, m)
		w.at(m.visible, w.poll)
		in.Records = append(in.Records, events.SQSMessage{
			MessageId: m.id, ReceiptHandle: m.receipt(), Body: m.body,
			Attributes: map[string]string{"SentTimestamp": strconv.FormatInt(m.sent.UnixMilli(), 10)},
		})
		return false
	})
	if len(batch) == 0 || w.over {
		return
	}
	w.spawn(func() { w.deliver(batch, in) })
	w.after(time.Millisecond, w.poll)
}

// same reports whether a batch contains the message's event: the world could not distinguish the requests to the
// webhook.
func same(batch []*message, m *message) bool {
	return slices.ContainsFunc(batch, func(other *message) bool { return other.body == m.body })
}

func (w *World) deliver(batch []*message, in events.SQSEvent) {
	receipts := map[string]string{}
	for _, m := range batch {
		receipts[m.id] = m.receipt()
	}
	payload, _ := json.Marshal(in)
	output, err := w.invoke("deliver-webhook", fmt.Sprintf("%d messages", len(batch)), payload)
	var failures events.SQSEventResponse
	if err == nil {
		err = json.Unmarshal(output, &failures)
	}
	if err != nil {
		return // visible again after the timeout
	}
	w.enter(hashOf(batch[0].receipt()), func() {
		w.queue = slices.DeleteFunc(w.queue, func(m *message) bool {
			return receipts[m.id] == m.receipt() && !w.happens(redelivered, hashOf(m.id), 0.05) &&
				!slices.ContainsFunc(failures.BatchItemFailures,
					func(f events.SQSBatchItemFailure) bool { return f.ItemIdentifier == m.id })
		})
	})
}

// receive is the webhook.
func (w *World) receive(body []byte) int {
	if time.Now().Before(w.reopens) {
		return []int{http.StatusServiceUnavailable, http.StatusNotFound, http.StatusTooManyRequests}[hashOf(body)%3]
	}
	var e sent
	if err := json.Unmarshal(body, &e); err != nil || w.contents[e.Sequence] != string(body) {
		w.fail("the webhook receives something that the bus has not stored: %s", body)
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

// flipped checks a flip when it is written.
func (w *World) flipped(name string, old, next dynamo.Item) {
	was, is, kind := old.Bool("potentiallyStale"), next.Bool("potentiallyStale"), next.String("type")
	now, by, sameType, all := time.Now(), w.caller.process.name, old.String("type") == kind, w.lifetimes[kind]
	if next["staleness"] != nil && (old["staleness"] == nil || was != is || !sameType) && all != nil &&
		!w.caller.reevaluates() {
		current := w.lifetime(kind) // since this write, because it depends on the type
		if age := now.Sub(*next.Time("createdAt")); !current.allows(is, age, time.Minute) {
			w.fail("%s sets the flag of %s to %t, but the lifetime is %d days, and the age %s", by, name, is, current.days, age)
		}
	}
	if was == is {
		return
	}
	if w.caller.reevaluates() {
		age, justified := now.Sub(*next.Time("createdAt")), false
		for i, l := range all {
			replaced := i+1 < len(all) && all[i+1].from.Before(now.Add(-staleAfter))
			justified = justified || !replaced && l.allows(is, age, staleAfter)
		}
		if !justified {
			w.fail("%s sets the flag of %s to %t, for which there was no reason in the last %s", by, name, is, staleAfter)
		}
		if on, ok := w.flippedAt[name]; was && ok && sameType && !w.lifetime(kind).from.After(on.Add(-staleAfter)) {
			w.fail("%s clears the flag of %s because of a changed lifetime, but it has not changed since the flag was set", by,
				name)
		}
	}
	w.flippedAt[name] = now
}

// subject returns the subject of the item of a change, and the item without what is not recorded. Both are empty if
// nothing about the item is recorded.
func (c change) subject(item dynamo.Item) (subject string, recorded dynamo.Item) {
	if item == nil {
		return "", nil
	}
	recorded = maps.Clone(item)
	delete(recorded, "event")
	switch c.table {
	case "Features":
		return "toggle:" + item.String("name"), recorded
	case "FeatureTypes":
		return "type:" + item.String("id"), recorded
	case "ContextFields":
		delete(recorded, "usage")
		if item["usage"] != nil { // otherwise the sum of the sizes
			return "field:" + item.String("name"), recorded
		}
	case "Users":
		delete(recorded, "pats")
		if item["kind"] != nil { // otherwise a counter, or an account whose deletion is recorded
			return map[string]string{"user": "user:", "service-account": "account:"}[item.String("kind")] +
				fmt.Sprint(item.Int("id")), recorded
		}
	case "PersonalAccessTokens":
		delete(recorded, "seenAt")
		if item.Int("userId") > 0 { // otherwise a counter
			return fmt.Sprint("pat:", item.Int("id")), recorded
		}
	case "ApiTokens":
		delete(recorded, "seenAt")
		return "api-token:" + item.String("id"), recorded
	}
	return "", nil
}

// checkRecorded checks that a call has recorded each change that it has made, and nothing else. The ids of a subject's
// events rise in the order of the calls.
func (w *World) checkRecorded() {
	events := map[string][]dynamo.Item{} // by subject
	for _, c := range w.changes {
		if c.table == "Events" && c.old["type"] != nil {
			w.fail("the event %d is changed", c.old.Int("id"))
		}
		if c.table == "Events" && c.next["type"] != nil {
			subject := c.next.String("subject")
			events[subject] = append(events[subject], c.next)
		}
	}
	for _, c := range w.changes {
		subject, before := c.subject(c.old)
		next, after := c.subject(c.next)
		if subject = cmp.Or(subject, next); subject == "" || reflect.DeepEqual(before, after) {
			continue
		}
		recorded := events[subject]
		delete(events, subject)
		if len(recorded) == 0 {
			w.fail("%s changes %s without an event", w.caller.process.name, subject)
			return
		}
		slices.SortFunc(recorded, func(a, b dynamo.Item) int { return cmp.Compare(a.Int("id"), b.Int("id")) })
		if before := w.log[subject]; len(before) > 0 && before[len(before)-1].Int("id") >= recorded[0].Int("id") {
			w.fail("the event %d of %s is not later than the one before, %d", recorded[0].Int("id"), subject,
				before[len(before)-1].Int("id"))
		}
		w.log[subject] = append(w.log[subject], recorded...)
		if last := recorded[len(recorded)-1].Int("id"); c.next != nil && c.next.Int("event") != last {
			w.fail("the last event of %s is %d, but its item has %d", subject, last, c.next.Int("event"))
		}
		for state, changed := range map[string]bool{
			"on":  c.next.Bool("potentiallyStale") && !c.old.Bool("potentiallyStale"),
			"off": c.old.Bool("potentiallyStale") && !c.next.Bool("potentiallyStale"),
		} {
			if changed != slices.ContainsFunc(recorded, func(e dynamo.Item) bool {
				return e.String("type") == "feature-potentially-stale-"+state
			}) {
				w.fail("the flag of %s is recorded wrongly: %s: %t", subject, state, !changed)
			}
		}
	}
	for subject := range events {
		w.fail("%s records an event of %s without a change", w.caller.process.name, subject)
	}
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
			case w.discarded > 0: // an operator sends them again
			case w.contents[sequence] == "":
				w.fail("the bus has not stored the event %s %s of %s", sequence, kind, subject)
			case w.toWebhook("toggleadmin."+kind) && !w.received[sequence]:
				w.fail("the webhook has not received the event %s %s of %s", sequence, kind, subject)
			}
		}
	}
	w.checkExpiring()
}

// checkExpiring checks that each token that is about to expire was recorded at the last threshold that it has reached.
func (w *World) checkExpiring() {
	for _, item := range w.items("PersonalAccessTokens") {
		expires := item.Time("expiresAt")
		if expires == nil || time.Until(*expires) < time.Minute {
			continue
		}
		for _, threshold := range []int64{1, 7, 14} {
			left := time.Duration(threshold)*24*time.Hour - time.Until(*expires)
			if left > -time.Minute && left < time.Minute {
				break // it can have changed since the last run
			}
			if left < 0 {
				continue
			}
			if !slices.ContainsFunc(w.log[fmt.Sprint("pat:", item.Int("id"))], func(e dynamo.Item) bool {
				return strings.HasSuffix(e.String("data"), fmt.Sprintf(`"days":%d}`, threshold))
			}) {
				w.fail("the token %d expires in less than %d days, which was not recorded", item.Int("id"), threshold)
			}
			break
		}
	}
}
