package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventbus"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/staleness"
	"toggleadmin/pkg/platform/dynamo"
)

// The functions that re-evaluate toggles and send the events.
const (
	streamFunction  = "reevaluate-staleness"
	sweepFunction   = "sweep-staleness"
	publishFunction = "publish-events"
)

// stalenessBench has an engine with many toggles, and the functions.
type stalenessBench struct {
	*database
	counter
	types     *featuretype.Store
	events    *eventlog.Log
	functions map[string]lambda.Handler
	log       bytes.Buffer // of the functions that re-evaluate
}

// measureStaleness changes lifetimes so that an increasing number of flags must change.
func measureStaleness(ctx context.Context, o options) {
	b := &stalenessBench{database: startDatabase(ctx)}
	defer b.Stop()
	bus := httptest.NewServer(http.HandlerFunc(acceptEvents))
	defer bus.Close()
	b.functions = map[string]lambda.Handler{
		streamFunction:  b.construct(b.database, streamFunction, staleness.NewReevaluateFunction, b.Endpoint(), &b.log),
		sweepFunction:   b.construct(b.database, sweepFunction, staleness.NewSweepFunction, b.Endpoint(), &b.log),
		publishFunction: b.construct(b.database, publishFunction, eventbus.NewPublishFunction, bus.URL, io.Discard),
	}
	b.events = eventlog.New(b.client, b.tables, time.Now, 400)
	b.types = b.createTypes(ctx, b.events)
	now := time.Now()
	putToggles(ctx, b.client, b.tables.Features, o.Toggles, func(i int) dynamo.Item {
		return toggle(i, typeID(i), now.AddDate(0, 0, -age(i/bulkTypes)).Add(-time.Duration(i)*time.Millisecond), false)
	})
	var rows [][]any
	for _, step := range []struct {
		types int
		days  int64
		flips int
	}{
		{1, untouched - 1, 0}, {1, 700, 100}, {1, untouched, 100}, {1, 300, 10_000}, {1, untouched, 10_000},
		{1, 200, 100_000}, {1, untouched, 100_000}, {bulkTypes, 50, o.Toggles},
	} {
		if step.types > 1 || step.flips <= o.Toggles/bulkTypes {
			rows = append(rows, b.change(ctx, step.types, step.days, step.flips))
			fmt.Fprintln(os.Stderr, rows[len(rows)-1]...)
		}
	}
	printTable("A lifetime changes",
		fmt.Sprintf("%d toggles of %d types on the local engine, in memory, client and engine sharing the machine. The real "+
			"functions with their real time limits, one invocation after the other: the stream's (all records of the change "+
			"in one batch), then sweeps without a pause between until nothing is left. Items are toggles read from the index. "+
			"Memory is the peak of the benchmark's process, which contains the functions. Calls are those of the functions to "+
			"DynamoDB and of publish-events, which here runs after the others, to the bus.", o.Toggles, bulkTypes),
		[]any{"flips", "invocations", "s", "queries", "items read", "transactions", "calls per 1,000 flips",
			"memory MB"}, rows)
}

// acceptEvents is an EventBridge that accepts every event.
func acceptEvents(w http.ResponseWriter, r *http.Request) {
	var request struct{ Entries []struct{} }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, `{"FailedEntryCount":0,"Entries":[%s]}`,
		strings.TrimSuffix(strings.Repeat(`{"EventId":"1"},`, len(request.Entries)), ","))
}

// age returns the days since the creation of toggle number i of a type.
func age(i int) int {
	switch {
	case i < 100:
		return 900
	case i < 10_000:
		return 500
	case i < 100_000:
		return 250
	}
	return 100
}

// summary is the part of the log of an invocation that is measured: the sum of its lines.
type summary struct{ Left, Read, Pages, Writes int }

// change changes the lifetime of types, invokes the functions until no toggle is left, and sends the events. flips is
// the number of flags that must change.
func (b *stalenessBench) change(ctx context.Context, types int, days int64, flips int) []any {
	var event events.DynamoDBEvent
	for i := range types {
		must(b.types.SetLifetime(ctx, typeID(i), &days))
		event.Records = append(event.Records, events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{
			Keys: map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(typeID(i))}}})
	}
	debug.FreeOSMemory()
	check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // resets the peak
	b.calls.Store(0)
	invocations, started := 1, time.Now()
	sum := b.evaluate(ctx, streamFunction, event)
	for ; sum.Left > 0; invocations++ {
		sweep := b.evaluate(ctx, sweepFunction, nil)
		sum = summary{sweep.Left, sum.Read + sweep.Read, sum.Pages + sweep.Pages, sum.Writes + sweep.Writes}
	}
	took, memory := time.Since(started), memoryMB(os.Getpid(), "VmHWM")
	if got := b.publishSince(ctx, started); got != flips {
		check(fmt.Errorf("%d flips, not %d", got, flips))
	}
	calls := any("")
	if flips > 0 {
		calls = int(b.calls.Load()) * 1000 / flips
	}
	return []any{flips, invocations, took.Seconds(), sum.Pages, sum.Read, sum.Writes, calls, memory}
}

// evaluate invokes a function that re-evaluates, and returns the sum of its log.
func (b *stalenessBench) evaluate(ctx context.Context, name string, event any) (sum summary) {
	b.log.Reset()
	b.invoke(ctx, name, event)
	for line := range bytes.Lines(b.log.Bytes()) {
		var l summary
		check(json.Unmarshal(line, &l))
		sum = summary{sum.Left + l.Left, sum.Read + l.Read, sum.Pages + l.Pages, sum.Writes + l.Writes}
	}
	return sum
}

// invoke invokes a function with its time limit.
func (b *stalenessBench) invoke(ctx context.Context, name string, event any) []byte {
	ctx, cancel := context.WithTimeout(ctx, function(b.template, name).Timeout)
	defer cancel()
	return must(b.functions[name].Invoke(ctx, must(json.Marshal(event))))
}

// publishSince returns the number of flips in the log since a time, and sends their events in batches as the stream has
// them. A toggle may have one.
func (b *stalenessBench) publishSince(ctx context.Context, since time.Time) int {
	const batchSize = 100 // as in template.yaml
	var batch events.DynamoDBEvent
	send := func() {
		if response := b.invoke(ctx, publishFunction, batch); !bytes.Contains(response, []byte(`"batchItemFailures":[]`)) {
			check(errors.New("the bus refused an event"))
		}
		batch.Records = nil
	}
	flipped := map[eventlog.Subject]bool{}
	check(b.events.All(ctx, eventlog.Filter{From: since, Types: []string{
		string(eventlog.FeaturePotentiallyStaleOn), string(eventlog.FeaturePotentiallyStaleOff),
	}}, func(e eventlog.Event) error {
		if flipped[e.Subject] {
			return fmt.Errorf("two events of %s", e.Subject)
		}
		flipped[e.Subject] = true
		batch.Records = append(batch.Records, events.DynamoDBEventRecord{EventName: "INSERT",
			Change: events.DynamoDBStreamRecord{NewImage: map[string]events.DynamoDBAttributeValue{
				"id":   events.NewNumberAttribute(strconv.FormatInt(e.ID, 10)),
				"type": events.NewStringAttribute(string(e.Type)), "subject": events.NewStringAttribute(string(e.Subject)),
				"data": events.NewStringAttribute(string(e.Data)),
			}}})
		if len(batch.Records) == batchSize {
			send()
		}
		return nil
	}))
	if len(batch.Records) > 0 {
		send()
	}
	return len(flipped)
}
