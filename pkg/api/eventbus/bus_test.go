package eventbus_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/api/eventbus"
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
		one rejected | 200 | {"FailedEntryCount":1,"Entries":[{"EventId":"a"},{"ErrorCode":"ThrottlingException","ErrorMessage":"slow down"}]} | ;put event ID1: ThrottlingException: slow down
		too few results | 200 | {"FailedEntryCount":0,"Entries":[{"EventId":"a"}]} | result for each entry;result for each entry
		empty results | 200 | {"FailedEntryCount":0,"Entries":[{},{}]} | put event;put event
		refused | 400 | {"__type":"AccessDeniedException","Message":"no"} | AccessDenied;AccessDenied
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
				if err := got[i]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("event %d: %v, want %q", i, err, want)
				}
			}
		})
	}
}
