package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/webhook"
)

// The first retry is within 30 seconds, and the last one three days after the first attempt. SQS refuses more than 12 hours.
func TestRetryDelays(t *testing.T) {
	t.Parallel()
	var got []string
	var total time.Duration
	for attempt := 1; attempt < webhook.Attempts; attempt++ {
		d := webhook.RetryDelay(attempt)
		got, total = append(got, d.String()), total+d
		if d >= 12*time.Hour {
			t.Errorf("attempt %d: %s", attempt, d)
		}
	}
	want := strings.Fields("15s 45s 2m15s 6m45s 20m15s 1h0m45s 3h2m15s 9h6m45s 11h45m0s 11h45m0s 11h45m0s 11h45m0s 11h45m0s")
	if diff := cmp.Diff(want, got); diff != "" || total < 72*time.Hour || total > 73*time.Hour {
		t.Errorf("%s in total, delays (-want +got):\n%s", total, diff)
	}
	if last := webhook.RetryDelay(webhook.Attempts); last != 0 {
		t.Errorf("after the last attempt: %s", last)
	}
}

// harness is the function with a webhook, and with AWS as a RoundTripper.
type harness struct {
	*testing.T
	respond func(id string) int // the webhook
	secret  func() string       // the text of the secret; empty: it cannot be read
	refuse  bool                // SQS refuses

	mu       sync.Mutex
	now      time.Time
	posted   []string          // ids
	delays   map[string]string // seconds by receipt handle
	gets     int
	log      bytes.Buffer
	function func(context.Context, []byte) ([]byte, error)
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{
		T: t, now: time.Now(), delays: map[string]string{}, respond: func(string) int { return http.StatusOK }, secret: func() string { return secret },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("Webhook-Id")
		h.mu.Lock()
		defer h.mu.Unlock()
		h.posted = append(h.posted, id)
		w.WriteHeader(h.respond(id))
	}))
	t.Cleanup(server.Close)
	function, err := webhook.NewDeliverFunction(&app.Env{
		Vars: map[string]string{"WEBHOOK_URL": server.URL, "WEBHOOK_SECRET_NAME": "/hook", "WEBHOOK_QUEUE": "queue"},
		AWS: aws.Config{
			Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: &http.Client{Transport: h},
		},
		Now: func() time.Time {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.now
		},
		Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.function = function.Invoke
	return h
}

// RoundTrip is AWS.
func (h *harness) RoundTrip(r *http.Request) (*http.Response, error) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	status, response := http.StatusOK, "{}"
	switch target := r.Header.Get("X-Amz-Target"); target {
	case "AmazonSSM.GetParameter":
		h.gets++
		if diff := cmp.Diff(`{"Name":"/hook","WithDecryption":true}`, string(content)); diff != "" {
			h.Error(diff)
		}
		response = fmt.Sprintf(`{"Parameter":{"Value":%q}}`, h.secret())
		if h.secret() == "" {
			status, response = http.StatusBadRequest, `{"__type":"ParameterNotFound"}`
		}
	case "AmazonSQS.ChangeMessageVisibility":
		var in struct {
			QueueURL, ReceiptHandle string
			VisibilityTimeout       int
		}
		if err := json.Unmarshal(content, &in); err != nil {
			return nil, err
		}
		if h.refuse {
			status, response = http.StatusBadRequest, `{"__type":"com.amazonaws.sqs#ReceiptHandleIsInvalid"}`
			break
		}
		h.delays[in.ReceiptHandle] = fmt.Sprint(in.VisibilityTimeout)
	default:
		h.Errorf("unexpected call %s", target)
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(response)), Header: http.Header{}}, nil
}

// message is a message of the queue whose event has the same id.
func message(id string, attempt int) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "message-" + id, ReceiptHandle: id, Body: fmt.Sprintf(`{"specversion":"1.0","id":%q,"type":"t"}`, id),
		Attributes: map[string]string{"ApproximateReceiveCount": fmt.Sprint(attempt)},
	}
}

// invoke invokes the function with a batch and returns the receipt handles of the messages that stay in the queue.
func (h *harness) invoke(messages ...events.SQSMessage) (failed []string) {
	h.Helper()
	payload, err := json.Marshal(events.SQSEvent{Records: messages})
	if err != nil {
		h.Fatal(err)
	}
	output, err := h.function(h.Context(), payload)
	var response events.SQSEventResponse
	if err := errors.Join(err, json.Unmarshal(output, &response)); err != nil || !strings.HasPrefix(string(output), `{"batchItemFailures":[`) {
		h.Fatalf("%s, %v", output, err)
	}
	for _, f := range response.BatchItemFailures {
		failed = append(failed, strings.TrimPrefix(f.ItemIdentifier, "message-"))
	}
	return failed
}

func TestPartialBatch(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.respond = func(id string) int {
		return map[string]int{"b": 500, "c": 410, "d": 302, "e": 429}[id] + map[string]int{"a": 204}[id]
	}
	poison, noID := message("p", 3), message("q", 3)
	poison.Body, noID.Body = "not JSON", `{"id":"two words"}`
	got := h.invoke(message("a", 1), message("b", 1), message("c", 1), poison, message("d", 4), noID, message("e", webhook.Attempts))
	if diff := cmp.Diff([]string{"b", "p", "d", "q", "e"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"b": "15", "d": "405", "e": "0", "p": "0", "q": "0"}, h.delays); diff != "" {
		t.Error(diff)
	}
	if len(h.posted) != 5 || h.gets != 1 {
		t.Errorf("posted %v, the secret was read %d times", h.posted, h.gets)
	}
}

// Without its secret, the webhook gets nothing, and the events stay in the queue with the usual delays.
func TestSecretThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hunter2"} {
		h := newHarness(t)
		h.secret = func() string { return text }
		if got := h.invoke(message("a", 2), message("b", 1)); len(got) != 2 || len(h.posted) != 0 {
			t.Errorf("%q: %v stay, posted %v", text, got, h.posted)
		}
		if diff := cmp.Diff(map[string]string{"a": "45", "b": "15"}, h.delays); diff != "" {
			t.Error(diff)
		}
		if log := h.log.String(); !strings.Contains(log, "the secret of the webhook cannot be read") || strings.Contains(log, "hunter2") {
			t.Error(log)
		}
		h.secret = func() string { return secret } // corrected
		if got := h.invoke(message("a", 3)); got != nil {
			t.Errorf("%v stay", got)
		}
	}
}

// A rotation takes effect within five minutes.
func TestSecretIsReadAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, step := range []struct {
		after time.Duration
		gets  int
	}{{0, 1}, {4 * time.Minute, 1}, {time.Minute, 2}} {
		h.now = h.now.Add(step.after)
		if h.invoke(message("a", 1)); h.gets != step.gets {
			t.Errorf("after %s it was read %d times, want %d", step.after, h.gets, step.gets)
		}
	}
}

// A message that cannot be delayed still stays in the queue.
func TestMessageThatCannotBeDelayed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.refuse = true
	h.respond = func(string) int { return 500 }
	if got := h.invoke(message("a", 1)); len(got) != 1 || !strings.Contains(h.log.String(), "cannot be delayed") {
		t.Errorf("%v stay, log %s", got, &h.log)
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"": "WEBHOOK_URL is missing", "ftp://private": "WEBHOOK_URL: the URL must begin with https://"} {
		_, err := webhook.NewDeliverFunction(&app.Env{Vars: map[string]string{"WEBHOOK_URL": url}})
		for _, text := range []string{want, "WEBHOOK_SECRET_NAME is missing", "WEBHOOK_QUEUE is missing"} {
			if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "private") {
				t.Errorf("%q: %v, want %q", url, err, text)
			}
		}
	}
}
