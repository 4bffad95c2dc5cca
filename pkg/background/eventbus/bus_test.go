package eventbus_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/eventbridge"
	"toggleadmin/test/helper/roundtrip"
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
	const oneThrottled = `{"FailedEntryCount":1,"Entries":[{"EventId":"a"},` +
		`{"ErrorCode":"ThrottlingException","ErrorMessage":"slow down"}]}`
	const oneRejected = `{"FailedEntryCount":1,"Entries":[{"ErrorCode":"MalformedDetail","ErrorMessage":"no JSON"},` +
		`{"EventId":"b"}]}`
	tests := map[string]struct {
		status   int // 0: no response
		response string
		want     [2]string // a part of the error of each event
		rejected [2]bool
	}{
		"all accepted": {
			status:   200,
			response: `{"FailedEntryCount":0,"Entries":[{"EventId":"a"},{"EventId":"b"}]}`,
		},
		"one throttled": {
			status:   200,
			response: oneThrottled,
			want:     [2]string{"", "put event " + events[1].ID + ": ThrottlingException: slow down"},
		},
		"one rejected": {
			status:   200,
			response: oneRejected,
			want:     [2]string{"MalformedDetail: no JSON", ""},
			rejected: [2]bool{true, false},
		},
		"too few results": {
			status:   200,
			response: `{"FailedEntryCount":0,"Entries":[{"EventId":"a"}]}`,
			want:     [2]string{"result for each entry", "result for each entry"},
		},
		"empty results": {
			status:   200,
			response: `{"FailedEntryCount":0,"Entries":[{},{}]}`,
			want:     [2]string{"put event", "put event"},
		},
		"not permitted": {
			status:   400,
			response: `{"__type":"AccessDeniedException","Message":"no"}`,
			want:     [2]string{"AccessDenied", "AccessDenied"},
		},
		"unavailable": {
			status:   503,
			response: `{}`,
			want:     [2]string{"503", "503"},
		},
		"no response": {
			want: [2]string{"connection lost", "connection lost"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			cfg := roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
				requests++
				body, err := io.ReadAll(r.Body)
				text := strings.ReplaceAll(string(body), events[0].ID, "ID0")
				if err != nil || r.Header.Get("X-Amz-Target") != "AWSEvents.PutEvents" || !strings.HasPrefix(text, request) {
					t.Errorf("%s, body %s, want %s", r.Header, text, request)
				}
				if test.status == 0 {
					return nil, errors.New("connection lost")
				}
				return roundtrip.Response(test.status, test.response), nil
			}))
			got := eventbus.NewBus(cfg, "my-bus").Publish(t.Context(), events)
			if len(got) != len(events) || requests != 1 {
				t.Fatalf("%d errors, %d requests", len(got), requests)
			}
			for i, want := range test.want {
				if err := got[i]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) ||
					eventbus.Rejected(err) != test.rejected[i] {
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
	for _, test := range []struct {
		kilobytes []int // of the events
		tooLarge  int   // the kilobytes of a request that the bus rejects; 0: none
		requests  []int // the numbers of their events
		rejected  []int // events
	}{
		{kilobytes: slices.Repeat([]int{13}, 10), requests: []int{10}},
		{kilobytes: slices.Repeat([]int{60}, 10), requests: []int{4, 4, 2}},
		{kilobytes: []int{200, 50, 50, 1}, requests: []int{2, 2}},
		// the size of the third one is the limit
		{kilobytes: []int{1, 1, 256, 1}, requests: []int{2, 1, 1}, rejected: []int{2}},
		// the bus rejects a request because of the second one
		{kilobytes: []int{1, 13, 1}, tooLarge: 13, requests: []int{3, 1, 1, 1}, rejected: []int{1}},
	} {
		var events []eventbus.Event
		for id, kilobytes := range test.kilobytes {
			events = append(events, large(t, id, kilobytes))
		}
		var requests, rejected []int
		cfg := roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			assert.OK(t, err)
			requests = append(requests, strings.Count(string(body), `"Detail":`))
			status, response := eventbridge.PutEvents(body, func(int, string) string { return "" })
			if test.tooLarge > 0 && len(body) > test.tooLarge<<10 {
				status, response = http.StatusBadRequest, []byte(`{"__type":"ValidationException"}`)
			}
			return roundtrip.Response(status, string(response)), nil
		}))
		for i, err := range eventbus.NewBus(cfg, "my-bus").Publish(t.Context(), events) {
			if eventbus.Rejected(err) {
				rejected = append(rejected, i)
			} else {
				assert.OK(t, err)
			}
		}
		assert.Equal(t, test.requests, requests)
		assert.Equal(t, test.rejected, rejected)
	}
}
