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

	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
)

// bus fails in one way, and records the subjects of events that it accepts.
type bus struct {
	fails string

	mu    sync.Mutex
	calls int
	sent  []string
}

func (b *bus) failure(subject string) error {
	switch b.fails {
	case "once":
		if b.calls == 1 {
			return errors.New("lost")
		}
	case "always":
		return errors.New("down")
	case "throttles", "throttles " + subject:
		return &eventbus.RejectedError{Code: "ThrottlingException"}
	case "rejects " + subject, "rejects all":
		return &eventbus.RejectedError{Code: "InvalidArgument"}
	}
	return nil
}

// Publish implements the Bus of a Publisher.
func (b *bus) Publish(_ context.Context, all []eventbus.Event) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	errs := make([]error, len(all))
	for i, e := range all {
		if errs[i] = b.failure(e.Subject); errs[i] == nil {
			b.sent = append(b.sent, e.Subject)
		}
	}
	return errs
}

// names are those of users. They cannot be read if it says so.
type names string

// Fill implements the Names of a Publisher.
func (n names) Fill(_ context.Context, all []eventlog.Event) error {
	if n == "no names" {
		return errors.New("no names")
	}
	for i := range all {
		all[i].By.Name = "Ada"
	}
	return nil
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

// publish handles records of events that have an age. It returns what the bus accepts, the number of pauses, what is
// rejected, and the position from which the stream delivers again.
func publish(t *testing.T, fails string, age time.Duration, records ...events.DynamoDBEventRecord) (
	sent []string, pauses int, rejected, failed string,
) {
	t.Helper()
	b := &bus{fails: fails}
	var log bytes.Buffer
	p := &eventbus.Publisher{
		Bus: b, Names: names(fails), Source: "s", Now: func() time.Time { return at().Add(age) }, Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		Pause: func(context.Context, int) error { pauses++; return nil },
		Reject: func(_ context.Context, id string) error {
			if fails == "rejects all" {
				return errors.New("no queue")
			}
			rejected += id
			return nil
		},
	}
	response, err := p.Publish(t.Context(), events.DynamoDBEvent{Records: records})
	if err != nil || response.BatchItemFailures == nil || strings.Contains(log.String(), "no queue") != (fails == "rejects all") {
		t.Errorf("%+v, error %v, log %s", response, err, &log)
	}
	for _, f := range response.BatchItemFailures {
		failed += f.ItemIdentifier
	}
	slices.Sort(b.sent)
	return slices.Compact(b.sent), pauses, rejected, failed
}

func TestPublishRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		bus      string // how it fails
		records  int
		age      time.Duration
		accepted int
		pauses   int
		rejected string
		failed   string
	}{
		{bus: "never"},
		{bus: "never", records: 25, accepted: 25},
		{bus: "once", records: 25, accepted: 25, pauses: 1},
		{bus: "always", records: 25, age: time.Hour, pauses: 3, failed: "sequence0"},
		{bus: "no names", records: 2, age: 23 * time.Hour, failed: "sequence0"},
		{bus: "throttles", records: 3, age: time.Hour, pauses: 3, failed: "sequence0"},
		{bus: "throttles 1", records: 3, age: 23 * time.Hour, accepted: 2, pauses: 3, failed: "sequence1"},
		{bus: "rejects 7", records: 25, accepted: 24, pauses: 3, failed: "sequence7"},
		{bus: "rejects 7", records: 25, age: time.Minute, accepted: 24, pauses: 3, rejected: "1436122512098456"},
		// it accepts no other
		{bus: "rejects 0", records: 1, age: time.Minute, pauses: 3, failed: "sequence0"},
		{bus: "rejects 0", records: 1, age: 15 * time.Minute, pauses: 3, rejected: "1436122512098400"},
		// the queue cannot store the id
		{bus: "rejects all", records: 2, age: time.Hour, pauses: 3, failed: "sequence0"},
	} {
		var records []events.DynamoDBEventRecord
		for i := range test.records {
			records = append(records, appended(i))
		}
		sent, pauses, rejected, failed := publish(t, test.bus, test.age, records...)
		assert.Equal(t, test.accepted, len(sent))
		assert.Equal(t, test.pauses, pauses)
		assert.Equal(t, []string{test.rejected, test.failed}, []string{rejected, failed})
	}
}

// TestOtherRecords checks that deletions, markers and items of others are not sent, and that the ids of the latter are
// stored.
func TestOtherRecords(t *testing.T) {
	t.Parallel()
	deleted, marker, malformed := appended(1), appended(2), appended(3)
	deleted.EventName = "REMOVE"
	delete(marker.Change.NewImage, "type")
	malformed.Change.NewImage["type"] = events.NewStringAttribute("feature-type-updated")
	malformed.Change.NewImage["data"] = events.NewStringAttribute("{")
	sent, _, rejected, failed := publish(t, "never", 0, deleted, marker, malformed, appended(4))
	assert.Equal(t, []string{"4", fmt.Sprint(eventlog.FirstID(at()) + 24), ""}, append(sent, rejected, failed))
	sent, _, _, failed = publish(t, "rejects all", 0, malformed) // the queue cannot store the id
	assert.Equal(t, []string{"sequence3"}, append(sent, failed))
}
