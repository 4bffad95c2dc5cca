package webhook_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/roundtrip"
)

// The first retry is within 30 seconds, and the last one three days after the event came to the queue. SQS refuses more
// than 12 hours.
func TestRetryDelays(t *testing.T) {
	t.Parallel()
	var got []string
	age := time.Duration(0)
	for d := webhook.RetryDelay(age); d > 0 && len(got) < 20; d = webhook.RetryDelay(age) {
		got, age = append(got, d.String()), age+d
	}
	want := strings.Fields("15s 45s 2m15s 6m45s 20m15s 1h0m45s 3h2m15s 9h6m45s 11h45m0s 11h45m0s 11h45m0s 11h45m0s " +
		"11h20m0s")
	assert.Equal(t, want, got)
	assert.Equal(t, 72*time.Hour, age)
	assert.Equal(t, time.Duration(0), webhook.RetryDelay(100*time.Hour))
}

// harness is the function with a webhook, and with AWS as a RoundTripper.
type harness struct {
	*testing.T
	respond   func(id string) int // the webhook
	url       string              // of the webhook
	parameter string              // empty: it cannot be read
	refuse    bool                // SQS refuses
	now       time.Time

	mu       sync.Mutex
	posted   []string          // ids
	delays   map[string]string // seconds by receipt handle
	dead     []string          // bodies in the dead-letter queue
	gets     int
	log      bytes.Buffer
	function func(context.Context, []byte) ([]byte, error)
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{
		T: t, now: time.UnixMilli(time.Now().UnixMilli()), delays: map[string]string{},
		respond: func(string) int { return http.StatusOK },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("Webhook-Id")
		h.mu.Lock()
		defer h.mu.Unlock()
		h.posted = append(h.posted, id)
		w.Header().Set("Location", "/followed")
		w.WriteHeader(h.respond(id))
	}))
	t.Cleanup(server.Close)
	h.url, h.parameter = server.URL, server.URL+" "+secret
	function, err := app.Find(webhook.Functions(), "deliver-webhook")(&app.Env{
		Vars:   map[string]string{"WEBHOOK_SECRET_NAME": "/hook", "WEBHOOK_QUEUE": "queue", "WEBHOOK_FAILURES": "failures"},
		Local:  true,
		AWS:    roundtrip.AWS(h),
		Now:    func() time.Time { return h.now },
		Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	assert.OK(t, err)
	h.function = function.Invoke
	return h
}

// RoundTrip is AWS.
func (h *harness) RoundTrip(r *http.Request) (*http.Response, error) {
	var in struct {
		Name, QueueURL, ReceiptHandle, MessageBody string
		WithDecryption                             bool
		VisibilityTimeout                          int
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	status, response, refused := http.StatusOK, "{}", h.refuse
	switch call := r.Header.Get("X-Amz-Target") + " " + in.Name + in.QueueURL; call {
	case "AmazonSSM.GetParameter /hook":
		h.gets++
		response, refused = fmt.Sprintf(`{"Parameter":{"Value":%q}}`, h.parameter), h.parameter == "" || !in.WithDecryption
	case "AmazonSQS.ChangeMessageVisibility queue":
		h.delays[in.ReceiptHandle] = fmt.Sprint(in.VisibilityTimeout)
	case "AmazonSQS.SendMessage failures":
		h.dead = append(h.dead, in.MessageBody)
		response = fmt.Sprintf(`{"MD5OfMessageBody":"%x"}`, md5.Sum([]byte(in.MessageBody)))
	default:
		h.Errorf("unexpected call %s", call)
	}
	if refused {
		status, response = http.StatusBadRequest, `{"__type":"AccessDeniedException"}`
	}
	return roundtrip.Response(status, response), nil
}

// message is a message of the queue whose event has the same id. It came to the queue before this time.
func (h *harness) message(id string, age time.Duration) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "message-" + id, ReceiptHandle: id, Body: fmt.Sprintf(`{"specversion":"1.0","id":%q,"type":"t"}`, id),
		Attributes: map[string]string{"ApproximateReceiveCount": "999",
			"SentTimestamp": fmt.Sprint(h.now.Add(-age).UnixMilli())},
	}
}

// requireStay invokes the function with a batch and fails the test unless these messages stay in the queue.
func (h *harness) requireStay(want []string, messages ...events.SQSMessage) {
	h.Helper()
	payload, err := json.Marshal(events.SQSEvent{Records: messages})
	assert.OK(h, err)
	output, err := h.function(h.Context(), payload)
	var response events.SQSEventResponse
	assert.OK(h, err, json.Unmarshal(output, &response))
	var failed []string
	for _, f := range response.BatchItemFailures {
		failed = append(failed, strings.TrimPrefix(f.ItemIdentifier, "message-"))
	}
	assert.Equal(h, want, failed)
	if failed == nil {
		assert.Equal(h, `{"batchItemFailures":[]}`, string(output))
	}
}

// Retries depend on the age of a message. The receives before, of invocations that could not start, do not count. A
// redirect, which leads to an address that nobody has configured, is not followed.
func TestPartialBatch(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.respond = func(id string) int {
		status, _ := strconv.Atoi(id)
		return status
	}
	poison, noID := h.message("p", 0), h.message("q", 0)
	poison.Body, noID.Body = "not JSON", `{"id":"two words"}`
	last := h.message("429", 72*time.Hour)
	h.requireStay([]string{"500", "302", "307", "400", "503"}, h.message("204", 0), h.message("299", 0),
		h.message("500", time.Millisecond), h.message("410", 0), poison, h.message("302", 15*time.Second), noID, last,
		h.message("307", 0), h.message("400", 0), h.message("503", 72*time.Hour-time.Minute))
	assert.Equal(t, map[string]string{"500": "16", "302": "45", "307": "15", "400": "15", "503": "60"}, h.delays)
	assert.Equal(t, []string{poison.Body, noID.Body, last.Body}, h.dead, cmpopts.SortSlices(strings.Compare))
	if log := h.log.String(); !strings.Contains(log, `responds with 500" again=15s`) {
		t.Error(log)
	}
	assert.Equal(t, []int{9, 1}, []int{len(h.posted), h.gets})
}

// A message from the dead-letter queue of the rule has EventBridge's envelope.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	m := h.message("a", 0)
	m.Body = `{"version":"0","id":"of EventBridge","detail-type":"t","source":"toggleadmin","detail":` + m.Body + `}`
	h.requireStay(nil, m)
	m.Body = `{"detail-type":"t"}` // without an event
	h.requireStay(nil, m)
	assert.Equal(t, []string{"a"}, h.posted)
	assert.Equal(t, []string{m.Body}, h.dead)
}

// Without its URL and secret, the webhook gets nothing, and the events stay in the queue with the usual delays.
func TestSecretThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hunter2", secret, "https://example.com hunter2", "http://example.com " + secret} {
		h := newHarness(t)
		usable := h.parameter
		h.parameter = text
		h.requireStay([]string{"a", "b"}, h.message("a", 15*time.Second), h.message("b", 0))
		assert.Equal(t, map[string]string{"a": "45", "b": "15"}, h.delays)
		if log := h.log.String(); !strings.Contains(log, webhook.UnreadableParameter) || strings.Contains(log, "hunter2") {
			t.Error(log)
		}
		h.parameter = usable // corrected
		h.requireStay(nil, h.message("c", time.Minute))
		assert.Equal(t, []string{"c"}, h.posted)
	}
}

// A change of the parameter takes effect within five minutes. While it cannot be read or used, the earlier one is used.
func TestSecretIsReadAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	usable := h.parameter
	for _, test := range []struct {
		after     time.Duration // since the last invocation
		parameter string
		reads     int // so far
		logs      bool
	}{
		{0, usable, 1, false},
		{4 * time.Minute, usable, 1, false},
		{time.Minute, usable, 2, false},
		{5 * time.Minute, "", 3, true},
		{time.Second, "hunter2", 4, true},
		{time.Second, h.url + " " + second, 5, false},
		{time.Second, "", 5, false},
	} {
		h.now = h.now.Add(test.after)
		h.parameter = test.parameter
		h.log.Reset()
		h.requireStay(nil, h.message("a", 0))
		assert.Equal(t, test.reads, h.gets)
		assert.Equal(t, test.logs, strings.Contains(h.log.String(), webhook.UnreadableParameter))
	}
}

// A message that cannot be delayed or moved still stays in the queue.
func TestMessageThatCannotBeDelayed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.refuse = true
	h.respond = func(string) int { return 500 }
	for age, want := range map[time.Duration]string{0: "cannot delay", 80 * time.Hour: "cannot be moved"} {
		h.requireStay([]string{"a"}, h.message("a", age))
		if !strings.Contains(h.log.String(), want) {
			t.Error(&h.log)
		}
	}
}
