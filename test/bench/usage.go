package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	usedToggles    = 1000
	applications   = 50
	usageProcesses = 2
	usageHours     = 24
	usageRounds    = 5
	// mergedToggles is the number of toggles that have records. Each has a partition of its own.
	mergedToggles = 20
	// togglesOfTally is the number of toggles with which a tally of all applications has about 300 kB.
	togglesOfTally = 150
)

// measureUsage measures reading usage: first from what processes wrote, then from merged hours.
func measureUsage(ctx context.Context, _ options) {
	b := &usageBench{database: startDatabase(ctx)}
	defer b.Stop()
	hour := usage.HourOf(time.Now())
	putItems(ctx, b.client, b.tables["Features"], usedToggles, func(i int) dynamo.Item {
		return toggleItem(i, typeID(i), time.Now(), false)
	})
	const tallies = usageProcesses * (usedToggles + togglesOfTally - 1) / togglesOfTally
	b.put(ctx, usageHours*tallies, func(i int) dynamo.Item {
		at := hour.Add(-time.Duration(i/tallies) * time.Hour)
		return must(usagetable.MarshalPart(usagetable.Part{
			Kind: usagetable.KindTally, Hour: at, Environment: "production", ID: fmt.Sprint(i % tallies), WrittenAt: at,
		}, newTally(i%tallies/usageProcesses*togglesOfTally)))
	})
	b.put(ctx, 1, func(int) dynamo.Item {
		return usagetable.MarshalApplication(usagetable.Application{Name: "application-0", CreatedAt: hour, SeenAt: hour})
	})
	name := newToggle(7, "", hour, false).Name
	b.measure(ctx, "usage of a toggle, no hour merged", "", "get-feature-usage-summary", map[string]string{"name": name})
	b.measure(ctx, "toggles of an application, no hour merged", "", "get-application", map[string]string{"appName": "application-0"})
	b.measure(ctx, "names that do not exist, no hour merged", "", "get-unknown-flags", nil)

	// All hours but the running one are merged, as usual.
	b.put(ctx, mergedToggles*(usageHours-1), func(i int) dynamo.Item {
		record := usagetable.Record{
			Feature: newToggle(i%mergedToggles, "", hour, false).Name, Environment: "production",
			Hour: hour.Add(-time.Duration(1+i/mergedToggles) * time.Hour), Applications: byApplication(),
		}
		return must(usagetable.MarshalRecord(record))
	})
	b.put(ctx, usageHours-1, func(i int) dynamo.Item {
		return usagetable.MarshalMarker(hour.Add(-time.Duration(i+1)*time.Hour), "merged")
	})
	b.put(ctx, usageHours-1, func(i int) dynamo.Item {
		return must(usagetable.MarshalUse(usagetable.UseRecord{
			Application: "application-0", Environment: "production", Hour: hour.Add(-time.Duration(i+1) * time.Hour),
			Features: usedNames(),
		}))
	})
	b.measure(ctx, "usage of a toggle", "300", "get-feature-usage-summary", map[string]string{"name": name})
	b.measure(ctx, "usage of a toggle per hour", "300", "get-raw-feature-metrics", map[string]string{"name": name})
	b.measure(ctx, "toggles of an application", "300", "get-application", map[string]string{"appName": "application-0"})
	b.measure(ctx, "names that do not exist", "300", "get-unknown-flags", nil)
	b.measure(ctx, "list of all toggles, usage not read yet", "", "get-features", map[string]string{"projectId": "default"})
	printTable("Usage of toggles", " read | ms | goal", b.rows,
		"%d toggles that %d applications use in each of %d hours, counted by %d processes, on the local engine, in memory, "+
			"client and engine sharing the machine. %d toggles have records of merged hours. Each round constructs the real "+
			"function, in this process; median of %d rounds.", usedToggles, applications, usageHours, usageProcesses,
		mergedToggles, usageRounds)
}

// usageBench has an engine with usage.
type usageBench struct {
	*database
	rows [][]any
}

func (b *usageBench) put(ctx context.Context, n int, item func(i int) dynamo.Item) {
	items := make([]dynamo.Item, n)
	for i := range items {
		items[i] = item(i)
	}
	putItems(ctx, b.client, b.tables[usagetable.Table], n, func(i int) dynamo.Item { return items[i] })
}

func byApplication() usage.ByApplication {
	counts := usage.ByApplication{}
	for i := range applications {
		counts[fmt.Sprint("application-", i)] = usage.Counts{Yes: 1000, No: 100}
	}
	return counts
}

// newTally returns a tally of toggles from a number on.
func usedNames() []string {
	names := make([]string, usedToggles)
	for i := range names {
		names[i] = newToggle(i, "", time.Time{}, false).Name
	}
	return names
}

func newTally(first int) usage.Tally {
	tally := usage.NewTally()
	for i := first; i < min(first+togglesOfTally, usedToggles); i++ {
		tally.Features[newToggle(i, "", time.Time{}, false).Name] = byApplication()
	}
	return tally
}

// measure measures the sample event of a function with other path parameters.
func (b *usageBench) measure(ctx context.Context, name, goal, operation string, parameters map[string]string) {
	f := function(b.template, operation)
	var request events.APIGatewayProxyRequest
	check(json.Unmarshal(sampleEvent(operation), &request))
	request.PathParameters = parameters
	request.QueryStringParameters, request.MultiValueQueryStringParameters = nil, nil
	event := must(json.Marshal(request))
	var took []time.Duration
	for range usageRounds {
		handler := construct(f, newEnv(f, b.Endpoint(), io.Discard))
		took = append(took, invocation(ctx, handler, event))
	}
	b.rows = append(b.rows, []any{name, median(took), goal})
}

// invocation returns how long an invocation takes, which must succeed.
func invocation(ctx context.Context, handler lambda.Handler, event []byte) time.Duration {
	started := time.Now()
	output, err := handler.Invoke(ctx, event)
	took := time.Since(started)
	if err == nil && !bytes.Contains(output, []byte(`"statusCode":200`)) {
		err = fmt.Errorf("%s: %s", event, output)
	}
	check(err)
	return took
}
