package trigger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// drain is the time for invocations at the end of a run.
const drain = time.Second

var (
	errFunction = errors.New("the function fails")
	// The values in the events and records of a stream that differ in each run.
	varying = regexp.MustCompile(`(shardId":"|eventID":"|` +
		`(?:eventSourceARN|streamArn)":"arn:aws:dynamodb:eu-west-1:123456789012:table/)[^"]+` +
		`|(Record":")2[0-9T:-]+Z|(CreationDateTime":|SizeBytes":)[1-9]\d+`)
)

// harness runs Triggers with one function.
type harness struct {
	*testing.T
	config trigger.Config
	dir    string // DATA_DIR
	// What the function does in each invocation, and from the last element on: a duration to wait for, "fail", or its
	// response, with the identifiers of the items as #1, #2.
	responses []string
	begin     time.Time

	mu          sync.Mutex
	ids         int
	invocations []string // the time since begin, and the items of the event
	payloads    []string // without values that differ in each run
	identifiers []string // of the items of the last event
	ended       []*terminal.Entry
	log         bytes.Buffer
}

// inBubble runs a test of a function in a synctest bubble. The trigger is stream, queue, schedule or log, with the batch
// size and the number of retries. The database is needed for streams only.
func inBubble(t *testing.T, source string, db *database.Database, test func(h *harness)) {
	t.Helper()
	var kind string
	var size, retries int
	_, _ = fmt.Sscan(source, &kind, &size, &retries)
	f := samtemplate.Function{LogicalID: "DoThings", Name: "do-things", AsyncRetries: retries, AsyncOnFailure: "Failures"}
	switch kind {
	case "stream":
		f.Streams = []samtemplate.Stream{{
			Table: "FeatureTypes", BatchSize: size, RetryAttempts: retries, OnFailure: "Failures"}}
	case "queue":
		f.Queues = []samtemplate.QueueMapping{{Queue: "Queue", BatchSize: size}}
	case "schedule":
		f.Schedules = []samtemplate.Schedule{{Name: "Minute", Every: time.Minute}}
	case "log":
		f.LogSubscriptions = []samtemplate.LogSubscription{{LogGroup: "AccessLogs"}}
	}
	template := &samtemplate.Template{
		API: samtemplate.API{AccessLogGroup: "AccessLogs"}, Functions: []samtemplate.Function{f},
		Rules:  []samtemplate.Rule{{Queue: "Queue"}},
		Queues: []samtemplate.Queue{{LogicalID: "Queue", VisibilityTimeout: time.Minute}},
	}
	if db == nil {
		db = &database.Database{}
	}
	synctest.Test(t, func(t *testing.T) {
		h := &harness{T: t, begin: time.Now(), dir: t.TempDir(), responses: []string{""}}
		h.config = trigger.Config{
			Template: template, Region: "eu-west-1", AccountID: "123456789012",
			Functions: map[string]*invoke.Function{"DoThings": {ARN: "arn:function", Handler: h, Timeout: 5 * time.Minute}},
			AWS: aws.Config{
				BaseEndpoint: &db.Endpoint, Region: "us-east-1",
				Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
				// The bubble's clock stands still while there is a connection.
				HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
			},
			Ended: func(e *terminal.Entry) {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.ended = append(h.ended, e)
			},
			Now: time.Now, NewID: h.newID, Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
		}
		var err error
		h.config.Bus, err = bus.Open(bus.Config{
			Template: template, DataDir: h.dir, Now: time.Now, NewID: h.newID, Logger: h.config.Logger})
		assert.OK(t, err)
		test(h)
		<-time.After(time.Hour) // abandoned invocations end
	})
}

func (h *harness) newID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	return fmt.Sprintf("id-%03d", h.ids)
}

// Invoke implements lambda.Handler.
func (h *harness) Invoke(_ context.Context, payload []byte) ([]byte, error) {
	var event struct {
		Records []struct {
			MessageID, Body string
			Attributes      struct{ ApproximateReceiveCount string }
			DynamoDB        struct {
				SequenceNumber string
				NewImage       struct{ N struct{ N string } }
			}
		}
		AWSLogs events.CloudwatchLogsRawData
	}
	assert.OK(h, json.Unmarshal(payload, &event))
	var items, identifiers []string
	for _, r := range event.Records {
		items = append(items, r.Body+r.Attributes.ApproximateReceiveCount+r.DynamoDB.NewImage.N.N)
		identifiers = append(identifiers, r.MessageID+r.DynamoDB.SequenceNumber)
	}
	text := string(payload)
	if event.AWSLogs.Data != "" {
		data, err := event.AWSLogs.Parse()
		assert.OK(h, err)
		for _, e := range data.LogEvents {
			items = append(items, e.Message)
		}
		text = fmt.Sprintf("%+v", data)
	}
	h.mu.Lock()
	response := h.responses[min(len(h.invocations), len(h.responses)-1)]
	h.invocations = append(h.invocations,
		strings.TrimSpace(fmt.Sprint(time.Since(h.begin), " ", strings.Join(items, ","))))
	h.identifiers = identifiers
	h.payloads = append(h.payloads, h.constant(text))
	h.mu.Unlock()
	if wait, err := time.ParseDuration(response); err == nil {
		<-time.After(wait)
		return nil, nil
	}
	if response == "fail" {
		return nil, errFunction
	}
	for i, identifier := range identifiers {
		response = strings.ReplaceAll(response, fmt.Sprintf("#%d", i+1), identifier)
	}
	return []byte(response), nil
}

// constant replaces what differs in each run: the sequence numbers of the last event by #1, #2.
func (h *harness) constant(text string) string {
	for i, identifier := range h.identifiers {
		text = strings.ReplaceAll(text, `equenceNumber":"`+identifier+`"`, fmt.Sprintf(`equenceNumber":"#%d"`, i+1))
	}
	return varying.ReplaceAllString(text, "$1$2$3")
}

// run delivers events for a time, as one process does, and closes everything. Meanwhile, it waits for durations, calls
// functions and appends lines to the access log.
func (h *harness) run(d time.Duration, meanwhile ...any) {
	h.Helper()
	triggers, err := trigger.New(h.config)
	assert.OK(h, err)
	stop := triggers.Start(h.Context(), drain)
	synctest.Wait() // until batches of the access log are cut by the second
	for _, step := range meanwhile {
		switch step := step.(type) {
		case time.Duration:
			<-time.After(step)
			synctest.Wait()
		case func() error:
			assert.OK(h, step())
		case string:
			triggers.AccessLog([]byte(step), time.Now())
		}
	}
	<-time.After(d)
	stop()
	synctest.Wait()
}

// logged fails the test unless the log contains a text.
func (h *harness) logged(text string) {
	h.Helper()
	if !strings.Contains(h.log.String(), text) {
		h.Errorf("the log does not contain %q:\n%s", text, &h.log)
	}
}

// streamed returns a database whose FeatureTypes has a stream with one record for each number of an item, from 1 on. The
// item was also written once without a change.
func streamed(tb testing.TB, numbers int) *database.Database {
	tb.Helper()
	db := database.New(tb)
	_, err := db.Client.UpdateTable(tb.Context(), &dynamodb.UpdateTableInput{
		TableName: aws.String(db.Tables["FeatureTypes"]), StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
	assert.OK(tb, err)
	for n := range numbers + 1 {
		db.Put(tb, db.Tables["FeatureTypes"], map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: "release"},
			"n":  &types.AttributeValueMemberN{Value: strconv.Itoa(min(n+1, numbers))},
		})
	}
	return db
}
