package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"time"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

const (
	lagRounds   = 30
	lagToggles  = 100
	lagPatience = 30 * time.Second
	aging       = "aging" // the type of the toggles
)

// change is an event of a changed flag: when it was recorded, and when the webhook received it.
type change struct{ recorded, received time.Time }

// measureLag measures, through `make run`, the delay from the response to a lifetime change, and from the change of a
// flag, until the webhook receives the events of the flags.
func measureLag(ctx context.Context, o options) {
	changes := make(chan change, lagToggles)
	webhook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e struct {
			Time time.Time
			Data struct{ FeatureName, FeatureType string }
		}
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if e.Data.FeatureName != "" && e.Data.FeatureType == aging {
			changes <- change{e.Time, time.Now()}
		}
	}))
	defer webhook.Close()
	s := startService(ctx, o, filepath.Join(o.disk, "lag"), "WEBHOOK_URL="+webhook.URL)
	defer s.stop()
	check(featuretype.NewStore(s.client, s.tables, eventlog.Discard(s.client, time.Now)).Create(ctx,
		toggle.Type{ID: aging, Name: "Aging", Position: 9}))
	created := time.Now().AddDate(0, 0, -100)
	putItems(ctx, s.client, s.tables["Features"], lagToggles,
		func(i int) dynamo.Item { return toggleItem(i, aging, created, false) })
	var first, last [2][]time.Duration
	var deliveries []time.Duration
	for range lagRounds {
		for i, days := range []string{"50", "null"} {
			must(dial(ctx, s.BaseURL).do(http.StatusOK, http.MethodPut, "/api/admin/feature-types/"+aging+"/lifetime", s.Users[0].PAT,
				`{"lifetimeDays":`+days+`}`))
			started, timeout, earliest := time.Now(), time.After(lagPatience), lagPatience
			for n := range lagToggles {
				select {
				case c := <-changes:
					earliest = min(earliest, c.recorded.Sub(started))
					deliveries = append(deliveries, c.received.Sub(c.recorded))
				case <-timeout:
					check(fmt.Errorf("%d of %d events after %s", n, lagToggles, lagPatience))
				}
			}
			first[i] = append(first[i], max(0, earliest)) // times of events are in milliseconds
			last[i] = append(last[i], time.Since(started))
		}
	}
	row := func(name string, lags []time.Duration, goal int) []any {
		return []any{name, percentile(lags, 0.5), percentile(lags, 0.99), percentile(lags, 1), goal}
	}
	printTable("From a lifetime's change to the events of the flags", "  | p50 ms | p99 ms | max ms | goal ms", [][]any{
		row("first flag set", first[0], 300), row("events of 100 flags set", last[0], 2000),
		row("first flag cleared", first[1], 300), row("events of 100 flags cleared", last[1], 2000),
		row("delivery of an event", deliveries, 300),
	}, "The program of `make run`, as a process with its data in a folder; from the 200 of the PUT (its body read) until the "+
		"webhook has received the events of all flags. %d toggles of one type, %d changes from null to 50 days and back. "+
		"First flag: until the time of the first event. Last row: from the time of each event.", lagToggles, lagRounds)
}
