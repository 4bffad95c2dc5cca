package traffic_test

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

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// recorder is a recorder with its log.
type recorder struct {
	traffic.Recorder
	out bytes.Buffer
}

func newRecorder(t *testing.T, respond func(*database.Call) (*http.Response, error)) *recorder {
	t.Helper()
	db := database.New(t)
	client, _ := db.Through(t, respond)
	now := noon()
	r := &recorder{}
	r.Recorder = traffic.Recorder{
		Store: traffic.NewStore(client, db.Tables), Paths: paths(), Logger: slog.New(slog.NewJSONHandler(&r.out, nil)),
		Now: func() time.Time {
			now = now.Add(1500 * time.Microsecond)
			return now
		},
	}
	return r
}

// deliver returns the response and the line in the log.
func (r *recorder) deliver(ctx context.Context, t *testing.T, data string) (traffic.Summary, map[string]any, error) {
	t.Helper()
	r.out.Reset()
	summary, err := r.Handle(ctx, events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: data}})
	var line map[string]any
	if unmarshal := json.Unmarshal(r.out.Bytes(), &line); unmarshal != nil {
		t.Fatalf("%v: %s", unmarshal, &r.out)
	}
	delete(line, "time")
	return summary, line, err
}

func TestHandle(t *testing.T) {
	t.Parallel()
	r := newRecorder(t, nil)
	r.Function = "the-function"
	good := event("1", line(types, "200", noon()))
	data := pack(message("s", good, good, event("2", "secret"), event("3", line("-", "404", noon()))))
	for i, want := range []traffic.Summary{
		{Events: 3, Counted: 1, Uncounted: 1, Malformed: 1}, {Events: 3, Duplicate: 1, Uncounted: 1, Malformed: 1},
	} {
		summary, got, err := r.deliver(t.Context(), t, data)
		assert.OK(t, err)
		assert.Equal(t, want, summary)
		delete(got, "batch")
		line := fmt.Sprintf(`{"_aws":{"CloudWatchMetrics":[{"Dimensions":[["functionName"]],"Metrics":[{"Name":%q,"Unit":"Count"},`+
			`{"Name":"malformed","Unit":"Count"}],"Namespace":"ToggleAdmin/Traffic"}],"Timestamp":%d},"counted":%d,"duplicate":%d,`+
			`"events":3,"functionName":"the-function","level":"WARN","malformed":1,"milliseconds":1.5,"msg":"requests counted",`+
			`"repeated":1,"shard":2,"uncounted":1,"writes":1}`, []string{"counted", "duplicate"}[i],
			noon().UnixMilli()+int64(3*i+3), want.Counted, want.Duplicate)
		text, err := json.Marshal(got)
		assert.OK(t, err)
		assert.Equal(t, line, string(text))
	}
	r.Function = ""
	if _, got, err := r.deliver(t.Context(), t, pack(message("s", good))); err != nil || got["level"] != "INFO" ||
		got["_aws"] != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// Lambda receives a constant error, after which it delivers again. Only the log contains the cause, and never the text
// of a line.
func TestFailures(t *testing.T) {
	t.Parallel()
	for message, data := range map[string]string{
		"delivery not read":     pack(`{"messageType":"secret"}`),
		"delivery not recorded": pack(message("s", event("1", line(types, "200", noon())), event("2", "secret"))),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := newRecorder(t, func(c *database.Call) (*http.Response, error) {
			end, _ := ctx.Deadline()
			if got, _ := c.Request.Context().Deadline(); got.After(end.Add(-lambdahttp.DeadlineMargin)) {
				t.Errorf("calls may take until %s, the invocation until %s", got, end)
			}
			return c.Refuse("AccessDeniedException")
		})
		summary, got, err := r.deliver(ctx, t, data)
		if err == nil || !strings.HasPrefix(err.Error(), "the delivery c") || summary != (traffic.Summary{}) {
			t.Errorf("%+v, %v", summary, err)
		}
		cause := fmt.Sprint(got["cause"])
		if cause == "<nil>" || strings.Contains(cause, "secret") || got["level"] != "ERROR" || got["msg"] != message {
			t.Errorf("%v", got)
		}
	}
}

func TestRecordFunction(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile("../../../events/record-traffic.json")
	assert.OK(t, err)
	db := database.New(t)
	env := db.Env(t)
	env.Vars["COUNTED_PATHS"] = types + " " + lifetime
	record, err := traffic.NewRecordFunction(env)
	assert.OK(t, err)
	got, err := record.Invoke(t.Context(), sample)
	assert.OK(t, err)
	assert.Equal(t, `{"events":6,"counted":3,"duplicate":0,"uncounted":3,"malformed":0}`, string(got))
	assert.Equal(t, usage(t, `
		/api/admin/feature-types | 2026-11-20 | 1 1 0
		/api/admin/feature-types/{id}/lifetime | 2026-11-20 | 0 1 0
	`), report(t, db, "2026-11"))
	database.RequireVariables(t, env, traffic.NewRecordFunction, "COUNTED_PATHS", "TRAFFIC_TABLE")
	database.RequireVariables(t, env, traffic.NewGetFunction, "TRAFFIC_TABLE")
	env.Vars["COUNTED_PATHS"] = "x"
	if _, err := traffic.NewRecordFunction(env); err == nil || !strings.Contains(err.Error(), "COUNTED_PATHS") {
		t.Error(err)
	}
}
