package eventbus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/api/eventbus"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/database"
)

// bus records the subjects of events and fails with the errors of fail.
type bus struct {
	fail func(call int, subject string) error

	mu    sync.Mutex
	calls int
	sent  []string
}

func (b *bus) Publish(_ context.Context, all []eventbus.Event) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	errs := make([]error, len(all))
	for i, e := range all {
		if b.fail != nil {
			errs[i] = b.fail(b.calls, e.Subject)
		}
		if errs[i] == nil {
			b.sent = append(b.sent, e.Subject)
		}
	}
	return errs
}

// appended returns a record of the stream: the event of the toggle with a number.
func appended(n int) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{EventName: "INSERT", Change: events.DynamoDBStreamRecord{
		SequenceNumber: fmt.Sprint("sequence", n), NewImage: map[string]events.DynamoDBAttributeValue{
			"shard":     events.NewStringAttribute("0"),
			"id":        events.NewNumberAttribute(fmt.Sprint(eventlog.FirstID(at()) + int64(8*n))),
			"type":      events.NewStringAttribute("feature-created"),
			"subject":   events.NewStringAttribute(fmt.Sprint("toggle:", n)),
			"createdBy": events.NewStringAttribute("Ada"), "data": events.NewStringAttribute(`{"name":"x"}`),
		},
	}}
}

func records(n int) (all events.DynamoDBEvent) {
	for i := range n {
		all.Records = append(all.Records, appended(i))
	}
	return all
}

func throttled(int, string) error { return &eventbus.RejectedError{Code: "ThrottlingException"} }

func TestPublishRecords(t *testing.T) {
	t.Parallel()
	invalid := func(subject string) func(int, string) error {
		return func(_ int, s string) error {
			if s == subject {
				return &eventbus.RejectedError{Code: "InvalidArgument"}
			}
			return nil
		}
	}
	for name, tt := range map[string]struct {
		fail     func(call int, subject string) error
		n        int
		age      time.Duration
		sent     int
		failed   string // the position from which the stream delivers again
		rejected string
	}{
		"none": {nil, 0, 0, 0, "", ""},
		"all":  {nil, 25, 0, 25, "", ""},
		"a failed first call": {func(call int, _ string) error { return map[int]error{1: errors.New("lost")}[call] }, 25, 0,
			25, "", ""},
		"a bus that refuses":    {func(int, string) error { return errors.New("down") }, 25, time.Hour, 0, "sequence0", ""},
		"a bus that throttles":  {throttled, 3, time.Hour, 0, "sequence0", ""},
		"one rejected":          {invalid("7"), 25, 0, 24, "sequence7", ""},
		"one rejected for long": {invalid("7"), 25, time.Minute, 24, "", "1436122512098456"},
		"alone":                 {invalid("0"), 1, time.Minute, 0, "sequence0", ""},
		"alone for long":        {invalid("0"), 1, 15 * time.Minute, 0, "", "1436122512098400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, rejected := &bus{fail: tt.fail}, ""
			p := &eventbus.Publisher{
				Bus: b, Source: "s", Now: func() time.Time { return at().Add(tt.age) }, Logger: slog.New(slog.DiscardHandler),
				Pause:  func(context.Context, int) error { return nil },
				Reject: func(_ context.Context, id string) error { rejected += id; return nil },
			}
			response, err := p.Publish(t.Context(), records(tt.n))
			failed := ""
			for _, f := range response.BatchItemFailures {
				failed += f.ItemIdentifier
			}
			if err != nil || failed != tt.failed || rejected != tt.rejected || response.BatchItemFailures == nil {
				t.Errorf("failed %q, rejected %q, error %v", failed, rejected, err)
			}
			slices.Sort(b.sent)
			if distinct := slices.Compact(b.sent); len(distinct) != tt.sent {
				t.Errorf("sent: %v", distinct)
			}
		})
	}
}

// TestRejectFails checks that an event stays in the stream if the queue cannot store its id.
func TestRejectFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p := &eventbus.Publisher{
		Bus: &bus{fail: func(int, string) error { return &eventbus.RejectedError{Code: "InvalidArgument"} }}, Source: "s",
		Now: func() time.Time { return at().Add(time.Hour) }, Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		Pause:  func(context.Context, int) error { return nil },
		Reject: func(context.Context, string) error { return errors.New("no queue") },
	}
	response, err := p.Publish(t.Context(), records(2))
	if err != nil || len(response.BatchItemFailures) != 1 || response.BatchItemFailures[0].ItemIdentifier != "sequence0" {
		t.Errorf("%+v, %v", response, err)
	}
	if !strings.Contains(log.String(), "no queue") {
		t.Error(log.String())
	}
}

// TestOtherRecords checks that deletions, markers and items of others are not sent.
func TestOtherRecords(t *testing.T) {
	t.Parallel()
	deleted, marker, malformed := appended(1), appended(2), appended(3)
	deleted.EventName = "REMOVE"
	delete(marker.Change.NewImage, "type")
	malformed.Change.NewImage["type"] = events.NewStringAttribute("feature-type-updated")
	malformed.Change.NewImage["data"] = events.NewStringAttribute("{")
	b := &bus{}
	p := &eventbus.Publisher{Bus: b, Source: "s", Now: at, Logger: slog.New(slog.DiscardHandler)}
	response, err := p.Publish(t.Context(),
		events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{deleted, marker, malformed, appended(4)}})
	if err != nil || len(response.BatchItemFailures) != 0 || !slices.Equal(b.sent, []string{"4"}) {
		t.Error(response, err, b.sent)
	}
}

func TestNewPublishFunction(t *testing.T) {
	t.Parallel()
	env := &app.Env{Vars: map[string]string{"EVENT_BUS": "b", "EVENT_SOURCE": "s", "REJECTED_EVENTS_QUEUE": "q"},
		Logger: slog.New(slog.DiscardHandler)}
	database.RequireVariables(t, env, eventbus.NewPublishFunction, "EVENT_BUS", "EVENT_SOURCE", "REJECTED_EVENTS_QUEUE")
}
