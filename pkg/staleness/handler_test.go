package staleness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
	"toggleadmin/test/memory"
)

// stage is the two functions on a memory with types a and b of 7 days, and a toggle of each that is due.
type stage struct {
	*memory.Memory
	log     bytes.Buffer
	stream  *staleness.Stream
	sweeper *staleness.Sweeper
}

func newStage(t *testing.T, hooks memory.Hooks) *stage {
	t.Helper()
	s := &stage{Memory: memory.New(hooks)}
	for i, id := range []string{"a", "b"} {
		err := errors.Join(
			s.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: id, LifetimeDays: new(int64(7)), Position: int64(i)}),
			s.Features.Create(t.Context(), feature.Feature{Name: "of " + id, Type: id, CreatedAt: noon().AddDate(0, 0, -8)}))
		if err != nil {
			t.Fatal(err)
		}
	}
	e := &staleness.Evaluator{Toggles: s.Features, Now: noon, Pause: func(ctx context.Context, _ int) error { return ctx.Err() }}
	logger := slog.New(slog.NewJSONHandler(&s.log, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	report := staleness.Report{Logger: logger, Function: "f"}
	s.stream = &staleness.Stream{Types: s.FeatureTypes, Evaluator: e, Report: report}
	s.sweeper = &staleness.Sweeper{Types: s.FeatureTypes, Evaluator: e, Report: report}
	return s
}

// flagged gives the names of the toggles that are.
func (s *stage) flagged(t *testing.T) string {
	t.Helper()
	var names []string
	for _, id := range []string{"a", "b"} {
		f, err := s.Features.Get(t.Context(), "of "+id)
		if err != nil {
			t.Fatal(err)
		}
		if f.PotentiallyStale {
			names = append(names, id)
		}
	}
	return strings.Join(names, " ")
}

// changed is a record of a type's change; -1 is no lifetime, 0 no image at all.
func changed(sequence, id string, before, after int) events.DynamoDBEventRecord {
	image := func(days int) map[string]events.DynamoDBAttributeValue {
		switch days {
		case 0:
			return nil
		case -1:
			return map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(id)}
		}
		return map[string]events.DynamoDBAttributeValue{"lifetimeDays": events.NewNumberAttribute(fmt.Sprint(days))}
	}
	return events.DynamoDBEventRecord{EventID: "event" + sequence, Change: events.DynamoDBStreamRecord{
		SequenceNumber: sequence, Keys: map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(id)},
		OldImage: image(before), NewImage: image(after), ApproximateCreationDateTime: events.SecondsEpochTime{Time: noon().Add(-time.Second)},
	}}
}

func TestStream(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	onTypes := func(operation string) error {
		if operation == "FeatureTypes.Get" {
			return broken
		}
		return nil
	}
	onToggles := func(operation string) (bool, error) {
		if operation == "Features.Flip" {
			return false, broken
		}
		return true, nil
	}
	nobody := changed("9", "a", 1, 7)
	nobody.Change.Keys = map[string]events.DynamoDBAttributeValue{"id": events.NewNumberAttribute("7")}
	for _, tt := range []struct {
		name    string
		hooks   memory.Hooks
		records []events.DynamoDBEventRecord
		flagged string
		failed  string
	}{
		{"nothing", memory.Hooks{}, nil, "", ""},
		{"a change", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", 40, 7)}, "a", ""},
		{"the type is read, not the record", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", 7, 40)}, "a", ""},
		{"a new type", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", 0, 7)}, "a", ""},
		{"from none", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", -1, 7)}, "a", ""},
		{"to none", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", 7, -1)}, "a", ""},
		{"the same lifetime", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", 7, 7)}, "", ""},
		{"none before and after", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", -1, -1)}, "", ""},
		{"without images", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", 0, 0)}, "a", ""},
		{"two types", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "a", 1, 7), changed("2", "b", 1, 7)}, "a b", ""},
		{"a record without a type's key", memory.Hooks{}, []events.DynamoDBEventRecord{nobody, changed("10", "b", 1, 7)}, "b", ""},
		{"an unknown type", memory.Hooks{}, []events.DynamoDBEventRecord{changed("1", "x", 7, 0)}, "", ""},
		{"a type that cannot be read", memory.Hooks{Read: onTypes},
			[]events.DynamoDBEventRecord{changed("1", "a", 7, 7), changed("2", "b", 1, 7), changed("3", "b", 7, 1)}, "", "2"},
		{"toggles that cannot be written", memory.Hooks{Write: onToggles},
			[]events.DynamoDBEventRecord{changed("11", "a", 1, 7), changed("12", "a", 7, 1), changed("13", "b", 1, 7)}, "", "11 13"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tt.hooks)
			answer, err := s.stream.Handle(t.Context(), events.DynamoDBEvent{Records: tt.records})
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, f := range answer.BatchItemFailures {
				failed = append(failed, f.ItemIdentifier)
			}
			if got := strings.Join(failed, " "); got != tt.failed {
				t.Errorf("failed: %s, want %s", got, tt.failed)
			}
			if got := s.flagged(t); got != tt.flagged {
				t.Errorf("flagged: %s, want %s", got, tt.flagged)
			}
		})
	}
}

// What is left for want of time the sweep does; but it would not find the toggles of a type that is gone.
func TestStreamWithoutTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, memory.Hooks{})
	if _, err := s.sweeper.Handle(t.Context(), nil); err != nil || s.flagged(t) != "a b" {
		t.Fatal(err, s.flagged(t))
	}
	s.FeatureTypes.Delete("b")
	if _, err := s.FeatureTypes.SetLifetime(t.Context(), "a", new(int64(40))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.stream.Types = getter(func(id string) (featuretype.FeatureType, error) {
		found, err := s.FeatureTypes.Get(t.Context(), id)
		if id == "b" {
			cancel()
		}
		return found, err
	})
	batch := events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{changed("1", "a", 7, 40), changed("2", "b", 7, 0)}}
	answer, err := s.stream.Handle(ctx, batch)
	if err != nil || len(answer.BatchItemFailures) != 1 || answer.BatchItemFailures[0].ItemIdentifier != "2" {
		t.Errorf("%+v, %v", answer, err)
	}
	if _, err := s.sweeper.Handle(t.Context(), nil); err != nil || s.flagged(t) != "b" {
		t.Error(err, s.flagged(t))
	}
	if answer, err := s.stream.Handle(t.Context(), batch); err != nil || len(answer.BatchItemFailures) != 0 || s.flagged(t) != "" {
		t.Error(answer, err, s.flagged(t))
	}
	if !strings.Contains(s.log.String(), `"feature type deleted: none of its toggles stays flagged","trigger":"stream","featureType":"b"`) {
		t.Errorf("the log does not say why:\n%s", &s.log)
	}
}

type getter func(id string) (featuretype.FeatureType, error)

// Get implements featuretype.Getter.
func (g getter) Get(_ context.Context, id string) (featuretype.FeatureType, error) { return g(id) }

func TestSweep(t *testing.T) {
	t.Parallel()
	s := newStage(t, memory.Hooks{})
	for _, want := range []staleness.Summary{{Flagged: 2}, {}} {
		got, err := s.sweeper.Handle(t.Context(), json.RawMessage(`{"any":"thing"}`))
		if err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	if lines := strings.Count(s.log.String(), "\n"); lines != 2 {
		t.Errorf("%d lines: the second sweep had nothing to say:\n%s", lines, &s.log)
	}
}

func TestSweepMeetsFaults(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"FeatureTypes.List", "Features.Due"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, memory.Hooks{Read: func(o string) error {
				if o == operation {
					return errors.New("a secret of the store's")
				}
				return nil
			}})
			if _, err := s.sweeper.Handle(t.Context(), nil); err == nil || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
			if !strings.Contains(s.log.String(), "a secret of the store's") {
				t.Errorf("the log does not say why: %s", &s.log)
			}
		})
	}
}

// The line of a run, which is its metrics too.
func TestLog(t *testing.T) {
	t.Parallel()
	s := newStage(t, memory.Hooks{})
	if _, err := s.stream.Handle(t.Context(), events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{changed("1", "a", 40, 7)}}); err != nil {
		t.Fatal(err)
	}
	want := `{"level":"INFO","msg":"toggles re-evaluated","trigger":"stream","featureType":"a","lifetimeDays":7,"cutoff":"2026-11-13T12:00:00.000Z",` +
		`"flagged":1,"unflagged":0,"left":0,"overtaken":0,"read":1,"pages":32,"writes":1,"throttled":0,"retried":0,"milliseconds":0,` +
		`"lagMilliseconds":1000,"functionName":"f","_aws":{"Timestamp":1795176000000,"CloudWatchMetrics":[{"Namespace":"ToggleAdmin/Staleness",` +
		`"Dimensions":[["functionName"],["functionName","featureType"]],"Metrics":[{"Name":"flagged","Unit":"Count"},` +
		`{"Name":"unflagged","Unit":"Count"},{"Name":"left","Unit":"Count"},{"Name":"overtaken","Unit":"Count"},{"Name":"throttled","Unit":"Count"},` +
		`{"Name":"lagMilliseconds","Unit":"Milliseconds"}]}]}}` + "\n"
	if diff := cmp.Diff(want, s.log.String()); diff != "" {
		t.Error(diff)
	}
}

// Through the Lambda handler, as the sample events say it.
func TestSampleEvents(t *testing.T) {
	t.Parallel()
	s := newStage(t, memory.Hooks{})
	err := s.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: "release", LifetimeDays: new(int64(14))})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		handler interface {
			Invoke(ctx context.Context, payload []byte) ([]byte, error)
		}
		want string
	}{
		"reevaluate-staleness": {app.Event(s.stream.Handle), `{"batchItemFailures":[]}`},
		"sweep-staleness":      {app.Event(s.sweeper.Handle), `{"flagged":2,"unflagged":0,"left":0}`},
	} {
		event, err := os.ReadFile("../../events/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := tt.handler.Invoke(t.Context(), event)
		if err != nil || string(answer) != tt.want {
			t.Errorf("%s: %s, %v", name, answer, err)
		}
	}
	if !strings.Contains(s.log.String(), `"featureType":"release","lifetimeDays":14`) {
		t.Errorf("the stream's event was not understood:\n%s", &s.log)
	}
}

// FuzzStream: no event makes the handler panic, and what it answers is a record's own number.
func FuzzStream(f *testing.F) {
	event, err := os.ReadFile("../../events/reevaluate-staleness.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(event)
	f.Add([]byte(`{"Records":[{"dynamodb":{"Keys":{"id":{"N":"1"}},"NewImage":{"lifetimeDays":{"S":"x"}}}}]}`))
	f.Add([]byte(`{"Records":[{"dynamodb":{"Keys":{"id":{"NULL":true}},"OldImage":{"lifetimeDays":{"NULL":true}},"NewImage":{}}}]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s := newStage(t, memory.Hooks{})
		answer, err := app.Event(s.stream.Handle).Invoke(t.Context(), payload)
		if err == nil && string(answer) != `{"batchItemFailures":[]}` {
			t.Errorf("%s", answer)
		}
	})
}
