package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	manyToggles  = 10_000
	searchRounds = 11
	// scanSegments is the number of segments in which search-features reads the table.
	scanSegments = 4
)

// togglesBench has an engine with toggles, and the function search-features.
type togglesBench struct {
	*database
	scanned      *database // the database whose table is scanned for comparison
	searched     *database // by the function
	search       lambda.Handler
	calls, items atomic.Int64 // of the function to DynamoDB, and that these read
	rows         [][]any
}

// measureToggles compares searches, and the searches of the console's preview of a lifetime, with one parallel scan of
// the table.
func measureToggles(ctx context.Context, _ options) {
	b := &togglesBench{database: startDatabase(ctx)}
	defer b.Stop()
	b.scanned = b.database
	b.createTypes(ctx, eventlog.Discard(b.client, time.Now))
	b.search = b.newSearch(b.database)
	now, step := time.Now(), 3*365*24*time.Hour/manyToggles
	put := func(n int, flagged bool) {
		putItems(ctx, b.client, b.tables["Features"], n, func(i int) dynamo.Item {
			return toggleItem(i, typeID(i), now.Add(-time.Duration(i)*step), flagged)
		})
	}
	put(manyToggles, false)
	b.compare(ctx, "potentially stale: 0", "", "state=IS:potentially-stale")
	put(1000, true)
	b.compare(ctx, "potentially stale: 1,000", "", "state=IS:potentially-stale")
	b.compare(ctx, "first page", "1.50", "")
	b.compare(ctx, "part of a name, by name", "1.50", "query=toggle-0001&sortBy=name")
	// The searches of pkg/api/console/static/views/types.js for a lifetime.
	const preview = "limit=1&type=IS:type0&state=IS_ANY_OF:"
	b.compare(ctx, "preview of a lifetime", "1 s", preview+"potentially-stale",
		preview+"active,potentially-stale&createdBefore="+now.AddDate(0, 0, -500).UTC().Format(time.RFC3339))
	active := startDatabase(ctx)
	defer active.Stop()
	active.createTypes(ctx, eventlog.Discard(active.client, time.Now))
	putItems(ctx, active.client, active.tables["Features"], manyToggles, func(i int) dynamo.Item {
		return activeItem(i, typeID(i), now.Add(-time.Duration(i)*step), i < 1000)
	})
	b.search = b.newSearch(active)
	b.compare(ctx, "with strategies: first page", "1.50", "")
	b.compare(ctx, "with strategies: part of a name, by name", "1.50", "query=toggle-0001&sortBy=name")
	b.compare(ctx, "with strategies: overdue", "1.50", "stage=IS:overdue")
	b.compare(ctx, "with strategies: rolling out", "1.50", "stage=IS:rolling-out")
	printTable("Searches of toggles",
		" search | ms | ratio | goal | ratio of processor time | calls | items read", b.rows,
		"%d toggles of %d types on the local engine, in memory, client and engine sharing the machine. The "+
			"real function in this process, in turn with one scan of the table in %d parallel segments; median of %d rounds. "+
			"Toggles with strategies have two strategies in each of two environments; they are compared with the scan of the "+
			"toggles without. A preview is the searches of the console's page of types. Calls and items are those that the function makes and "+
			"reads in DynamoDB.", manyToggles, bulkTypes, scanSegments, searchRounds)
}

// newSearch returns the function search-features of a database. b counts its calls.
func (b *togglesBench) newSearch(d *database) lambda.Handler {
	f := function(d.template, "search-features")
	env := newEnv(f, d.Endpoint(), io.Discard)
	env.AWS.APIOptions = []func(*middleware.Stack) error{b.count}
	b.searched = d
	return construct(f, env)
}

// compare measures concurrent searches, in turn with the scan.
func (b *togglesBench) compare(ctx context.Context, name, goal string, searches ...string) {
	var requests [][]byte
	for _, search := range searches {
		requests = append(requests, searchRequest(search))
	}
	var took, scanned, used, usedByScan []time.Duration
	for range searchRounds {
		b.calls.Store(0)
		b.items.Store(0)
		before := b.processorTime()
		took = append(took, concurrently(len(searches), func(i int) error { return b.find(ctx, requests[i]) }))
		used = append(used, b.processorTime()-before)
		var read atomic.Int64
		before = b.processorTime()
		scanned = append(scanned, concurrently(scanSegments, func(i int) error {
			var errs error
			segment := int32(i)
			for _, err := range dynamo.ScanSegment(ctx, b.scanned.client, b.scanned.tables["Features"], segment, scanSegments) {
				errs = errors.Join(errs, err)
				read.Add(1)
			}
			return errs
		}))
		usedByScan = append(usedByScan, b.processorTime()-before)
		if read.Load() != manyToggles {
			check(fmt.Errorf("the scan read %d toggles, not %d", read.Load(), manyToggles))
		}
	}
	b.rows = append(b.rows, []any{name, median(took), ratio(took, scanned), goal, ratio(used, usedByScan), b.calls.Load(),
		b.items.Load()})
}

// processorTime is that of this process and of the engines.
func (b *togglesBench) processorTime() time.Duration {
	sum := cpuTime(os.Getpid()) + cpuTime(b.searched.PID())
	if b.scanned != b.searched {
		sum += cpuTime(b.scanned.PID())
	}
	return sum
}

// concurrently runs n calls and returns how long they took together.
func concurrently(n int, call func(i int) error) time.Duration {
	started, errs := time.Now(), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = call(i) })
	}
	all.Wait()
	check(errors.Join(errs...))
	return time.Since(started)
}

// searchRequest returns an event of search-features.
func searchRequest(parameters string) []byte {
	var request events.APIGatewayProxyRequest
	check(json.Unmarshal(sampleEvent("search-features"), &request))
	query := must(url.ParseQuery(parameters))
	request.MultiValueQueryStringParameters, request.QueryStringParameters = query, map[string]string{}
	for name := range query {
		request.QueryStringParameters[name] = query.Get(name)
	}
	return must(json.Marshal(request))
}

// find invokes search-features.
func (b *togglesBench) find(ctx context.Context, request []byte) error {
	output, err := b.search.Invoke(ctx, request)
	if err == nil && !bytes.Contains(output, []byte(`"statusCode":200`)) {
		err = fmt.Errorf("%s: %s", request, output)
	}
	return err
}

// count counts the calls of a client, and the items that they read.
func (b *togglesBench) count(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Count", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		b.calls.Add(1)
		switch result := out.Result.(type) {
		case *dynamodb.QueryOutput:
			b.items.Add(int64(result.ScannedCount))
		case *dynamodb.ScanOutput:
			b.items.Add(int64(result.ScannedCount))
		case *dynamodb.BatchGetItemOutput:
			for _, items := range result.Responses {
				b.items.Add(int64(len(items)))
			}
		}
		return out, metadata, err
	}), middleware.After)
}
