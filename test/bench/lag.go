package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	lagRounds   = 30
	lagToggles  = 100
	lagPatience = 30 * time.Second
	aging       = "aging" // the type of the toggles
)

// measureLag measures, through `make run`, the delay from the response to a lifetime change until the flags are stored,
// and from the change of a flag until the webhook receives its event.
func measureLag(ctx context.Context, o options) {
	received := make(receiver, lagToggles)
	webhook := httptest.NewServer(received)
	defer webhook.Close()
	s := startService(ctx, o, filepath.Join(o.disk, "lag"), "WEBHOOK_URL="+webhook.URL)
	defer s.stop()
	check(featuretype.NewStore(s.client, s.tables, eventlog.Quiet(s.client)).Create(ctx,
		featuretype.FeatureType{ID: aging, Name: "Aging", Position: 9}))
	created := time.Now().AddDate(0, 0, -100)
	putToggles(ctx, s.client, s.tables.Features, lagToggles,
		func(i int) dynamo.Item { return toggle(i, aging, created, false) })
	var first, last [2][]time.Duration
	var delays []time.Duration
	for range max(o.Rounds, lagRounds) {
		for i, days := range []string{"50", "null"} {
			f, l := s.lag(ctx, days, (1-i)*lagToggles)
			first[i], last[i] = append(first[i], f), append(last[i], l)
			delays = append(delays, received.await(lagToggles)...)
		}
	}
	row := func(name string, lags []time.Duration, goal int) []any {
		return []any{name, percentile(lags, 0.5), percentile(lags, 0.99), goal}
	}
	printTable("From a lifetime's change to the flags",
		fmt.Sprintf("The program of `make run`, as a process with its data in a folder; from the 200 of the PUT (its body "+
			"read) to the end of the first count that shows the flags: consistent scans of the toggles, one after the other, "+
			"which load the engine too. %d toggles of one type, %d changes from null to 50 days and back. Events: from the "+
			"change of a flag to the end of the webhook's request.", lagToggles, len(first[0])),
		[]any{"", "p50 ms", "p99 ms", "goal ms"}, [][]any{
			row("first flag set", first[0], 300), row("last of 100 flags set", last[0], 2000),
			row("first flag cleared", first[1], 300), row("last of 100 flags cleared", last[1], 2000),
			row("event at the webhook", delays, 300),
		})
}

// receiver is a webhook. It contains the delays of the events of changed flags.
type receiver chan time.Duration

// ServeHTTP receives an event.
func (r receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var e struct {
		Type string
		Time time.Time
	}
	if err := json.NewDecoder(request.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if strings.Contains(e.Type, "potentially-stale") {
		r <- time.Since(e.Time)
	}
}

// await waits for n events and returns their delays.
func (r receiver) await(n int) (delays []time.Duration) {
	for timeout := time.After(lagPatience); len(delays) < n; {
		select {
		case delay := <-r:
			delays = append(delays, delay)
		case <-timeout:
			check(fmt.Errorf("%d of %d events after %s", len(delays), n, lagPatience))
		}
	}
	return delays
}

// lag changes the lifetime and returns the delay of the first and the last changed flag.
func (s *service) lag(ctx context.Context, days string, want int) (first, last time.Duration) {
	c := dial(ctx, s)
	defer c.Close()
	must(c.do(http.StatusOK, http.MethodPut, "/api/admin/feature-types/"+aging+"/lifetime", s.Users[0].PAT,
		`{"lifetimeDays":`+days+`}`))
	started := time.Now()
	for {
		n := s.flags(ctx)
		last = time.Since(started)
		if first == 0 && n != lagToggles-want {
			first = last
		}
		if n == want {
			return first, last
		}
		if last > lagPatience {
			check(fmt.Errorf("%d flags after %s, not %d", n, last, want))
		}
	}
}

// flags counts the flagged toggles, all in one page.
func (s *service) flags(ctx context.Context) int {
	return int(must(s.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: &s.tables.Features, Select: types.SelectCount, ConsistentRead: aws.Bool(true),
		FilterExpression:          aws.String("#type = :type AND potentiallyStale = :true"),
		ExpressionAttributeNames:  map[string]string{"#type": "type"},
		ExpressionAttributeValues: dynamo.Item{":type": dynamo.S(aging), ":true": dynamo.Bool(true)},
	})).Count)
}
