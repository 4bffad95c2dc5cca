package staleness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/staleness"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// stage is a handler on the types a and b with a lifetime of 7 days, and a due toggle of each.
type stage struct {
	staleness.Handler
	db       *database.Database
	types    *featuretype.Store
	features *feature.Store
	log      bytes.Buffer
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// newStage returns a stage whose calls of one operation fail.
func newStage(tb testing.TB, fails string) *stage {
	tb.Helper()
	db := database.New(tb)
	s := &stage{db: db, types: featuretype.NewStore(db.Client, db.Tables, db.Log()),
		features: feature.NewStore(db.Client, db.Tables, eventlog.Quiet(db.Client))}
	for _, id := range []string{"a", "b"} {
		check(tb, s.types.Create(tb.Context(), lifetime(id)))
		check(tb, s.features.Create(tb.Context(),
			feature.Feature{Name: "of " + id, Type: id, CreatedAt: noon().AddDate(0, 0, -8)}))
	}
	client, _ := db.Through(tb, func(c *database.Call) (*http.Response, error) {
		if c.Operation == fails {
			return c.Refuse("AccessDeniedException") // which is not repeated
		}
		return c.Pass()
	})
	s.Handler = staleness.Handler{
		Evaluator: &staleness.Evaluator{
			Types:   featuretype.NewStore(client, db.Tables, nil),
			Toggles: feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, noon, 0)), Now: noon,
			Pause:       func(ctx context.Context, _ int) error { return ctx.Err() },
			Concurrency: 4, // so that on a busy machine each call takes less than the limit of an attempt
		},
		Logger: slog.New(slog.NewJSONHandler(&s.log, nil)), Function: "f",
	}
	return s
}

// flagged returns the types whose toggle is flagged.
func (s *stage) flagged(tb testing.TB) string {
	tb.Helper()
	all, err := s.features.List(tb.Context())
	check(tb, err)
	var types []string
	for _, f := range all {
		if f.PotentiallyStale {
			types = append(types, f.Type)
		}
	}
	return strings.Join(types, " ")
}

// changed returns a record of a type's change. -1 is an image without a lifetime, 0 no image.
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
		OldImage: image(before), NewImage: image(after),
		ApproximateCreationDateTime: events.SecondsEpochTime{Time: noon().Add(-time.Second)},
	}}
}

// stream handles records and returns the sequence numbers of those that failed.
func (s *stage) stream(ctx context.Context, tb testing.TB, records ...events.DynamoDBEventRecord) string {
	tb.Helper()
	response, err := s.Stream(ctx, events.DynamoDBEvent{Records: records})
	check(tb, err)
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
	type records = []events.DynamoDBEventRecord
	noKey := changed("9", "a", 1, 7)
	noKey.Change.Keys = map[string]events.DynamoDBAttributeValue{"id": events.NewNumberAttribute("7")}
	for _, tt := range []struct {
		name    string
		fails   string // operation
		records records
		flagged string
		failed  string
	}{
		{"the current lifetime is used, not the record's", "", records{changed("1", "a", 7, 40)}, "a", ""},
		{"new type", "", records{changed("1", "a", 0, 7)}, "a", ""},
		{"from no lifetime", "", records{changed("1", "a", -1, 7)}, "a", ""},
		{"same lifetime", "", records{changed("1", "a", 7, 7)}, "", ""},
		{"no images", "", records{changed("1", "a", 0, 0)}, "a", ""},
		{"two types", "", records{changed("1", "a", 1, 7), changed("2", "b", 1, 7)}, "a b", ""},
		{"record without a type's key", "", records{noKey, changed("10", "b", 1, 7)}, "b", ""},
		{"unknown type", "", records{changed("1", "x", 7, 0)}, "", ""},
		{"types cannot be read", "GetItem", records{changed("1", "a", 7, 7), changed("2", "b", 1, 7),
			changed("3", "b", 7, 1)}, "", "2"},
		{"toggles cannot be written", "TransactWriteItems", records{changed("11", "a", 1, 7), changed("12", "a", 7, 1),
			changed("13", "b", 1, 7)}, "", "11 13"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tt.fails)
			if failed := s.stream(t.Context(), t, tt.records...); failed != tt.failed {
				t.Errorf("failed: %s, want %s", failed, tt.failed)
			}
			if got := s.flagged(t); got != tt.flagged {
				t.Errorf("flagged: %s, want %s", got, tt.flagged)
			}
		})
	}
}

// The next sweep continues with a type that was not finished in time. It would not find the toggles of a deleted type.
func TestStreamWithoutTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newStage(t, "")
	if _, err := s.Sweep(t.Context(), nil); err != nil || s.flagged(t) != "a b" {
		t.Fatal(err, s.flagged(t))
	}
	s.db.Delete(t, s.db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S("b")})
	_, err := s.types.SetLifetime(t.Context(), "a", new(int64(40)))
	check(t, err)
	batch := []events.DynamoDBEventRecord{changed("1", "a", 7, 40), changed("2", "b", 7, 0)}
	s.Evaluator.Types, s.Function = ending{s.Evaluator.Types, ctx, cancel}, ""
	s.log.Reset()
	if failed := s.stream(ctx, t, batch...); failed != "2" {
		t.Errorf("failed: %s", failed)
	}
	if _, err := s.Sweep(t.Context(), nil); err != nil || s.flagged(t) != "b" {
		t.Error(err, s.flagged(t))
	}
	if failed := s.stream(t.Context(), t, batch...); failed != "" || s.flagged(t) != "" {
		t.Error(failed, s.flagged(t))
	}
	for text, want := range map[string]bool{
		`"WARN","msg":"toggles re-evaluated","trigger":"stream","featureType":"a","lifetimeDays":40`: true,
		`"WARN","msg":"toggles re-evaluated","trigger":"stream","featureType":"b","found":false`:     true,
		"_aws": false,
	} {
		if strings.Contains(s.log.String(), text) != want {
			t.Errorf("%s in the log, want %t:\n%s", text, want, &s.log)
		}
	}
}

// ending ends the time of the run after the type b was read, and returns the type a after that.
type ending struct {
	staleness.Types
	run context.Context //nolint:containedctx // of the run, not of a call
	end func()
}

func (e ending) Get(ctx context.Context, id string) (featuretype.FeatureType, error) {
	t, err := e.Types.Get(ctx, id)
	if id == "b" {
		e.end()
	}
	<-e.run.Done()
	return t, err
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	for _, want := range []staleness.Summary{{Flagged: 2}, {}, {Unflagged: 1}} {
		if want.Unflagged == 1 {
			_, err := s.types.SetLifetime(t.Context(), "a", nil)
			check(t, err)
		}
		got, err := s.Sweep(t.Context(), json.RawMessage(`{"any":"thing"}`))
		if err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	if lines := strings.Count(s.log.String(), "\n"); lines != 3 {
		t.Errorf("%d lines, although nothing else changed:\n%s", lines, &s.log)
	}
}

// Lambda receives a constant error. The cause is only in the log.
func TestSweepFails(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"Scan", "Query"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, operation)
			if _, err := s.Sweep(t.Context(), nil); err == nil || strings.Contains(err.Error(), "AccessDenied") {
				t.Error(err)
			}
			if !strings.Contains(s.log.String(), `"level":"ERROR"`) || !strings.Contains(s.log.String(), "AccessDenied") {
				t.Errorf("the log does not contain the cause: %s", &s.log)
			}
		})
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	s.stream(t.Context(), t, changed("1", "a", 40, 7))
	_, got, _ := strings.Cut(s.log.String(), `,"level":`)
	want := `"INFO","msg":"toggles re-evaluated","trigger":"stream","featureType":"a","lifetimeDays":7,` +
		`"cutoff":"2026-11-13T12:00:00.000Z",` +
		`"flagged":1,"unflagged":0,"left":0,"overtaken":0,"read":1,"pages":32,"writes":1,"throttled":0,"retried":0,"milliseconds":0,` +
		`"lagMilliseconds":1000,"functionName":"f","_aws":{"Timestamp":1795176000000,"CloudWatchMetrics":[{"Namespace":"ToggleAdmin/Staleness",` +
		`"Dimensions":[["functionName"]],"Metrics":[{"Name":"flagged","Unit":"Count"},{"Name":"lagMilliseconds","Unit":"Milliseconds"}]}]}}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// After an attempt without a response, the flip is counted as one of this run, unless another client made it.
func TestFlipWithoutResponse(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{true, false} {
		s := newStage(t, "")
		client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation != "TransactWriteItems" || c.N > 1 {
				return c.Pass()
			}
			if lost {
				return c.Lose()
			}
			return c.Refuse("ThrottlingException")
		})
		e := &staleness.Evaluator{
			Toggles: feature.NewStore(client, s.db.Tables, s.db.Log()), Types: s.types, Now: noon, Concurrency: 4,
			Pause: func(ctx context.Context, _ int) error { // between attempts, which have a limit
				if lost {
					return nil
				}
				_, err := s.Sweep(ctx, nil)
				return err
			},
		}
		results := e.Evaluate(t.Context(), []string{"a"})
		r := results[0]
		if r.Err != nil || r.Writes != 1 || (r.Flagged == 1) != lost || (r.Overtaken == 0) != lost ||
			r.LastFlip.IsZero() == lost {
			t.Errorf("lost %t: %+v", lost, r)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for name, construct := range map[string]app.Constructor{
		"reevaluate-staleness": staleness.NewReevaluateFunction, "sweep-staleness": staleness.NewSweepFunction,
	} {
		s := newStage(t, "")
		check(t, s.types.Create(t.Context(), lifetime("release")))
		check(t, s.features.Create(t.Context(),
			feature.Feature{Name: "f", Type: "release", CreatedAt: noon().AddDate(0, 0, -8)}))
		sample, err := os.ReadFile("../../../events/" + name + ".json")
		check(t, err)
		env := s.db.Env(t)
		env.Now = noon
		function, err := construct(env)
		check(t, err)
		response, err := function.Invoke(t.Context(), sample)
		check(t, err)
		want := map[string]string{
			"reevaluate-staleness": `{"batchItemFailures":[]} release`,
			"sweep-staleness":      `{"flagged":3,"unflagged":0,"left":0} release a b`,
		}[name]
		if got := string(response) + " " + s.flagged(t); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		database.RequireVariables(t, env, construct, "FEATURES_TABLE", "FEATURE_TYPES_TABLE", "EVENTS_TABLE",
			"EVENT_LOG_DAYS")
	}
}
