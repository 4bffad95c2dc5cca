package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/platform/app"
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
	client   *dynamodb.Client
	features string
	search   lambda.Handler
	event    events.APIGatewayProxyRequest

	calls, items atomic.Int64 // of DynamoDB, by search-features
}

// measureToggles compares searches, and the searches of the console's preview of a lifetime, with one parallel scan of
// the table.
func measureToggles(ctx context.Context, _ options, _ string) error {
	e, err := engineInMemory(ctx)
	if err != nil {
		return err
	}
	defer e.Stop()
	b, err := newTogglesBench(ctx, e.Endpoint())
	if err != nil {
		return err
	}
	var rows [][]string
	measure := func(name, goal string, run func(context.Context) error) error {
		row, err := b.compare(ctx, name, goal, run)
		rows = append(rows, row)
		return err
	}
	search := func(parameters string) func(context.Context) error {
		return func(ctx context.Context) error { return b.find(ctx, parameters) }
	}
	flagged := 0
	for _, hits := range []int{0, 100, 1000, 4000} {
		if err := b.fill(ctx, flagged, hits); err != nil {
			return err
		}
		flagged = hits
		if hits == 1000 {
			err = errors.Join(
				measure("first page", "1.50", search("")),
				measure("part of a name, by name", "1.50", search("query=toggle-0001&sortBy=name")),
				measure("preview of a lifetime", "1 s", b.preview(500)),
			)
		}
		if err = errors.Join(err, measure(fmt.Sprintf("potentially stale: %d", hits), "",
			search("state=IS:potentially-stale"))); err != nil {
			return err
		}
	}
	printTable("Searches of toggles",
		fmt.Sprintf("%d toggles of %d types on the local engine, in memory, client and engine sharing the machine. The "+
			"real function in this "+
			"process, in turn with one scan of the table in %d parallel segments; median of %d rounds. A preview is the searches of the console's "+
			"page of types. Calls and items are those that the function makes and reads in DynamoDB.", manyToggles, bulkTypes,
			scanSegments, searchRounds),
		[]string{"search", "ms", "scan ms", "ratio", "goal", "calls", "items read"}, rows)
	return err
}

func newTogglesBench(ctx context.Context, endpoint string) (*togglesBench, error) {
	template, err := samtemplate.Load("template.yaml",
		samtemplate.Settings{Parameters: map[string]string{"DynamoDBEndpoint": endpoint}})
	if err != nil {
		return nil, err
	}
	b := &togglesBench{}
	if b.client, err = engineClient(endpoint); err != nil {
		return nil, err
	}
	if err := tables.Make(ctx, b.client, template.Tables); err != nil {
		return nil, err
	}
	names := dynamo.TablesByID(samtemplate.TableNames(template.Tables))
	b.features = names.Features
	store := featuretype.NewStore(b.client, names, eventlog.Quiet(b.client))
	for i := range bulkTypes {
		if err := store.Create(ctx, featuretype.FeatureType{ID: typeID(i), LifetimeDays: new(int64(untouched))}); err != nil {
			return nil, err
		}
	}
	sample, err := os.ReadFile("events/search-features.json")
	if err == nil {
		err = json.Unmarshal(sample, &b.event)
	}
	for i := range template.Functions {
		if f := &template.Functions[i]; err == nil && f.Name == "search-features" {
			env := &app.Env{Vars: f.Environment, AWS: engineConfig(endpoint), Now: time.Now, Random: rand.Reader,
				Logger: slog.New(slog.DiscardHandler)}
			env.AWS.APIOptions = []func(*middleware.Stack) error{b.count}
			b.search, err = feature.NewSearchFunction(env) //nolint:contextcheck // it makes a client, and no call
		}
	}
	return b, err
}

// count counts calls, and the items in their responses.
func (b *togglesBench) count(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Count", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		b.calls.Add(1)
		switch out := out.Result.(type) {
		case *dynamodb.QueryOutput:
			b.items.Add(int64(out.ScannedCount))
		case *dynamodb.ScanOutput:
			b.items.Add(int64(out.ScannedCount))
		case *dynamodb.BatchGetItemOutput:
			for _, items := range out.Responses {
				b.items.Add(int64(len(items)))
			}
		}
		return out, metadata, err
	}), middleware.After)
}

// fill writes all toggles, created evenly over three years, if none is potentially stale yet. It flags those up to
// hits.
func (b *togglesBench) fill(ctx context.Context, flagged, hits int) error {
	if flagged == 0 && hits == 0 {
		return b.put(ctx, 0, manyToggles, evenly(false))
	}
	return b.put(ctx, flagged, hits, evenly(true))
}

func evenly(flagged bool) func(i int) dynamo.Item {
	now, step := time.Now(), 3*365*24*time.Hour/manyToggles
	return func(i int) dynamo.Item { return searchItem(i, flagged, now.Add(-time.Duration(i)*step)) }
}

// searchItem is toggle number i, as pkg/api/feature stores it.
func searchItem(i int, flagged bool, created time.Time) dynamo.Item {
	item := bulkItem(i%bulkTypes, i, created)
	item["createdAt"], item["potentiallyStale"] = dynamo.Time(created), dynamo.Bool(flagged)
	item["description"] = dynamo.S("Shows the new checkout to customers whose cart has more than one item.")
	name := item.String("name")
	item["staleness"] = dynamo.S(feature.StalenessKey(typeID(i%bulkTypes), flagged, feature.Shard(name)))
	return item
}

func (b *togglesBench) put(ctx context.Context, from, to int, item func(i int) dynamo.Item) error {
	for start := from; start < to; start += 100 {
		var actions []types.TransactWriteItem
		for i := start; i < min(start+100, to); i++ {
			actions = append(actions, types.TransactWriteItem{Put: &types.Put{TableName: &b.features, Item: item(i)}})
		}
		if _, err := dynamo.Transact(ctx, b.client, actions); err != nil {
			return err
		}
	}
	return nil
}

// find invokes search-features.
func (b *togglesBench) find(ctx context.Context, parameters string) error {
	query, err := url.ParseQuery(parameters)
	if err != nil {
		return err
	}
	request := b.event
	request.MultiValueQueryStringParameters, request.QueryStringParameters = query, map[string]string{}
	for name := range maps.Keys(query) {
		request.QueryStringParameters[name] = query.Get(name)
	}
	payload, err := json.Marshal(request)
	if err != nil {
		return err
	}
	output, err := b.search.Invoke(ctx, payload)
	if err != nil {
		return err
	}
	var response events.APIGatewayProxyResponse
	if err := json.Unmarshal(output, &response); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d: %s", parameters, response.StatusCode, response.Body)
	}
	return nil
}

// preview does the searches of pkg/api/console/static/views/types.js for a lifetime, at the same time.
func (b *togglesBench) preview(days int) func(context.Context) error {
	return func(ctx context.Context) error {
		due := time.Now().AddDate(0, 0, -days).UTC().Format(time.RFC3339)
		errs := make([]error, 2)
		var all sync.WaitGroup
		for i, selected := range []string{"potentially-stale", "active,potentially-stale&createdBefore=" + due} {
			all.Go(func() { errs[i] = b.find(ctx, "limit=1&type=IS:type0&state=IS_ANY_OF:"+selected) })
		}
		all.Wait()
		return errors.Join(errs...)
	}
}

// scan reads the table once, in parallel segments.
func (b *togglesBench) scan(ctx context.Context) error {
	errs := make([]error, scanSegments)
	var read atomic.Int64
	var all sync.WaitGroup
	for i := range int32(scanSegments) {
		all.Go(func() {
			for _, err := range dynamo.ScanSegment(ctx, b.client, b.features, i, scanSegments) {
				errs[i] = errors.Join(errs[i], err)
				read.Add(1)
			}
		})
	}
	all.Wait()
	err := errors.Join(errs...)
	if err == nil && read.Load() != manyToggles {
		err = fmt.Errorf("the scan read %d toggles, not %d", read.Load(), manyToggles)
	}
	return err
}

// compare measures a search, in turn with the scan.
func (b *togglesBench) compare(ctx context.Context, name, goal string, run func(context.Context) error) ([]string,
	error) {
	var took, scanned []time.Duration
	for range searchRounds {
		b.calls.Store(0)
		b.items.Store(0)
		for _, m := range []struct {
			run  func(context.Context) error
			into *[]time.Duration
		}{{run, &took}, {b.scan, &scanned}} {
			started := time.Now()
			if err := m.run(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			*m.into = append(*m.into, time.Since(started))
		}
	}
	t, s := median(took), median(scanned)
	row := []string{
		name, milliseconds(t), milliseconds(s), ratio(t, s), goal, strconv.FormatInt(b.calls.Load(), 10),
		strconv.FormatInt(b.items.Load(), 10),
	}
	fmt.Fprintln(os.Stderr, strings.Join(row, " "))
	return row, nil
}
