package traffic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/traffic"
)

// fixed is a recorder with one answer.
type fixed struct {
	recorded traffic.Recorded
	err      error
	deadline time.Duration // that it was given
}

func (f *fixed) Record(ctx context.Context, _ *traffic.Batch) (traffic.Recorded, error) {
	if deadline, ok := ctx.Deadline(); ok {
		f.deadline = time.Until(deadline)
	}
	return f.recorded, f.err
}

// delivered gives the handler's answer and its one line in the log.
func delivered(t *testing.T, f *fixed, function, data string) (traffic.Summary, map[string]any, error) {
	t.Helper()
	var out bytes.Buffer
	log := &traffic.Log{
		Recorder: f, Paths: paths(t), Now: noon, Function: function, Logger: slog.New(slog.NewJSONHandler(&out, nil)),
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	summary, err := log.Deliver(ctx, events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: data}})
	var line map[string]any
	if unmarshal := json.Unmarshal(out.Bytes(), &line); unmarshal != nil {
		t.Fatalf("%v: %s", unmarshal, &out)
	}
	delete(line, "time")
	return summary, line, err
}

func threeLines() string {
	return pack(message("s", event("1", line(types, "200", noon())), event("2", "secret"), event("3", line("-", "404", noon()))))
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	f := &fixed{recorded: traffic.Recorded{Counted: 1, Writes: 1}}
	summary, got, err := delivered(t, f, "", threeLines())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(traffic.Summary{Events: 3, Counted: 1, Uncounted: 1, Malformed: 1}, summary); diff != "" {
		t.Error(diff)
	}
	want := map[string]any{
		"level": "WARN", "msg": "requests counted", "batch": got["batch"], "shard": float64(traffic.Shard("s")), "events": 3.0, "counted": 1.0,
		"duplicate": 0.0, "uncounted": 1.0, "malformed": 1.0, "repeated": 0.0, "writes": 1.0, "milliseconds": 0.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f.deadline < 58*time.Second || f.deadline > 59500*time.Millisecond {
		t.Errorf("the recorder has %s of a minute", f.deadline)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	_, got, err := delivered(t, &fixed{}, "the-function", threeLines())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"Timestamp": float64(noon().UnixMilli()), "CloudWatchMetrics": []any{map[string]any{
		"Namespace": "ToggleAdmin/Traffic", "Dimensions": []any{[]any{"functionName"}}, "Metrics": []any{
			map[string]any{"Name": "counted", "Unit": "Count"}, map[string]any{"Name": "duplicate", "Unit": "Count"},
			map[string]any{"Name": "malformed", "Unit": "Count"},
		},
	}}}
	if diff := cmp.Diff(want, got["_aws"]); diff != "" || got["functionName"] != "the-function" {
		t.Error(got["functionName"], diff)
	}
	for _, name := range []string{"counted", "duplicate", "malformed"} {
		if _, ok := got[name].(float64); !ok {
			t.Errorf("%s is no number", name)
		}
	}
}

// TestFailures: Lambda is told to deliver again, and nothing but that; the cause is in the log, and no line's text.
func TestFailures(t *testing.T) {
	t.Parallel()
	cause := errors.New("table 7 at http://127.0.0.1:1 " + strings.Repeat("x", 10_000))
	for name, tt := range map[string]struct {
		data string
		f    fixed
		says string
	}{
		"unreadable":   {"%secret", fixed{}, "delivery not read"},
		"not recorded": {threeLines(), fixed{err: cause}, "delivery not recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summary, got, err := delivered(t, &tt.f, "f", tt.data)
			if err == nil || strings.Contains(err.Error(), "7") || summary != (traffic.Summary{}) {
				t.Errorf("%+v, %v", summary, err)
			}
			text, ok := got["cause"].(string)
			if !ok || text == "" || len(text) > 4200 || strings.Contains(text, "secret") || got["level"] != "ERROR" || got["msg"] != tt.says {
				t.Errorf("%.200v", got)
			}
		})
	}
}
