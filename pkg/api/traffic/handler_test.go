package traffic_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/roundtrip"
)

// deliver invokes the function with the data of a delivery. It returns the response and the line in the log.
func deliver(ctx context.Context, t *testing.T, env *app.Env, data string) (response, line string, err error) {
	t.Helper()
	var log bytes.Buffer
	env.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	function, err := app.Find(traffic.Functions(), "record-traffic")(env)
	assert.OK(t, err)
	out, err := function.Invoke(ctx, []byte(`{"awslogs":{"data":"`+data+`"}}`))
	_, line, _ = strings.Cut(log.String(), `,"level":`)
	return string(out), line, err
}

func TestHandle(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	now := noon()
	env.Now = func() time.Time {
		now = now.Add(1500 * time.Microsecond)
		return now
	}
	good := event("1", line(types, "200", noon()))
	data := pack(message("s", good, good, event("2", "secret"), event("3", line("-", "404", noon()))))
	for i, want := range []string{`"counted":1,"duplicate":0,"uncounted":1,"malformed":1`,
		`"counted":0,"duplicate":1,"uncounted":1,"malformed":1`} {
		env.Vars["AWS_LAMBDA_FUNCTION_NAME"] = "the-function"
		response, got, err := deliver(t.Context(), t, env, data)
		assert.OK(t, err)
		assert.Equal(t, `{"events":3,`+want+`}`, response)
		assert.Equal(t, fmt.Sprintf(`"WARN","msg":"requests counted","batch":"eYStkiA-VkaIQSYfcmvueneODBZDqEQCA4P7fW8Xi_k","shard":2,`+
			`"events":3,%s,"repeated":1,"writes":1,"milliseconds":1.5,"functionName":"the-function","_aws":{"Timestamp":%d,`+
			`"CloudWatchMetrics":[{"Namespace":"ToggleAdmin/Traffic","Dimensions":[["functionName"]],"Metrics":[{"Name":%q,`+
			`"Unit":"Count"},{"Name":"malformed","Unit":"Count"}]}]}}`+"\n", want, noon().UnixMilli()+int64(3*i+3),
			[]string{"counted", "duplicate"}[i]), got)
	}
	env.Vars["AWS_LAMBDA_FUNCTION_NAME"] = ""
	if _, got, err := deliver(t.Context(), t, env, pack(message("s", good))); err != nil || !strings.HasPrefix(got, `"INFO"`) ||
		strings.Contains(got, "_aws") {
		t.Errorf("%s, %v", got, err)
	}
}

// Lambda receives a constant error, after which it delivers again. Only the log contains the cause, and never the text
// of a line.
func TestFailures(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end, _ := ctx.Deadline()
	env := &app.Env{Now: noon, Vars: map[string]string{"TRAFFIC_TABLE": "t", "DYNAMODB_ENDPOINT": "http://localhost"}}
	env.AWS.HTTPClient = &http.Client{Transport: roundtrip.Func(func(r *http.Request) (*http.Response, error) {
		if got, _ := r.Context().Deadline(); got.After(end.Add(-invocation.Margin)) {
			t.Errorf("calls may take until %s, the invocation until %s", got, end)
		}
		return roundtrip.Response(http.StatusBadRequest, `{"__type":"AccessDeniedException"}`), nil
	})}
	for message, data := range map[string]string{
		"delivery not read":     pack(`{"messageType":"secret"}`),
		"delivery not recorded": pack(message("s", event("1", line(types, "200", noon())), event("2", "secret"))),
	} {
		response, got, err := deliver(ctx, t, env, data)
		if err == nil || !strings.HasPrefix(err.Error(), "the delivery c") || response != "" {
			t.Errorf("%s, %v", response, err)
		}
		if !strings.HasPrefix(got, `"ERROR","msg":"`+message) || !strings.Contains(got, `"cause":"`) || strings.Contains(got, "secret") {
			t.Error(got)
		}
	}
}
