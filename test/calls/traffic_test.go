package calls_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/traffic"
	"toggleadmin/test/accesslog"
)

// TestCallsOfADelivery: one transaction for a batch, whatever the number of its requests: two write units for its marker and two for each
// path and day.
func TestCallsOfADelivery(t *testing.T) { //nolint:tparallel // one delivery comes after the other
	t.Parallel()
	s := start(t)
	const format = `{"requestTimeEpoch":"$context.requestTimeEpoch","resourcePath":"$context.resourcePath","status":"$context.status"}`
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	lines := func(n int, paths ...string) []accesslog.Line {
		var all []accesslog.Line
		for i := range n {
			all = append(all, accesslog.Line{N: i, Time: at, Path: paths[i%len(paths)], Status: 200 + i%3*150})
		}
		return all
	}
	days := lines(200, "/a")
	for i := range days {
		days[i].Time = at.AddDate(0, 0, i)
	}
	for _, tt := range []struct {
		name  string
		lines []accesslog.Line
		want  []string // units of each transaction
	}{
		{"nothing that counts", lines(50, "/x", "-"), nil},
		{"one request", lines(1, "/a"), []string{"4w"}},
		{"a thousand requests of a path, all groups", lines(1000, "/a"), []string{"4w"}},
		{"the same again", lines(1000, "/a"), []string{"failed"}},
		{"a thousand requests of three paths", lines(1000, "/a", "/b", "/c", "/x"), []string{"8w"}},
		{"two hundred days", days, []string{"200w", "200w", "6w"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &unitMeter{}
			record, err := traffic.NewRecordFunction(&app.Env{
				Vars: map[string]string{
					"DYNAMODB_ENDPOINT": s.DynamoDB.Endpoint, "TRAFFIC_TABLE": s.DynamoDB.Tables["Traffic"], "COUNTED_PATHS": "/a /b /c",
				},
				AWS: s.metered(t, m), Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			stream := fmt.Sprint(len(tt.lines), strings.Contains(tt.name, "three"), strings.Contains(tt.name, "days"))
			event, err := accesslog.Delivery(stream, format, tt.lines)
			if err != nil {
				t.Fatal(err)
			}
			payload, err := json.Marshal(event)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := record.Invoke(t.Context(), payload); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, units := range tt.want {
				want = append(want, "TransactWriteItems "+units)
			}
			if diff := cmp.Diff(want, m.calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLongestMonth: 31 days, seven paths, all shards and groups are one page.
func TestLongestMonth(t *testing.T) {
	t.Parallel()
	s := start(t)
	var actions []types.WriteRequest
	flush := func() {
		table := s.DynamoDB.Tables["Traffic"]
		if _, err := s.client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: actions}}); err != nil {
			t.Fatal(err)
		}
		actions = nil
	}
	for path := range 7 {
		for day := range 31 {
			for shard := range traffic.Shards {
				key := fmt.Sprintf("/api/admin/service-account/{id}/token/%d#2027-01-%02d#%d", path, day+1, shard)
				actions = append(actions, types.WriteRequest{PutRequest: &types.PutRequest{Item: dynamo.Item{
					"period": dynamo.S("2027-01"), "pathDayShard": dynamo.S(key), "successfulRequests": dynamo.N(1 << 50),
					"clientErrors": dynamo.N(1 << 50), "serverErrors": dynamo.N(1 << 50),
				}}})
				if len(actions) == 25 {
					flush()
				}
			}
		}
	}
	flush()
	status, got := s.count(t, "GET /api/admin/metrics/traffic/2027-01", "admin", "", "")
	if len(got) != 2 || !strings.HasPrefix(got[1], "get-traffic-usage Query ") || status != 200 {
		t.Errorf("status %d, %v", status, got)
	}
}
