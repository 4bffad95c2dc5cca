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

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/staleness"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

// stalenessBench has an engine with many toggles, and the functions that re-evaluate them.
type stalenessBench struct {
	*database
	types         *featuretype.Store
	stream, sweep func(ctx context.Context, event any) summary
}

// measureStaleness changes lifetimes so that an increasing number of flags must change.
func measureStaleness(ctx context.Context, o options) {
	b := &stalenessBench{database: startDatabase(ctx)}
	defer b.Stop()
	b.stream = b.evaluation("reevaluate-staleness", staleness.NewReevaluateFunction)
	b.sweep = b.evaluation("sweep-staleness", staleness.NewSweepFunction)
	b.types = b.createTypes(ctx, eventlog.New(b.client, b.tables, time.Now, 400))
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
			"Memory is the peak of the benchmark's process, which contains the functions.", o.Toggles, bulkTypes),
		[]any{"flips", "invocations", "s", "queries", "items read", "transactions", "memory MB"}, rows)
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
type summary struct{ Left, Read, Pages, Writes, Flagged, Unflagged int }

func (s *summary) add(other summary) {
	*s = summary{s.Left + other.Left, s.Read + other.Read, s.Pages + other.Pages, s.Writes + other.Writes,
		s.Flagged + other.Flagged, s.Unflagged + other.Unflagged}
}

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
	invocations, started := 1, time.Now()
	sum := b.stream(ctx, event)
	for ; sum.Left > 0; invocations++ {
		sum.Left = 0
		sum.add(b.sweep(ctx, nil))
	}
	took, memory := time.Since(started), memoryMB(os.Getpid(), "VmHWM")
	if got := sum.Flagged + sum.Unflagged; got != flips {
		check(fmt.Errorf("%d flips, not %d", got, flips))
	}
	return []any{flips, invocations, took.Seconds(), sum.Pages, sum.Read, sum.Writes, memory}
}

// evaluation makes a function that re-evaluates. A call invokes it with its time limit, and returns the sum of its log.
func (b *stalenessBench) evaluation(name string, constructor app.Constructor) func(context.Context, any) summary {
	var log bytes.Buffer
	f := function(b.template, name)
	handler := construct(constructor, newEnv(f, b.Endpoint(), &log))
	return func(ctx context.Context, event any) (sum summary) {
		log.Reset()
		ctx, cancel := context.WithTimeout(ctx, f.Timeout)
		defer cancel()
		must(handler.Invoke(ctx, must(json.Marshal(event))))
		for line := range bytes.Lines(log.Bytes()) {
			var l summary
			check(json.Unmarshal(line, &l))
			sum.add(l)
		}
		return sum
	}
}
