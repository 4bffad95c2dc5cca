package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// stalenessBench has an engine with many toggles, and the functions that re-evaluate them.
type stalenessBench struct {
	*database
	types         *featuretype.Store
	stream, sweep func(ctx context.Context, event any, sum summary)
}

// measureStaleness changes lifetimes so that an increasing number of flags must change.
func measureStaleness(ctx context.Context, o options) {
	b := &stalenessBench{database: startDatabase(ctx)}
	defer b.Stop()
	b.stream = b.evaluation("reevaluate-staleness")
	b.sweep = b.evaluation("sweep-staleness")
	b.types = b.createTypes(ctx, eventlog.New(b.client, b.tables, time.Now, 400))
	now := time.Now()
	putItems(ctx, b.client, b.tables["Features"], o.Toggles, func(i int) dynamo.Item {
		return toggleItem(i, typeID(i), now.AddDate(0, 0, -age(i/bulkTypes)).Add(-time.Duration(i)*time.Millisecond), false)
	})
	var rows [][]any
	for _, step := range [][3]int{ // types, days, flips
		{1, untouched - 1, 0}, {1, 700, 100}, {1, untouched, 100}, {1, 300, 10_000}, {1, untouched, 10_000},
		{1, 200, 100_000}, {1, untouched, 100_000}, {bulkTypes, 50, o.Toggles},
	} {
		if types, flips := step[0], step[2]; types > 1 || flips <= o.Toggles/bulkTypes {
			rows = append(rows, b.change(ctx, types, int64(step[1]), flips))
			fmt.Fprintln(os.Stderr, rows[len(rows)-1]...)
		}
	}
	printTable("A lifetime changes",
		" flips | invocations | s | queries | items read | transactions | memory MB", rows,
		"%d toggles of %d types on the local engine, in memory, client and engine sharing the machine. The real functions "+
			"with their real time limits, one invocation after the other: the stream's (all records of the change in one "+
			"batch), then sweeps without a pause between until nothing is left. Items are toggles read from the index. Memory "+
			"is the peak of the benchmark's process, which contains the functions.", o.Toggles, bulkTypes)
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

// summary has the sums of the numbers in the logs of invocations.
type summary map[string]int

// change changes the lifetime of types, and invokes the functions until no toggle is left. flips is the number of flags
// that must change.
func (b *stalenessBench) change(ctx context.Context, types int, days int64, flips int) []any {
	var event events.DynamoDBEvent
	for i := range types {
		must(b.types.SetLifetime(ctx, typeID(i), &days))
		event.Records = append(event.Records, events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{
			Keys: map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(typeID(i))}}})
	}
	debug.FreeOSMemory()
	check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // resets the peak
	sum, invocations, started := summary{}, 1, time.Now()
	for b.stream(ctx, event, sum); sum["left"] > 0; invocations++ {
		sum["left"] = 0
		b.sweep(ctx, nil, sum)
	}
	took, memory := time.Since(started), memoryMB(os.Getpid(), "VmHWM")
	if got := sum["flagged"] + sum["unflagged"]; got != flips {
		check(fmt.Errorf("%d flips, not %d", got, flips))
	}
	return []any{flips, invocations, took.Seconds(), sum["pages"], sum["read"], sum["writes"], memory}
}

// evaluation makes a function that re-evaluates. A call invokes it with its time limit, and adds what it logs to a sum.
func (b *stalenessBench) evaluation(name string) func(context.Context, any, summary) {
	var log bytes.Buffer
	f := function(b.template, name)
	handler := construct(f, newEnv(f, b.Endpoint(), &log))
	return func(ctx context.Context, event any, sum summary) {
		log.Reset()
		ctx, cancel := context.WithTimeout(ctx, f.Timeout)
		defer cancel()
		must(handler.Invoke(ctx, must(json.Marshal(event))))
		for line := range bytes.Lines(log.Bytes()) {
			var members map[string]any
			check(json.Unmarshal(line, &members))
			for name, value := range members {
				if n, ok := value.(float64); ok {
					sum[name] += int(n)
				}
			}
		}
	}
}
