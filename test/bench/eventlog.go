package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// eventsBench has an engine with events, and the function search-events.
type eventsBench struct {
	*database
	meter  meter
	search lambda.Handler
	rows   [][]any
}

// measureEvents measures pages of a large event log.
func measureEvents(ctx context.Context, o options) {
	b := &eventsBench{database: startDatabase(ctx)}
	defer b.Stop()
	f := function(b.template, "search-events")
	env := newEnv(f, b.Endpoint(), io.Discard)
	env.AWS.APIOptions = []func(*middleware.Stack) error{b.meter.add}
	b.search = construct(f, env)
	first := eventlog.FirstID(time.Now().AddDate(0, 0, -400))
	step := (eventlog.FirstID(time.Now()) - first) / int64(o.Events)
	putItems(ctx, b.client, b.tables["Events"], o.Events, func(i int) dynamo.Item {
		id := first + int64(i)*step
		id += int64(i%eventlog.Shards) - id%eventlog.Shards
		return eventItem(id, i)
	})
	b.measure(ctx, "first page of 50 events", "")
	b.measure(ctx, "first page of 1,000 events", "limit=1000")
	b.measure(ctx, "events of one toggle", "feature=IS:checkout-toggle-0000007")
	b.measure(ctx, "events of one type", "type=IS:feature-archived")
	b.measure(ctx, "text that no event contains", "query=absent")
	printTable("Searches of the event log", " search | ms | read units | calls", b.rows,
		"%d events of about 0.5 kB on the local engine, in memory, client and engine sharing the machine. The real function "+
			"in this process; median of %d rounds. Read units are those that DynamoDB would charge.", o.Events, searchRounds)
}

// eventItem is an event as pkg/eventlog stores it.
func eventItem(id int64, i int) dynamo.Item {
	name := fmt.Sprintf("checkout-toggle-%07d", i%10_000)
	kind := eventlog.FeatureUpdated
	if i%10 == 0 {
		kind = eventlog.FeatureArchived
	}
	return dynamo.Item{
		eventlog.AttributeShard:           dynamo.S(eventlog.Partition(id)),
		eventlog.AttributeID:              dynamo.N(id),
		eventlog.AttributeType:            dynamo.S(string(kind)),
		eventlog.AttributeSubject:         dynamo.S("toggle:" + name),
		eventlog.AttributeCreatedByUserID: dynamo.N(7),
		eventlog.AttributeProject:         dynamo.S("default"),
		eventlog.AttributeFeatureName:     dynamo.S(name),
		eventlog.AttributeData: dynamo.S(`{"name":"` + name + `","project":"default","type":"release","description":` +
			`"Shows the new checkout to customers whose cart has more than one item.","impressionData":false,"stale":false}`),
	}
}

// measure measures a search.
func (b *eventsBench) measure(ctx context.Context, name, parameters string) {
	var request events.APIGatewayProxyRequest
	check(json.Unmarshal(sampleEvent("search-events"), &request))
	query := must(url.ParseQuery(parameters))
	request.MultiValueQueryStringParameters, request.QueryStringParameters = query, map[string]string{}
	for key := range query {
		request.QueryStringParameters[key] = query.Get(key)
	}
	payload := must(json.Marshal(request))
	var took []time.Duration
	for range searchRounds {
		b.meter.reset()
		started := time.Now()
		output := must(b.search.Invoke(ctx, payload))
		took = append(took, time.Since(started))
		if !bytes.Contains(output, []byte(`"statusCode":200`)) {
			check(fmt.Errorf("%s: %s", parameters, output))
		}
	}
	b.rows = append(b.rows, []any{name, median(took), strconv.FormatFloat(b.meter.units, 'f', 1, 64), b.meter.calls})
}
