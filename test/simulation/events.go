package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/samtemplate"
)

// bus is the part of the world that has to do with events: EventBridge, the queue and the receiver of the webhook. Everything about
// announcements is in this file.
type bus struct {
	contents  map[string]string      // of the events that the bus has stored, by id
	bySubject map[string][]announced // distinct events
	received  map[string]bool        // ids that the webhook has accepted
	queue     []*message
	discarded int
	flips     map[string][]flip // of the flags of toggles, in their order
	lifetimes map[string][]lifetime
	reopens   time.Time // the webhook refuses until then
}

type announced struct {
	ID, Type, Subject, Sequence, Time string
	Data                              struct {
		Reason                             event.Reason
		LifetimeDays, PreviousLifetimeDays *int64
		Days                               int64
	}
}

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
		if w.has(noBus) && w.storm(noBus, 90*time.Second) {
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
		w.discarded++
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
		if w.happens(noBus, mix(c.key, uint64(i)), 0.05) {
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

// store stores an event in the bus, which sends it to the queue.
func (w *World) store(detail string) {
	var e announced
	if err := json.Unmarshal([]byte(detail), &e); err != nil {
		w.fail("an event is not valid: %v: %s", err, detail)
		return
	}
	w.note("    event %s %s %s %s", e.Type, e.Subject, e.Sequence, e.Data.Reason)
	if before, repeated := w.contents[e.ID]; !repeated {
		w.contents[e.ID] = content(detail)
		w.bySubject[e.Subject] = append(w.bySubject[e.Subject], e)
	} else if before != content(detail) {
		w.fail("one id has two contents: %s and %s", before, detail)
	}
	w.queue = append(w.queue, &message{id: w.newID(), body: detail, sent: time.Now(), visible: time.Now()})
	w.after(50*time.Millisecond, w.poll)
}

// content returns what is equal in all events with one id. The project is that of the toggle when the event is sent.
func content(detail string) string {
	return strings.Replace(detail, `"project":"shop"`, `"project":"default"`, 1)
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

// same reports whether a batch contains the message's event: the world could not distinguish the requests to the webhook.
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
				!slices.ContainsFunc(failures.BatchItemFailures, func(f events.SQSBatchItemFailure) bool { return f.ItemIdentifier == m.id })
		})
	})
}

// receive is the webhook.
func (w *World) receive(body []byte) int {
	if time.Now().Before(w.reopens) {
		return http.StatusServiceUnavailable
	}
	var e announced
	if err := json.Unmarshal(body, &e); err != nil || w.contents[e.ID] != content(string(body)) {
		w.fail("the webhook receives something that the bus has not stored: %s", body)
	}
	w.received[e.ID] = true
	return http.StatusNoContent
}

// flip is a change of a toggle's flag in the table.
type flip struct {
	on      bool
	at      time.Time
	process string
}

// lifetime is the lifetime of a type from a time on.
type lifetime struct {
	days int64 // 0: none
	from time.Time
}

// staleAfter is how long a re-evaluation can use a lifetime that was replaced, and clocks can differ.
const staleAfter = 5 * time.Second

// flipped checks a flip when it is written.
func (w *World) flipped(name string, old, next dynamo.Item) {
	was, is := old.Bool("potentiallyStale"), next.Bool("potentiallyStale")
	if was == is {
		return
	}
	now, by := time.Now(), w.caller.process.name
	if strings.Contains(by, "staleness") {
		created := next.Time("createdAt")
		justified := false
		for i, l := range w.lifetimes[next.String("type")] {
			all := w.lifetimes[next.String("type")]
			if i+1 < len(all) && all[i+1].from.Before(now.Add(-staleAfter)) {
				continue
			}
			age := now.Sub(*created)
			stale := l.days > 0 && age+maxSkew >= time.Duration(l.days)*24*time.Hour
			fresh := l.days == 0 || age-staleAfter < time.Duration(l.days)*24*time.Hour
			justified = justified || is && stale || was && fresh
		}
		if !justified {
			w.fail("%s sets the flag of %s to %t, for which there was no reason in the last %s", by, name, is, staleAfter)
		}
		if before := w.flips[name]; was && len(before) > 0 && old.String("type") == next.String("type") {
			on := before[len(before)-1].at
			if all := w.lifetimes[next.String("type")]; !all[len(all)-1].from.After(on.Add(-staleAfter)) {
				w.fail("%s clears the flag of %s because of a changed lifetime, but it has not changed since the flag was set", by, name)
			}
		}
	}
	w.flips[name] = append(w.flips[name], flip{is, now, by})
}

// checkEvents checks, in the quiet world, that each change was announced once, in order.
func (w *World) checkEvents() {
	for subject, all := range w.bySubject {
		slices.SortFunc(all, func(a, b announced) int { return strings.Compare(a.Sequence, b.Sequence) })
		for i, e := range all {
			if i > 0 && e.Sequence == all[i-1].Sequence && !strings.HasSuffix(e.Type, "token-expiring") {
				w.fail("two events of %s have the sequence %s", subject, e.Sequence)
			}
			if !w.received[e.ID] && w.discarded == 0 {
				w.fail("the webhook has not received the event %s of %s", e.Type, subject)
			}
		}
	}
	for name, flips := range w.flips {
		var got, want []string
		for _, e := range w.bySubject[name] {
			got = append(got, strings.TrimPrefix(e.Type, "toggleadmin.feature-potentially-stale-"))
		}
		for _, f := range flips {
			want = append(want, map[bool]string{true: "on", false: "off"}[f.on])
		}
		if !slices.Equal(got, want) {
			w.fail("the flag of %s changed to %v, the events are %v", name, want, got)
		}
	}
	for id, changes := range w.lifetimes {
		var got, want []string
		for _, e := range w.bySubject[id] {
			got = append(got, fmt.Sprint(days(e.Data.PreviousLifetimeDays), "→", days(e.Data.LifetimeDays)))
		}
		for i, l := range changes[1:] {
			want = append(want, fmt.Sprint(changes[i].days, "→", l.days))
		}
		if !slices.Equal(got, want) {
			w.fail("the lifetime of %s changed %v, the events are %v", id, want, got)
		}
	}
	w.checkExpiring()
	for _, table := range []string{"Features", "FeatureTypes"} {
		for _, item := range w.db.Items(w.table(table)) {
			if len(item.List("pending")) > 0 {
				w.fail("events of %s%s are pending for ever", item.String("name"), item.String("id"))
			}
		}
	}
}

// checkExpiring checks that each token that is about to expire was announced at the last threshold that it has reached.
func (w *World) checkExpiring() {
	for _, item := range w.db.Items(w.table("PersonalAccessTokens")) {
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
			if !slices.ContainsFunc(w.bySubject[fmt.Sprint(item.Int("id"))], func(e announced) bool { return e.Data.Days == threshold }) {
				w.fail("the token %d expires in less than %d days, which was not announced", item.Int("id"), threshold)
			}
			break
		}
	}
}

func days(d *int64) int64 {
	if d == nil {
		return 0
	}
	return *d
}
