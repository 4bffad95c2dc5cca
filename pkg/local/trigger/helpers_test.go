package trigger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/doctable"
)

// drain is the time for invocations at the end of a run.
const drain = time.Second

var errFunction = errors.New("the function fails")

func TestTableNamesTests(t *testing.T) {
	t.Parallel()
	doctable.Check(t, "doc.go")
}

// invocation is one invocation of the function.
type invocation struct {
	At      time.Duration // since the harness was created
	Payload []byte
}

// harness runs Triggers with one function.
type harness struct {
	*testing.T
	config  trigger.Config
	dir     string                               // DATA_DIR
	respond func(payload []byte) ([]byte, error) // the function; nil: it succeeds
	begin   time.Time

	mu          sync.Mutex
	ids         int
	invocations []invocation
	ended       []*terminal.Entry
	log         bytes.Buffer
}

// inBubble runs a test of a function with these triggers in a synctest bubble. The database is needed for streams only.
func inBubble(t *testing.T, f samtemplate.Function, db *database.Database, test func(h *harness)) {
	t.Helper()
	f.LogicalID, f.Name = "DoThings", "do-things"
	template := &samtemplate.Template{API: samtemplate.API{AccessLogGroup: "AccessLogs"},
		Functions: []samtemplate.Function{f}}
	if db == nil {
		db = &database.Database{}
	}
	synctest.Test(t, func(t *testing.T) {
		h := &harness{T: t, begin: time.Now(), dir: t.TempDir()}
		h.config = trigger.Config{
			Template: template, Region: "eu-west-1", AccountID: "123456789012",
			Functions: map[string]*invoke.Function{"DoThings": {ARN: "arn:function", Handler: h, Timeout: 5 * time.Minute}},
			Tables:    map[string]string{"FeatureTypes": db.Tables.FeatureTypes},
			AWS: aws.Config{
				BaseEndpoint: &db.Endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
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
	h.mu.Lock()
	h.invocations = append(h.invocations, invocation{time.Since(h.begin), payload})
	h.mu.Unlock()
	if h.respond == nil {
		return nil, nil
	}
	return h.respond(payload)
}

// run delivers events for a time, as one process does, and closes everything.
func (h *harness) run(d time.Duration, meanwhile ...func(*trigger.Triggers)) {
	h.Helper()
	if h.config.Bus == nil {
		h.openBus(samtemplate.Template{})
	}
	triggers, err := trigger.New(h.config)
	assert.OK(h, err)
	stop := triggers.Start(h.Context(), drain)
	for _, do := range meanwhile {
		do(triggers)
	}
	<-time.After(d)
	stop()
	synctest.Wait()
}

// openBus opens a bus with the queues of a template, as one process does.
func (h *harness) openBus(queues samtemplate.Template) {
	h.Helper()
	var err error
	h.config.Bus, err = bus.Open(bus.Config{
		Template: &queues, DataDir: h.dir, Now: time.Now, NewID: h.newID, Logger: h.config.Logger,
	})
	assert.OK(h, err)
}

// times returns when the function was invoked.
func (h *harness) times() (all []time.Duration) {
	for _, i := range h.invocations {
		all = append(all, i.At)
	}
	return all
}

// records returns for each invocation the attributes n of its stream records, separated by commas.
func (h *harness) records() (all []string) {
	h.Helper()
	for _, i := range h.invocations {
		var numbers []string
		for _, r := range decode[events.DynamoDBEvent](h, i.Payload).Records {
			numbers = append(numbers, r.Change.NewImage["n"].Number())
		}
		all = append(all, strings.Join(numbers, ","))
	}
	return all
}

// streamed returns a database whose FeatureTypes has a stream.
func streamed(tb testing.TB) *database.Database {
	tb.Helper()
	db := database.New(tb)
	if _, err := db.Client.UpdateTable(tb.Context(), &dynamodb.UpdateTableInput{
		TableName: &db.Tables.FeatureTypes, StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}); err != nil {
		tb.Fatal(err)
	}
	return db
}

// put writes the item "release" with a number. Each number makes a record of the stream.
func put(tb testing.TB, db *database.Database, numbers ...int) {
	tb.Helper()
	for _, n := range numbers {
		db.Put(tb, db.Tables.FeatureTypes, map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: "release"}, "n": &types.AttributeValueMemberN{Value: strconv.Itoa(n)},
		})
	}
}

// onStream is a function with a mapping of the stream.
func onStream(batchSize, retries int) samtemplate.Function {
	return samtemplate.Function{Streams: []samtemplate.Stream{{
		Table: "FeatureTypes", BatchSize: batchSize, RetryAttempts: retries, OnFailure: "Failures",
	}}}
}

// everyMinute is a function with a schedule.
func everyMinute(retries int) samtemplate.Function {
	return samtemplate.Function{
		Schedules: []samtemplate.Schedule{{Name: "Minute", Every: time.Minute}}, AsyncRetries: retries,
		AsyncOnFailure: "Failures",
	}
}
