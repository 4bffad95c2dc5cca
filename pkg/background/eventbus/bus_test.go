package eventbus_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/assert"
	"toggleadmin/test/eventbridge"
	"toggleadmin/test/roundtrip"
	"toggleadmin/test/table"
)

// The responses are those of the PutEvents page of the EventBridge API Reference.
func TestPublish(t *testing.T) {
	t.Parallel()
	events := []eventbus.Event{expiring(t, 7), expiring(t, 8)}
	const request = `{"Entries":[{"Detail":"{\"specversion\":\"1.0\",\"id\":\"ID0\",\"source\":\"my-stack\",` +
		`\"type\":\"toggleadmin.token-expiring\",\"time\":\"2026-11-20T05:39:00.123Z\",\"subject\":\"7\",\"sequence\":\"1436122512098400\",` +
		`\"datacontenttype\":\"application/json\",\"data\":{\"id\":7,\"userId\":4,\"description\":\"pipeline\",` +
		`\"expiresAt\":\"2026-12-04T05:39:00.123Z\",\"days\":14}}",` +
		`"DetailType":"toggleadmin.token-expiring","EventBusName":"my-bus","Source":"toggleadmin"}`
	for _, row := range table.Rows(t, 4, strings.ReplaceAll(`
		# case | status | response | part of the error of each event
		all accepted | 200 | {"FailedEntryCount":0,"Entries":[{"EventId":"a"},{"EventId":"b"}]} | ;
		one throttled | 200 | {"FailedEntryCount":1,"Entries":[{"EventId":"a"},{"ErrorCode":"ThrottlingException","ErrorMessage":"slow down"}]} | ;put event ID1: ThrottlingException: slow down
		one rejected | 200 | {"FailedEntryCount":1,"Entries":[{"ErrorCode":"MalformedDetail","ErrorMessage":"no JSON"},{"EventId":"b"}]} | MalformedDetail: no JSON (rejected);
		too few results | 200 | {"FailedEntryCount":0,"Entries":[{"EventId":"a"}]} | result for each entry;result for each entry
		empty results | 200 | {"FailedEntryCount":0,"Entries":[{},{}]} | put event;put event
		not permitted | 400 | {"__type":"AccessDeniedException","Message":"no"} | AccessDenied;AccessDenied
		unavailable | 503 | {} | 503;503
		no response | 0 | | connection lost;connection lost
	`, "ID1", events[1].ID)) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			requests := 0
			cfg := roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
				requests++
				body, err := io.ReadAll(r.Body)
				text := strings.ReplaceAll(string(body), events[0].ID, "ID0")
				if err != nil || r.Header.Get("X-Amz-Target") != "AWSEvents.PutEvents" || !strings.HasPrefix(text, request) {
					t.Errorf("%s, body %s, want %s", r.Header, text, request)
				}
				status, err := strconv.Atoi(row[1])
				if status == 0 {
					return nil, errors.New("connection lost")
				}
				return roundtrip.Response(status, row[2]), err
			}))
			got := eventbus.NewBus(cfg, "my-bus").Publish(t.Context(), events)
			if len(got) != len(events) || requests != 1 {
				t.Fatalf("%d errors, %d requests", len(got), requests)
			}
			for i, want := range strings.Split(row[3], ";") {
				want, rejected := strings.CutSuffix(want, " (rejected)")
				if err := got[i]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) ||
					eventbus.Rejected(err) != rejected {
					t.Errorf("event %d: %v, want %q", i, err, want)
				}
			}
		})
	}
}

// large returns an event whose detail has a size of some kilobytes.
func large(tb testing.TB, id, kilobytes int) eventbus.Event {
	tb.Helper()
	data := `{"name":"` + strings.Repeat("<", kilobytes<<10) + `"}`
	return sent(tb, logged(eventlog.ContextFieldCreated, eventlog.Subject(fmt.Sprint("field:", id)), eventlog.System, data, ""))
}

// TestRequestSize checks that requests are cut by bytes, and that an event that the bus rejects does not affect others.
func TestRequestSize(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 3, `
		# kilobytes of the events | numbers of events in the requests | events that are rejected
		13 13 13 13 13 13 13 13 13 13 | 10 |
		60 60 60 60 60 60 60 60 60 60 | 4 4 2 |
		200 50 50 1 | 2 2 |
		# the size of the third one is the limit
		1 1 256 1 | 2 1 1 | 2
		# the bus rejects a request because of the second one
		1 13 1 | 3 1 1 1 | 1
	`) {
		var events []eventbus.Event
		for size := range strings.FieldsSeq(row[0]) {
			kilobytes, err := strconv.Atoi(size)
			assert.OK(t, err)
			events = append(events, large(t, len(events), kilobytes))
		}
		var requests, rejected []string
		cfg := roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			assert.OK(t, err)
			requests = append(requests, fmt.Sprint(strings.Count(string(body), `"Detail":`)))
			status, response := eventbridge.PutEvents(body, func(int, string) string { return "" })
			if row[0] == "1 13 1" && len(body) > 13<<10 {
				status, response = http.StatusBadRequest, []byte(`{"__type":"ValidationException"}`)
			}
			return roundtrip.Response(status, string(response)), nil
		}))
		for i, err := range eventbus.NewBus(cfg, "my-bus").Publish(t.Context(), events) {
			if eventbus.Rejected(err) {
				rejected = append(rejected, fmt.Sprint(i))
			} else {
				assert.OK(t, err)
			}
		}
		assert.Equal(t, row, []string{row[0], strings.Join(requests, " "), strings.Join(rejected, " ")})
	}
}
