package trigger_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/database"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	inBubble(t, everyMinute(0), nil, func(h *harness) {
		h.respond = func([]byte) ([]byte, error) { <-time.After(90 * time.Second); return nil, nil }
		h.run(130 * time.Second)
		if diff := cmp.Diff(seconds(0, 60, 120), h.times()); diff != "" {
			h.Error(diff)
		}
		want := `{"version":"0","id":"id-001","detail-type":"Scheduled Event","source":"aws.scheduler","account":"123456789012",` +
			`"time":"2000-01-01T00:00:00Z","region":"eu-west-1",` +
			`"resources":["arn:aws:scheduler:eu-west-1:123456789012:schedule/default/Minute"],"detail":"{}"}`
		if diff := cmp.Diff(want, string(h.invocations[0].Payload)); diff != "" {
			h.Error(diff)
		}
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1)
	for _, tt := range []struct {
		name     string
		function samtemplate.Function
		db       *database.Database
		want     []time.Duration
	}{
		{"stream", onStream(5, 3), db, seconds(0, 0.5, 1.5, 3.5)},
		{"stream without a limit", onStream(5, -1), db, seconds(0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 61.5, 91.5)},
		{"asynchronous", everyMinute(2), nil, seconds(0, 0.5, 1.5, 60, 60.5, 61.5)},
		{"asynchronous without retries", everyMinute(0), nil, seconds(0, 60)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, tt.function, tt.db, func(h *harness) {
				h.respond = func([]byte) ([]byte, error) { return nil, errFunction }
				h.run(100 * time.Second)
				if diff := cmp.Diff(tt.want, h.times()); diff != "" {
					h.Error(diff)
				}
			})
		})
	}
}

func TestOnFailureRecords(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1, 2)
	for _, tt := range []struct {
		name     string
		function samtemplate.Function
		db       *database.Database
		want     string // PAYLOAD and S1, S2 and ARN are those of the invocation
	}{
		{
			"stream", onStream(5, 1), db, `{
				"requestContext": {"requestId": "id-002", "functionArn": "arn:function", "condition": "RetryAttemptsExhausted", "approximateInvokeCount": 2},
				"DDBStreamBatchInfo": {"startSequenceNumber": "S1", "endSequenceNumber": "S2", "batchSize": 2, "streamArn": "ARN"}}`,
		},
		{
			"asynchronous", everyMinute(1), nil, `{
				"requestContext": {"requestId": "id-003", "functionArn": "arn:function:$LATEST", "condition": "RetriesExhausted", "approximateInvokeCount": 2},
				"requestPayload": PAYLOAD, "responsePayload": {"errorMessage": "the function fails", "errorType": "*errors.errorString"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, tt.function, tt.db, func(h *harness) {
				h.respond = func([]byte) ([]byte, error) { return nil, errFunction }
				h.run(10 * time.Second)
				content, err := os.ReadFile(filepath.Join(h.config.DataDir, "queues", "Failures.jsonl"))
				if err != nil || strings.Count(string(content), "\n") != 1 {
					h.Fatalf("%s, %v", content, err)
				}
				got, payload := decode[map[string]any](h, content), h.invocations[0].Payload
				values := []string{"PAYLOAD", string(payload)}
				if records := decode[events.DynamoDBEvent](h, payload).Records; len(records) == 2 {
					values = []string{"S1", records[0].Change.SequenceNumber, "S2", records[1].Change.SequenceNumber, "ARN", records[0].EventSourceArn}
				}
				want := decode[map[string]any](h, []byte(strings.NewReplacer(values...).Replace(tt.want)))
				want["version"], want["timestamp"] = "1.0", "2000-01-01T00:00:00.500Z"
				want["responseContext"] = map[string]any{"statusCode": 200.0, "executedVersion": "$LATEST", "functionError": "Unhandled"}
				if batch, ok := got["DDBStreamBatchInfo"].(map[string]any); ok { // values of the engine
					for _, name := range []string{"shardId", "approximateArrivalOfFirstRecord", "approximateArrivalOfLastRecord"} {
						if text, _ := batch[name].(string); len(text) < 10 {
							h.Errorf("%s: %q", name, text)
						}
						delete(batch, name)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					h.Error(diff)
				}
				if !strings.Contains(h.log.String(), `level=ERROR msg="an event is discarded"`) {
					h.Errorf("the log does not report it:\n%s", &h.log)
				}
			})
		})
	}
}

func TestQueueUnwritable(t *testing.T) {
	t.Parallel()
	f := onAccessLog()
	f.AsyncOnFailure = "Failures"
	inBubble(t, f, nil, func(h *harness) {
		if err := os.MkdirAll(filepath.Join(h.config.DataDir, "queues", "Failures.jsonl"), 0o700); err != nil {
			h.Fatal(err)
		}
		h.respond = func([]byte) ([]byte, error) { return nil, errFunction }
		h.run(2*time.Second, write("line"))
		if len(h.files()) != 1 || !strings.Contains(h.log.String(), "an on-failure record cannot be written: the event is delivered again") {
			h.Errorf("files %q, log:\n%s", h.files(), &h.log)
		}
	})
}

func seconds(all ...float64) (times []time.Duration) {
	for _, s := range all {
		times = append(times, time.Duration(s*float64(time.Second)))
	}
	return times
}

// decode decodes JSON.
func decode[T any](tb testing.TB, content []byte) (v T) {
	tb.Helper()
	if err := json.Unmarshal(content, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}
