package bus_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/platform/parameter"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

// harness is a bus with one queue, on a clock that only the test advances.
type harness struct {
	*testing.T
	dir string
	now time.Time
	ids int
	log bytes.Buffer
	*bus.Bus
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{T: t, dir: t.TempDir(), now: time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)}
	h.open()
	return h
}

// open opens the bus as the next process does.
func (h *harness) open() {
	h.Helper()
	var err error
	h.Bus, err = bus.Open(bus.Config{
		Template: &samtemplate.Template{
			Rules: []samtemplate.Rule{{Queue: "Queue"}},
			Queues: []samtemplate.Queue{
				{LogicalID: "Dead"}, {LogicalID: "Queue", VisibilityTimeout: time.Minute, DeadLetterQueue: "Dead",
					MaxReceiveCount: 3},
			},
		},
		DataDir: h.dir, Parameters: map[string]string{"/x": "whsec_secret"}, Now: func() time.Time { return h.now },
		Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
		NewID: func() string {
			h.ids++
			return fmt.Sprintf("id-%03d", h.ids)
		},
	})
	assert.OK(h, err)
}

// engine is what the requests for DynamoDB reach.
type engine struct{}

var errEngine = errors.New("the engine")

func (engine) Do(*http.Request) (*http.Response, error) { return nil, errEngine }

// config is the AWS configuration of a function.
func (h *harness) config() aws.Config {
	return aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		HTTPClient: h.Client(engine{})}
}

// publish sends events with these subjects.
func (h *harness) publish(subjects ...string) []error {
	events := make([]eventbus.Event, len(subjects))
	for i, subject := range subjects {
		events[i] = eventbus.Event{Type: "toggleadmin.token-expiring", Subject: subject}
	}
	return eventbus.NewBus(h.config(), "bus").Publish(h.Context(), events)
}

// receive returns the subjects of the messages that are visible, with their receive counts, and the messages.
func (h *harness) receive() (found []string, messages []bus.Message) {
	messages = h.Queue("Queue").Receive(10)
	for i := range messages {
		_, subject, _ := strings.Cut(messages[i].Body, `"subject":"`)
		subject, _, _ = strings.Cut(subject, `"`)
		found = append(found, fmt.Sprint(subject, messages[i].ReceiveCount))
	}
	return found, messages
}

func (h *harness) expect(after time.Duration, want ...string) []bus.Message {
	h.Helper()
	h.now = h.now.Add(after)
	got, messages := h.receive()
	if diff := cmp.Diff(want, got); diff != "" {
		h.Errorf("received after %s (-want +got):\n%s", after, diff)
	}
	return messages
}

func TestQueue(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	if errs := h.publish("a", "b"); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	messages := h.expect(0, "a1", "b1")
	h.Queue("Queue").Delete(messages[:1])
	queue := webhook.NewQueue(h.config(), "Queue", "Dead")
	assert.OK(t, queue.Delay(t.Context(), messages[1].ReceiptHandle, time.Hour))
	h.expect(59 * time.Minute)
	last := h.expect(time.Minute, "b2")
	if err := queue.Delay(t.Context(), messages[1].ReceiptHandle, 0); !isInvalid(err) { // a handle of the receive before
		t.Error(err)
	}
	other := webhook.NewQueue(h.config(), "Other", "Queue")
	if err := errors.Join(other.Delay(t.Context(), last[0].ReceiptHandle, 0),
		other.Discard(t.Context(), "")); strings.Count(err.Error(), "DoesNotExist") != 2 {
		t.Error(err)
	}
	if err := queue.Discard(t.Context(), "discarded"); err != nil {
		t.Error(err)
	}
	h.expect(59 * time.Second)
	h.expect(time.Second, "b3")
	h.expect(time.Minute) // moved
	dead, err := os.ReadFile(filepath.Join(h.dir, "queues", "Dead.jsonl"))
	if err != nil || string(dead) != "discarded\n"+messages[1].Body+"\n" ||
		!strings.Contains(h.log.String(), "moved to the dead-letter queue") {
		t.Errorf("%v, %s", err, dead)
	}
	if files, err := os.ReadDir(filepath.Join(h.dir, "events", "queue-Queue")); err != nil || len(files) != 0 {
		t.Errorf("left are %v, %v", files, err)
	}
}

func isInvalid(err error) bool {
	_, ok := errors.AsType[*types.ReceiptHandleIsInvalid](err)
	return ok
}

// A process that was killed has lost nothing that the bus has accepted.
func TestRestart(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.publish("delayed", "processing", "done", "new")
	messages := h.expect(0, "delayed1", "processing1", "done1", "new1")
	assert.OK(t, h.Queue("Queue").ChangeVisibility(messages[0].ReceiptHandle, time.Hour))
	h.Queue("Queue").Delete(messages[2:3])
	incomplete := filepath.Join(h.dir, "events", "queue-Queue", "id-999.new")
	assert.OK(t, os.WriteFile(incomplete, []byte(`{"bo`), 0o600))
	h.open()
	h.publish("last")
	h.Queue("Queue").Delete(h.expect(0, "processing1", "new1", "last1")[2:])
	h.expect(time.Hour, "processing2", "new2", "delayed2")
}

// The publisher sends again what the queue could not store.
func TestEntryThatCannotBeStored(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	assert.OK(t, os.RemoveAll(filepath.Join(h.dir, "events")))
	if errs := h.publish("a"); errs[0] == nil || !strings.Contains(errs[0].Error(), "InternalFailure") {
		t.Errorf("%v", errs)
	}
	h.expect(0)
}

func TestOtherServices(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	secret, err := parameter.NewStore(h.config(), "/x").Get(t.Context())
	assert.OK(t, err)
	assert.Equal(t, "whsec_secret", secret)
	if _, err := parameter.NewStore(h.config(), "/y").Get(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "ParameterNotFound") {
		t.Error(err)
	}
	client := dynamodb.NewFromConfig(h.config(), func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); !errors.Is(err, errEngine) {
		t.Error(err)
	}
}
