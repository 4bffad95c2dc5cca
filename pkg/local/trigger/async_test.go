package trigger_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	inBubble(t, everyMinute(0), nil, func(h *harness) {
		h.respond = func([]byte) ([]byte, error) { <-time.After(90 * time.Second); return nil, nil }
		h.run(130 * time.Second)
		assert.Equal(h, seconds(0, 60, 120), h.times())
		want := `{"version":"0","id":"id-001","detail-type":"Scheduled Event","source":"aws.scheduler",` +
			`"account":"123456789012",` +
			`"time":"2000-01-01T00:00:00Z","region":"eu-west-1",` +
			`"resources":["arn:aws:scheduler:eu-west-1:123456789012:schedule/default/Minute"],"detail":"{}"}`
		assert.Equal(h, want, string(h.invocations[0].Payload))
		// The end of the program aborts the others.
		assert.Equal(h, []*terminal.Entry{{
			Method: "event", Path: "schedule Minute", Function: "do-things", ID: "id-002", Duration: 90 * time.Second, Quiet: true,
		}}, h.ended)
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
				assert.Equal(h, tt.want, h.times())
				if !errors.Is(h.ended[0].Cause, errFunction) {
					h.Error(h.ended[0].Cause)
				}
			})
		})
	}
}

func TestRetriesOfEachBatch(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1, 2)
	inBubble(t, onStream(1, 1), db, func(h *harness) {
		h.respond = func([]byte) ([]byte, error) {
			if len(h.invocations)%2 == 1 {
				return nil, errFunction
			}
			return nil, nil
		}
		h.run(time.Minute)
		assert.Equal(h, []string{"1", "1", "2", "2"}, h.records())
	})
}

func TestOnFailureRecords(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1, 2)
	const response = `"responseContext":{"executedVersion":"$LATEST","functionError":"Unhandled","statusCode":200},`
	for _, tt := range []struct {
		name     string
		function samtemplate.Function
		db       *database.Database
		want     string // FIRST, LAST and PAYLOAD are those of the invocation
	}{
		{
			"stream", onStream(5, 1), db,
			`{"DDBStreamBatchInfo":{"approximateArrivalOfFirstRecord":"TIME","approximateArrivalOfLastRecord":"TIME",` +
				`"batchSize":2,"endSequenceNumber":"LAST","shardId":"SHARD","startSequenceNumber":"FIRST","streamArn":"ARN"},` +
				`"requestContext":{"approximateInvokeCount":2,"condition":"RetryAttemptsExhausted","functionArn":"arn:function","requestId":"id-002"},` +
				response + `"timestamp":"2000-01-01T00:00:00.500Z","version":"1.0"}`,
		},
		{
			"asynchronous", everyMinute(1), nil,
			`{"requestContext":{"approximateInvokeCount":2,"condition":"RetriesExhausted","functionArn":"arn:function:$LATEST","requestId":"id-003"},` +
				`"requestPayload":PAYLOAD,` + response +
				`"responsePayload":{"errorMessage":"the function fails","errorType":"*errors.errorString"},` +
				`"timestamp":"2000-01-01T00:00:00.500Z","version":"1.0"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, tt.function, tt.db, func(h *harness) {
				h.respond = func([]byte) ([]byte, error) { return nil, errFunction }
				h.run(10 * time.Second)
				content, err := os.ReadFile(filepath.Join(h.dir, "queues", "Failures.jsonl"))
				assert.OK(h, err)
				payload := h.invocations[0].Payload
				values := []string{"PAYLOAD", string(payload)}
				if records := decode[events.DynamoDBEvent](h, payload).Records; len(records) == 2 {
					values = []string{"FIRST", records[0].Change.SequenceNumber, "LAST", records[1].Change.SequenceNumber}
				}
				got := regexp.MustCompile(`"shardId":"[^"]+"`).ReplaceAllString(string(content), `"shardId":"SHARD"`)
				got = regexp.MustCompile(`"streamArn":"arn:aws:[^"]+"`).ReplaceAllString(got, `"streamArn":"ARN"`)
				got = regexp.MustCompile(`Record":"2[0-9T:-]+Z"`).ReplaceAllString(got, `Record":"TIME"`)
				assert.Equal(h, strings.NewReplacer(values...).Replace(tt.want)+"\n", got)
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
		assert.OK(h, os.MkdirAll(filepath.Join(h.dir, "queues", "Failures.jsonl"), 0o700))
		h.respond = func([]byte) ([]byte, error) { return nil, errFunction }
		h.run(2*time.Second, write("line"))
		if len(h.files()) != 1 ||
			!strings.Contains(h.log.String(), "an on-failure record cannot be written: the event is delivered again") {
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
	assert.OK(tb, json.Unmarshal(content, &v))
	return v
}
