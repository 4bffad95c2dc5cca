package trigger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/test/assert"
)

// onAccessLog is a function with a subscription to the access log.
func onAccessLog() samtemplate.Function {
	return samtemplate.Function{LogSubscriptions: []samtemplate.LogSubscription{{LogGroup: "AccessLogs"}}}
}

// batches returns the data of each invocation.
func (h *harness) batches() (all []events.CloudwatchLogsData) {
	h.Helper()
	for _, i := range h.invocations {
		data, err := decode[events.CloudwatchLogsEvent](h, i.Payload).AWSLogs.Parse()
		assert.OK(h, err)
		all = append(all, data)
	}
	return all
}

// lines returns the lines of each invocation, separated by commas.
func (h *harness) lines() (all []string) {
	h.Helper()
	for _, batch := range h.batches() {
		var lines []string
		for _, event := range batch.LogEvents {
			lines = append(lines, event.Message)
		}
		all = append(all, strings.Join(lines, ","))
	}
	return all
}

// files returns the names of the access log's files.
func (h *harness) files() (names []string) {
	h.Helper()
	names, err := filepath.Glob(filepath.Join(h.dir, "events", "access-log-DoThings", "*"))
	assert.OK(h, err)
	return names
}

// write waits until batches are cut by the second and appends lines.
func write(lines ...string) func(*trigger.Triggers) {
	return func(triggers *trigger.Triggers) {
		synctest.Wait()
		for _, line := range lines {
			triggers.AccessLog([]byte(line), time.Now())
		}
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	inBubble(t, onAccessLog(), nil, func(h *harness) {
		h.run(5*time.Second, func(triggers *trigger.Triggers) {
			<-time.After(200 * time.Millisecond)
			write(`{"a": "ü\n"}`)(triggers)
			<-time.After(700 * time.Millisecond)
			write("second")(triggers)
			<-time.After(700 * time.Millisecond)
			write("third")(triggers)
		})
		assert.Equal(h, seconds(1, 2), h.times())
		got, at := h.batches()[0], h.begin.UnixMilli()
		want := events.CloudwatchLogsData{
			MessageType: "DATA_MESSAGE", Owner: "123456789012", LogGroup: "AccessLogs", LogStream: got.LogStream,
			SubscriptionFilters: []string{"DoThings"}, LogEvents: []events.CloudwatchLogsLogEvent{
				{ID: "id-002", Timestamp: at + 200, Message: `{"a": "ü\n"}`},
				{ID: "id-003", Timestamp: at + 900, Message: "second"},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" || got.LogStream == "" {
			h.Error(diff)
		}
		if names := h.files(); len(names) > 0 || h.log.Len() > 0 {
			h.Errorf("delivered batches remain: %q, log:\n%s", names, &h.log)
		}
	})
}

func TestAccessLogRestart(t *testing.T) {
	t.Parallel()
	inBubble(t, onAccessLog(), nil, func(h *harness) {
		h.respond = func([]byte) ([]byte, error) { <-time.After(time.Minute); return nil, nil }
		h.run(1500*time.Millisecond, write("first", "second"), func(triggers *trigger.Triggers) {
			<-time.After(1200 * time.Millisecond)
			write("third")(triggers) // in the next batch, which is not delivered any more
		})
		names := h.files()
		if len(names) != 2 {
			h.Fatalf("%q, want two batches", names)
		}
		content, err := os.ReadFile(names[1])
		assert.OK(h, err)
		assert.OK(h, os.WriteFile(names[1], append(content, `{"id":"x","mess`...), 0o600))
		h.respond = nil
		h.run(1500*time.Millisecond, write("fourth"))
		assert.Equal(h, []string{"first,second", "first,second", "third", "fourth"}, h.lines())
		if first, again := string(h.invocations[0].Payload), string(h.invocations[1].Payload); first != again {
			h.Errorf("the same batch was delivered as %s and as %s", first, again)
		}
	})
}

func TestAccessLogUnwritable(t *testing.T) {
	t.Parallel()
	inBubble(t, onAccessLog(), nil, func(h *harness) {
		folder := filepath.Join(h.dir, "events", "access-log-DoThings")
		h.run(2*time.Second, func(triggers *trigger.Triggers) {
			assert.OK(h, os.RemoveAll(folder))
			write("lost")(triggers)
			assert.OK(h, os.Mkdir(folder, 0o700))
			write("kept")(triggers)
		})
		assert.Equal(h, []string{"kept"}, h.lines())
		if n := strings.Count(h.log.String(),
			`level=ERROR msg="the access log cannot be written: a request is not counted"`); n != 1 {
			h.Errorf("%d errors:\n%s", n, &h.log)
		}
	})
}
