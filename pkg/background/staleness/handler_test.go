package staleness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/background/staleness"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// stage is a handler on the types a and b with a lifetime of 7 days, and a toggle of each, which is due since yesterday.
type stage struct {
	staleness.Handler
	db       *database.Database
	types    *featuretype.Store
	features *feature.Store
	log      bytes.Buffer
}

func newStage(tb testing.TB) *stage {
	tb.Helper()
	db := database.New(tb)
	db.PutProjects(tb, access.NewProject("p", "P"), access.NewProject("shop", "Shop"))
	s := &stage{db: db, types: featuretype.NewStore(db.Client, db.Tables, db.Log()),
		features: feature.NewStore(db.Client, db.Tables, eventlog.Discard(db.Client, time.Now))}
	s.Handler = staleness.Handler{
		Evaluator: &staleness.Evaluator{
			Now: noon, Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
			Concurrency: 4, // so that on a busy machine each call takes less than the limit of an attempt
		},
		Logger: slog.New(slog.NewJSONHandler(&s.log, nil)), Function: "f",
	}
	s.use(db.Client)
	for _, id := range []string{"a", "b"} {
		assert.OK(tb, s.types.Create(tb.Context(), lifetime(id)))
		s.create(tb, id, "of "+id)
	}
	return s
}

// use makes the handler use a client.
func (s *stage) use(client *dynamodb.Client) {
	s.Evaluator.Types = featuretype.NewStore(client, s.db.Tables, nil)
	s.Evaluator.Toggles = stalenessindex.NewFlags(client, s.db.Tables, eventlog.New(client, s.db.Tables, noon, 0))
}

// create creates a toggle that is due since yesterday.
func (s *stage) create(tb testing.TB, id, name string) {
	tb.Helper()
	_, err := s.features.Create(tb.Context(),
		toggle.Feature{Name: name, Project: "p", Type: id, CreatedAt: noon().AddDate(0, 0, -8)})
	assert.OK(tb, err)
}

// evaluate re-evaluates the type a.
func (s *stage) evaluate(ctx context.Context) staleness.Result {
	return s.Evaluator.Evaluate(ctx, []string{"a"})[0]
}

// flagged returns the types whose toggle is flagged.
func (s *stage) flagged(tb testing.TB) string {
	tb.Helper()
	all, err := s.features.List(tb.Context())
	assert.OK(tb, err)
	var types []string
	for _, f := range all {
		if f.PotentiallyStale {
			types = append(types, f.Type)
		}
	}
	return strings.Join(types, " ")
}

// stream handles records and returns the sequence numbers of those that failed. A record is its sequence number, the id
// of the type, and the lifetimes in its images: - is no image, none is an image without a lifetime. The id 7 is a number.
func (s *stage) stream(ctx context.Context, tb testing.TB, records string) string {
	tb.Helper()
	type item = map[string]events.DynamoDBAttributeValue
	image := func(days string) item {
		switch days {
		case "-":
			return nil
		case "none":
			return item{}
		}
		return item{"lifetimeDays": events.NewNumberAttribute(days)}
	}
	var event events.DynamoDBEvent
	for text := range strings.SplitSeq(records, ", ") {
		record, key := strings.Fields(text), events.NewStringAttribute
		if record[1] == "7" {
			key = events.NewNumberAttribute
		}
		event.Records = append(event.Records, events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{
			SequenceNumber: record[0], Keys: item{"id": key(record[1])}, OldImage: image(record[2]), NewImage: image(record[3]),
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: noon().Add(-time.Second)},
		}})
	}
	response, err := s.Stream(ctx, event)
	assert.OK(tb, err)
	if response.BatchItemFailures == nil {
		tb.Error("no list of failures")
	}
	var failed []string
	for _, f := range response.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return strings.Join(failed, " ")
}

func TestStream(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		records string
		failing string // operation
		flagged string // types whose toggle is flagged
		failed  string // records
	}{
		{"the current lifetime is used, not the record's", "1 a 7 40", "", "a", ""},
		{"new type", "1 a - 7", "", "a", ""},
		{"new type without a lifetime", "1 a - none", "", "a", ""},
		{"deleted type without a lifetime", "1 a none -", "", "a", ""},
		{"from no lifetime", "1 a none 7", "", "a", ""},
		{"same lifetime", "1 a 7 7", "", "a", ""},
		{"no images", "1 a - -", "", "a", ""},
		{"two types", "1 a 1 7, 2 b 1 7", "", "a b", ""},
		{"record without a type's key", "9 7 1 7, 10 b 1 7", "", "b", ""},
		{"unknown type", "1 x 7 -", "", "", ""},
		{"types cannot be read", "2 b 1 7, 3 b 7 1", "GetItem", "", "2"},
		{"toggles cannot be written", "11 a 1 7, 12 a 7 1, 13 b 1 7", "TransactWriteItems", "", "11 13"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.use(s.db.Refusing(t, test.failing))
			failed := s.stream(t.Context(), t, test.records)
			assert.Equal(t, test.flagged, s.flagged(t))
			assert.Equal(t, test.failed, failed)
		})
	}
}

// The next sweep continues with a type that was not finished in time. It would not find the toggles of a deleted type.
func TestStreamWithoutTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newStage(t)
	const records = "1 a 7 40, 2 b 7 -"
	assert.Equal(t, "", s.stream(t.Context(), t, records))
	assert.Equal(t, "a b", s.flagged(t))
	s.db.Delete(t, s.db.Tables["FeatureTypes"], dynamo.Item{"id": dynamo.S("b")})
	_, err := s.types.SetLifetime(t.Context(), "a", new(int64(40)))
	assert.OK(t, err)
	client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.N == 2 { // the time ends while both types are read
			cancel()
		}
		<-ctx.Done()
		return c.Pass()
	})
	s.use(client)
	s.Function = ""
	s.log.Reset()
	assert.Equal(t, "2", s.stream(ctx, t, records))
	for text, want := range map[string]bool{
		`"WARN","msg":"toggles re-evaluated","trigger":"stream","featureType":"a","lifetimeDays":40`: true,
		`"WARN","msg":"toggles re-evaluated","trigger":"stream","featureType":"b","found":false`:     true,
		"_aws": false,
	} {
		if strings.Contains(s.log.String(), text) != want {
			t.Errorf("%s in the log, want %t:\n%s", text, want, &s.log)
		}
	}
	_, err = s.Sweep(t.Context(), nil)
	assert.OK(t, err)
	assert.Equal(t, "b", s.flagged(t))
	assert.Equal(t, "", s.stream(t.Context(), t, records))
	assert.Equal(t, "", s.flagged(t))
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, want := range []staleness.Summary{{Flagged: 2}, {}, {Unflagged: 1}} {
		if want.Unflagged == 1 {
			_, err := s.types.SetLifetime(t.Context(), "a", nil)
			assert.OK(t, err)
		}
		got, err := s.Sweep(t.Context(), json.RawMessage(`{"any":"thing"}`))
		assert.OK(t, err)
		assert.Equal(t, want, got)
	}
	if log := s.log.String(); strings.Count(log, "\n") != 3 || strings.Contains(log, "lagMilliseconds") {
		t.Errorf("log, although only three flags changed, at no time of a lifetime:\n%s", log)
	}
}

// Lambda receives a constant error. The cause is only in the log.
func TestSweepFails(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"Scan", "Query"} {
		s := newStage(t)
		s.use(s.db.Refusing(t, operation))
		if _, err := s.Sweep(t.Context(), nil); err == nil || strings.Contains(err.Error(), "ValidationException") {
			t.Error(operation, err)
		}
		if log := s.log.String(); !strings.Contains(log, `"level":"ERROR"`) || !strings.Contains(log, "ValidationException") {
			t.Errorf("%s: the log does not contain the cause: %s", operation, log)
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.stream(t.Context(), t, "1 a 40 7")
	_, got, _ := strings.Cut(s.log.String(), `,"level":`)
	s.stream(t.Context(), t, "2 a 40 7")
	assert.Equal(t, 2, strings.Count(s.log.String(), `"INFO"`))
	assert.Equal(t, `"INFO","msg":"toggles re-evaluated","trigger":"stream","featureType":"a","lifetimeDays":7,`+
		`"cutoff":"2026-11-13T12:00:00.000Z",`+
		`"flagged":1,"unflagged":0,"left":0,"superseded":0,"read":1,"pages":32,"writes":1,"throttled":0,"retried":0,"milliseconds":0,`+
		`"lagMilliseconds":1000,"functionName":"f","_aws":{"Timestamp":1795176000000,"CloudWatchMetrics":[{"Namespace":"ToggleAdmin/Staleness",`+
		`"Dimensions":[["functionName"]],"Metrics":[{"Name":"flagged","Unit":"Count"},{"Name":"lagMilliseconds","Unit":"Milliseconds"}]}]}}`+"\n", got)
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"reevaluate-staleness": `{"batchItemFailures":[]} a`,
		"sweep-staleness":      `{"flagged":2,"unflagged":0,"left":0} a b`,
	} {
		s := newStage(t)
		env := s.db.Env(t)
		env.Now = noon
		function, err := app.Find(staleness.Functions(), name)(env)
		assert.OK(t, err)
		response, err := function.Invoke(t.Context(), []byte(`{"Records":[{"dynamodb":{"Keys":{"id":{"S":"a"}}}}]}`))
		assert.OK(t, err)
		assert.Equal(t, want, string(response)+" "+s.flagged(t))
	}
}
