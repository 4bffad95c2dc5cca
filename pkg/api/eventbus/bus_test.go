package eventbus_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventbus"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The responses are those of the PutEvents page of the EventBridge API Reference.
func TestPublish(t *testing.T) {
	t.Parallel()
	events := []eventbus.Event{expiring(t, 7), expiring(t, 8)}
	const request = `{"Entries":[{"Detail":"{\"specversion\":\"1.0\",\"id\":\"ID0\",\"source\":\"my-stack\",` +
		`\"type\":\"toggleadmin.token-expiring\",\"time\":\"2026-11-20T05:39:00.123Z\",\"subject\":\"7\",\"sequence\":\"1436122512098400\",` +
		`\"datacontenttype\":\"application/json\",\"data\":{\"id\":7,\"userId\":4,\"description\":\"pipeline\",` +
		`\"expiresAt\":\"2026-12-04T05:39:00.123Z\",\"days\":14}}",` +
		`"DetailType":"toggleadmin.token-expiring","EventBusName":"my-bus","Source":"toggleadmin"}`
	for _, tt := range []struct {
		name     string
		status   int // 0: no response
		response string
		want     []string // part of the error of each event; empty: it has none
	}{
		{"all accepted", 200, `{"FailedEntryCount":0,"Entries":[{"EventId":"a"},{"EventId":"b"}]}`, []string{"", ""}},
		{
			"one rejected", 200,
			`{"FailedEntryCount":1,"Entries":[{"EventId":"a"},{"ErrorCode":"ThrottlingException","ErrorMessage":"slow down"}]}`,
			[]string{"", "put event " + events[1].ID + ": ThrottlingException: slow down"},
		},
		{"too few results", 200, `{"FailedEntryCount":0,"Entries":[{"EventId":"a"}]}`,
			[]string{"result for each entry", "result for each entry"}},
		{"empty results", 200, `{"FailedEntryCount":0,"Entries":[{},{}]}`, []string{"put event", "put event"}},
		{"refused", 400, `{"__type":"AccessDeniedException","Message":"no"}`, []string{"AccessDenied", "AccessDenied"}},
		{"unavailable", 503, `{}`, []string{"503", "503"}},
		{"no response", 0, "", []string{"connection lost", "connection lost"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			cfg := aws.Config{
				Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
				HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					requests++
					body, err := io.ReadAll(r.Body)
					text := strings.ReplaceAll(string(body), events[0].ID, "ID0")
					if err != nil || r.Header.Get("X-Amz-Target") != "AWSEvents.PutEvents" || !strings.HasPrefix(text, request) {
						t.Errorf("%s, body (-want +got):\n%s", r.Header, cmp.Diff(request, text))
					}
					if tt.status == 0 {
						return nil, errors.New("connection lost")
					}
					return &http.Response{StatusCode: tt.status, Body: io.NopCloser(strings.NewReader(tt.response)),
						Header: http.Header{}}, nil
				})},
			}
			got := eventbus.NewBus(cfg, "my-bus").Publish(t.Context(), events)
			if len(got) != len(events) || requests != 1 {
				t.Fatalf("%d errors, %d requests", len(got), requests)
			}
			for i, err := range got {
				if (err == nil) != (tt.want[i] == "") || err != nil && !strings.Contains(err.Error(), tt.want[i]) {
					t.Errorf("event %d: %v, want %q", i, err, tt.want[i])
				}
			}
		})
	}
}
