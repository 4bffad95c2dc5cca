package trigger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

func TestDelivery(t *testing.T) {
	t.Parallel()
	db := streamed(t, 3)
	for _, test := range []struct {
		trigger   string // with the batch size and the number of retries
		responses string // of the function
		runs      time.Duration
		want      string // invocations
	}{
		{"stream 5 3", "fail", 100 * time.Second, "0s 1,2,3; 500ms 1,2,3; 1.5s 1,2,3; 3.5s 1,2,3"},
		{
			trigger:   "stream 5 -1",
			responses: "fail",
			runs:      100 * time.Second,
			want: "0s 1,2,3; 500ms 1,2,3; 1.5s 1,2,3; 3.5s 1,2,3; 7.5s 1,2,3; 15.5s 1,2,3; 31.5s 1,2,3; " +
				"1m1.5s 1,2,3; 1m31.5s 1,2,3",
		},
		// retries are counted for each batch
		{"stream 1 1", "fail; ; fail; ; fail;", 10 * time.Second, "0s 1; 500ms 1; 500ms 2; 1s 2; 1s 3; 1.5s 3"},
		{"stream 3 5", "null", 10 * time.Second, "0s 1,2,3"},
		{"stream 3 5", `{"batchItemFailures": null}`, 10 * time.Second, "0s 1,2,3"},
		{"stream 3 5", `{"batchItemFailures": [{"itemIdentifier": "#1"}]};`, 10 * time.Second, "0s 1,2,3; 500ms 1,2,3"},
		{"stream 3 5", `{"batchItemFailures": [{"itemIdentifier": "#3"}]};`, 10 * time.Second, "0s 1,2,3; 500ms 3"},
		{
			trigger:   "stream 3 5",
			responses: `{"batchItemFailures": [{"itemIdentifier": "#3"}, {"itemIdentifier": "#2"}, {"itemIdentifier": "#3"}]};`,
			runs:      10 * time.Second,
			want:      "0s 1,2,3; 500ms 2,3",
		},
		{"stream 3 5", `{"batchItemFailures": [{"itemIdentifier": ""}]};`, 10 * time.Second, "0s 1,2,3; 500ms 1,2,3"},
		{
			trigger:   "stream 3 5",
			responses: `{"batchItemFailures": [{"itemIdentifier": "#3"}, {"itemIdentifier": "x"}]};`,
			runs:      10 * time.Second,
			want:      "0s 1,2,3; 500ms 1,2,3",
		},
		{"stream 3 5", "not JSON;", 10 * time.Second, "0s 1,2,3; 500ms 1,2,3"},
		// asynchronous
		{"schedule 0 2", "fail", 100 * time.Second, "0s; 500ms; 1.5s; 1m0s; 1m0.5s; 1m1.5s"},
		{"schedule 0 0", "fail", 100 * time.Second, "0s; 1m0s"},
		// nothing is deleted if it is not known what the function has processed
		{"queue 2 0", `{"batchItemFailures":[{"itemIdentifier":"#2"}]};`, 90 * time.Second, "0s a1,b1; 0s c1; 1m0s b2"},
		{"queue 2 0", "fail", 90 * time.Second, "0s a1,b1; 0s c1; 1m0s a2,b2; 1m0s c2"},
		{
			trigger:   "queue 2 0",
			responses: `{"batchItemFailures":[{"itemIdentifier":"x"}]}`,
			runs:      90 * time.Second,
			want:      "0s a1,b1; 0s c1; 1m0s a2,b2; 1m0s c2",
		},
	} {
		inBubble(t, test.trigger, db, func(h *harness) {
			for _, body := range []string{"a", "b", "c"} {
				assert.OK(h, h.config.Bus.Queue("Queue").Send(body))
			}
			h.responses = strings.Split(test.responses, ";")
			h.run(test.runs)
			assert.Equal(h, test.want, strings.Join(h.invocations, "; "))
		})
	}
}

func TestQueueEvent(t *testing.T) {
	t.Parallel()
	inBubble(t, "queue 2 0", nil, func(h *harness) {
		assert.OK(h, h.config.Bus.Queue("Queue").Send("a"))
		h.run(time.Second)
		assert.Equal(h, []string{`{"Records":[{"messageId":"id-001","receiptHandle":"id-002","body":"a","md5OfBody":"",` +
			`"md5OfMessageAttributes":"","attributes":{"ApproximateReceiveCount":"1","SentTimestamp":"946684800000"},` +
			`"messageAttributes":null,"eventSourceARN":"arn:aws:sqs:eu-west-1:123456789012:Queue","eventSource":"aws:sqs",` +
			`"awsRegion":"eu-west-1"}]}`}, h.payloads)
	})
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	inBubble(t, "schedule 0 0", nil, func(h *harness) {
		h.responses = []string{"90s"}
		h.run(130 * time.Second)
		assert.Equal(h, []string{"0s", "1m0s", "2m0s"}, h.invocations)
		want := `{"version":"0","id":"id-001","detail-type":"Scheduled Event","source":"aws.scheduler",` +
			`"account":"123456789012","time":"2000-01-01T00:00:00Z","region":"eu-west-1",` +
			`"resources":["arn:aws:scheduler:eu-west-1:123456789012:schedule/default/Minute"],"detail":"{}"}`
		assert.Equal(h, want, h.payloads[0])
		// The end of the program aborts the others.
		assert.Equal(h, []*terminal.Entry{{
			Method: "event", Path: "schedule Minute", Function: "do-things", ID: "id-002", Duration: 90 * time.Second,
			Quiet: true,
		}}, h.ended)
	})
}

func TestOnFailureRecords(t *testing.T) {
	t.Parallel()
	db := streamed(t, 2)
	const payload = "PAYLOAD" // the event of the invocation
	for _, test := range []struct{ trigger, record string }{
		{
			trigger: "stream 5 1",
			record: `{"DDBStreamBatchInfo":{"approximateArrivalOfFirstRecord":"",` +
				`"approximateArrivalOfLastRecord":"","batchSize":2,"endSequenceNumber":"#2","shardId":"",` +
				`"startSequenceNumber":"#1","streamArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/"},` +
				`"requestContext":{"approximateInvokeCount":2,"condition":"RetryAttemptsExhausted",` +
				`"functionArn":"arn:function","requestId":"id-002"},` +
				`"responseContext":{"executedVersion":"$LATEST","functionError":"Unhandled","statusCode":200},` +
				`"timestamp":"2000-01-01T00:00:00.500Z","version":"1.0"}`,
		},
		{
			trigger: "schedule 0 1",
			record: `{"requestContext":{"approximateInvokeCount":2,"condition":"RetriesExhausted",` +
				`"functionArn":"arn:function:$LATEST","requestId":"id-003"},"requestPayload":` + payload +
				`,"responseContext":{"executedVersion":"$LATEST","functionError":"Unhandled","statusCode":200},` +
				`"responsePayload":{"errorMessage":"the function fails","errorType":"*errors.errorString"},` +
				`"timestamp":"2000-01-01T00:00:00.500Z","version":"1.0"}`,
		},
	} {
		inBubble(t, test.trigger, db, func(h *harness) {
			h.responses = []string{"fail"}
			h.run(10 * time.Second)
			content, err := os.ReadFile(filepath.Join(h.dir, "queues", "Failures.jsonl"))
			assert.OK(h, err)
			assert.Equal(h, strings.ReplaceAll(test.record, payload, h.payloads[0])+"\n", h.constant(string(content)))
			h.logged(`level=ERROR msg="an event is discarded"`)
			assert.ErrorIs(h, h.ended[0].Cause, errFunction)
		})
	}
}

func TestQueueUnwritable(t *testing.T) {
	t.Parallel()
	inBubble(t, "log 0 0", nil, func(h *harness) {
		assert.OK(h, os.Mkdir(filepath.Join(h.dir, "queues", "Failures.jsonl"), 0o700))
		h.responses = []string{"fail"}
		h.run(2*time.Second, "line")
		h.logged("an on-failure record cannot be written: the event is delivered again")
		assert.Equal(h, 1, len(h.files()))
	})
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*samtemplate.Template){
		"function DoThings, queue Jobs: the local service supports only queues that are targets of a rule": func(
			s *samtemplate.Template) {
			s.Functions[0].Queues = []samtemplate.QueueMapping{{Queue: "Jobs"}}
		},
		"function DoThings subscribes to log group AccessLogs: the local service supports only the log group of the " +
			"access log, Other": func(
			s *samtemplate.Template) {
			s.API.AccessLogGroup = "Other"
		},
	} {
		inBubble(t, "log 0 0", nil, func(h *harness) {
			change(h.config.Template)
			if _, err := trigger.New(h.config); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
