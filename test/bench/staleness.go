package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
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

	"toggleadmin/pkg/api/eventbus"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/staleness"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	bulkTypes = 5
	// untouched is a lifetime, in days, that no toggle has reached.
	untouched = 1000
)

// stalenessBench has an engine with many toggles, and the two functions that re-evaluate them.
type stalenessBench struct {
	client   *dynamodb.Client
	types    *featuretype.Store
	features string
	events   *eventlog.Log
	stream   lambda.Handler
	sweep    lambda.Handler
	publish  *eventbus.Publisher // nil: events are not sent
	calls    atomic.Int64        // of DynamoDB and the bus, by the functions
	timeouts map[string]time.Duration
	toggles  int // of all types together

	mu  sync.Mutex
	log bytes.Buffer
}

// measureStaleness changes lifetimes so that an increasing number of flags must change.
func measureStaleness(ctx context.Context, o options, _ string) error {
	e, err := engineInMemory(ctx)
	if err != nil {
		return err
	}
	defer e.Stop()
	a, err := newStalenessBench(ctx, e.Endpoint(), o.Events)
	if err != nil {
		return err
	}
	started := time.Now()
	if err := a.fill(ctx, o.Toggles); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d toggles after %s\n", a.toggles, time.Since(started).Round(time.Second))
	one := []string{typeID(0)}
	var all []string
	for i := range bulkTypes {
		all = append(all, typeID(i))
	}
	var rows [][]string
	for _, step := range []struct {
		types []string
		days  int64
		flips int
	}{
		{one, untouched - 1, 0}, {one, 700, 100}, {one, untouched, 100}, {one, 300, 10_000}, {one, untouched, 10_000},
		{one, 200, 100_000}, {one, untouched, 100_000}, {all, 50, a.toggles},
	} {
		if step.flips > a.toggles/bulkTypes && len(step.types) == 1 {
			continue
		}
		m, err := a.change(ctx, step.types, step.days)
		if err != nil {
			return err
		}
		if m.flips != step.flips {
			return fmt.Errorf("%d flips, not %d", m.flips, step.flips)
		}
		rows = append(rows, m.row())
		fmt.Fprintln(os.Stderr, strings.Join(rows[len(rows)-1], " "))
	}
	printTable("A lifetime changes",
		fmt.Sprintf("%d toggles of %d types on the local engine, in memory, client and engine sharing the machine. The "+
			"real functions with their real "+
			"time limits, one invocation after the other: the stream's (all records of the change in one batch), then sweeps without a pause between "+
			"until nothing is left. Items are toggles read from the index. Memory is the peak of the benchmark's process, which contains the functions. "+
			"Calls are those of the functions to DynamoDB and, with events, of publish-events to the bus, which here runs after the others.",
			a.toggles, bulkTypes),
		[]string{
			"flips", "invocations", "s", "flips/s", "queries", "items read", "per flip", "transactions", "memory MB",
			"calls", "per 1,000 flips", "s to publish",
		}, rows)
	return nil
}

func typeID(i int) string { return "type" + strconv.Itoa(i) }

func newStalenessBench(ctx context.Context, endpoint string, publishes bool) (*stalenessBench, error) {
	template, err := samtemplate.Load("template.yaml",
		samtemplate.Settings{Parameters: map[string]string{"DynamoDBEndpoint": endpoint}})
	if err != nil {
		return nil, err
	}
	a := &stalenessBench{timeouts: map[string]time.Duration{}}
	if a.client, err = engineClient(endpoint); err != nil {
		return nil, err
	}
	if err := tables.Make(ctx, a.client, template.Tables); err != nil {
		return nil, err
	}
	var found dynamo.Tables
	for _, t := range template.Tables {
		if t.LogicalID == "Events" {
			found.Events = t.Name
		}
	}
	a.events = eventlog.New(a.client, found, time.Now, 400)
	counted := []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Count", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			a.calls.Add(1)
			return next.HandleInitialize(ctx, in)
		}), middleware.After)
	}}
	if publishes {
		bus, err := startBus(ctx)
		if err != nil {
			return nil, err
		}
		cfg := engineConfig(endpoint)
		cfg.BaseEndpoint, cfg.APIOptions = &bus, counted
		a.publish = &eventbus.Publisher{
			Bus: eventbus.NewBus(cfg, "bench"), Source: "bench", Now: time.Now, Pause: dynamo.Pause,
			Logger: slog.New(slog.DiscardHandler),
		}
	}
	for i := range template.Functions {
		f := &template.Functions[i]
		env := &app.Env{Vars: f.Environment, AWS: engineConfig(endpoint), Now: time.Now,
			Logger: slog.New(slog.NewJSONHandler(a, nil))}
		env.AWS.APIOptions = counted
		a.timeouts[f.Name] = f.Timeout
		switch f.Name {
		case "reevaluate-staleness":
			a.stream, err = staleness.NewReevaluateFunction(env) //nolint:contextcheck // it makes a client, and no call
			a.features = f.Environment["FEATURES_TABLE"]
			a.types = featuretype.NewStore(a.client, dynamo.Tables{FeatureTypes: f.Environment["FEATURE_TYPES_TABLE"]}, a.events)
		case "sweep-staleness":
			a.sweep, err = staleness.NewSweepFunction(env) //nolint:contextcheck // it makes a client, and no call
		}
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// startBus starts an EventBridge that accepts every event, in this process, until the context ends.
func startBus(ctx context.Context) (endpoint string, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request struct{ Entries []struct{} }
			if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			fmt.Fprintf(w, `{"FailedEntryCount":0,"Entries":[%s]}`,
				strings.TrimSuffix(strings.Repeat(`{"EventId":"1"},`, len(request.Entries)), ","))
		})}
	go server.Serve(listener) //nolint:errcheck // it ends with the process
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return "http://" + listener.Addr().String(), nil
}

// fill creates the types and their toggles: of each type 100 are 900 days old, 9,900 are 500, 90,000 are 250, and the
// others 100.
func (a *stalenessBench) fill(ctx context.Context, n int) error {
	for i := range bulkTypes {
		if err := a.types.Create(ctx,
			featuretype.FeatureType{ID: typeID(i), LifetimeDays: new(int64(untouched))}); err != nil {
			return err
		}
	}
	const batch = 100
	a.toggles = n / bulkTypes / batch * batch * bulkTypes
	now := time.Now()
	const writers = 8
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for start := w * batch; start < a.toggles && errs[w] == nil; start += writers * batch {
				actions := make([]types.TransactWriteItem, batch)
				for i := range actions {
					n := start + i
					actions[i].Put = &types.Put{TableName: &a.features, Item: bulkItem(n%bulkTypes, n/bulkTypes, now)}
				}
				_, errs[w] = dynamo.Transact(ctx, a.client, actions)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// bulkItem is toggle number i of a type, as pkg/api/feature stores it.
func bulkItem(kind, i int, now time.Time) dynamo.Item {
	days := 100
	switch {
	case i < 100:
		days = 900
	case i < 10_000:
		days = 500
	case i < 100_000:
		days = 250
	}
	name := fmt.Sprintf("checkout-toggle-%d-%07d", kind, i)
	return dynamo.Item{
		"name": dynamo.S(name), "project": dynamo.S("default"), "type": dynamo.S(typeID(kind)),
		"createdAt": dynamo.Time(now.AddDate(0, 0, -days).Add(-time.Duration(i) * time.Millisecond)),
		"archived":  dynamo.Bool(false),
		"stale":     dynamo.Bool(false), "potentiallyStale": dynamo.Bool(false),
		"contextFields": dynamo.Strings([]string{"userId"}),
		"staleness":     dynamo.S(feature.StalenessKey(typeID(kind), false, feature.Shard(name))),
	}
}

// measured is the cost of one change.
type measured struct {
	line
	flips       int // in the event log
	invocations int
	took        time.Duration
	memory      float64
	calls       int64
	published   time.Duration
}

// line is the part of a run's log lines that is measured; several lines are summed.
type line struct {
	Left, Read, Pages, Writes int
}

func (m *measured) row() []string {
	perFlip, perSecond, calls := "-", "-", "-"
	if m.flips > 0 {
		perFlip = fmt.Sprintf("%.3f", float64(m.Read)/float64(m.flips))
		perSecond = fmt.Sprintf("%.0f", float64(m.flips)/m.took.Seconds())
		calls = fmt.Sprintf("%.0f", 1000*float64(m.calls)/float64(m.flips))
	}
	return []string{
		strconv.Itoa(m.flips), strconv.Itoa(m.invocations), fmt.Sprintf("%.2f", m.took.Seconds()), perSecond,
		strconv.Itoa(m.Pages), strconv.Itoa(m.Read),
		perFlip, strconv.Itoa(m.Writes), fmt.Sprintf("%.0f", m.memory), strconv.FormatInt(m.calls, 10), calls,
		fmt.Sprintf("%.2f", m.published.Seconds()),
	}
}

// change changes the lifetime of types and invokes the functions until no toggle is left.
func (a *stalenessBench) change(ctx context.Context, ids []string, days int64) (*measured, error) {
	var event events.DynamoDBEvent
	for i, id := range ids {
		if _, err := a.types.SetLifetime(ctx, id, &days); err != nil {
			return nil, err
		}
		event.Records = append(event.Records, events.DynamoDBEventRecord{EventName: "MODIFY",
			Change: events.DynamoDBStreamRecord{
				Keys:           map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(id)},
				SequenceNumber: strconv.Itoa(i + 1),
			}})
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory()
	resetPeak()
	m := &measured{}
	started := time.Now()
	a.calls.Store(0)
	if err := a.invoke(ctx, a.stream, a.timeouts["reevaluate-staleness"], payload, m); err != nil {
		return nil, err
	}
	for m.Left > 0 {
		if err := a.invoke(ctx, a.sweep, a.timeouts["sweep-staleness"], []byte(`{}`), m); err != nil {
			return nil, err
		}
	}
	m.took, m.memory = time.Since(started), peakMB(os.Getpid())
	published := time.Now()
	m.flips, err = a.publishSince(ctx, started)
	m.published, m.calls = time.Since(published), a.calls.Load()
	return m, err
}

// publishSince returns the number of flips in the log since a time, and sends their events in batches as the stream has
// them. It returns an error if a toggle has two.
func (a *stalenessBench) publishSince(ctx context.Context, since time.Time) (flips int, err error) {
	const batchSize = 100 // as in template.yaml
	var batch events.DynamoDBEvent
	send := func() error {
		if a.publish == nil || len(batch.Records) == 0 {
			return nil
		}
		response, err := a.publish.Publish(ctx, batch)
		if err == nil && len(response.BatchItemFailures) > 0 {
			err = errors.New("the bus refused an event")
		}
		batch.Records = nil
		return err
	}
	flipped := map[eventlog.Subject]bool{}
	err = a.events.All(ctx, eventlog.Filter{From: since, Types: []string{
		string(eventlog.FeaturePotentiallyStaleOn), string(eventlog.FeaturePotentiallyStaleOff),
	}}, func(e eventlog.Event) error {
		if flipped[e.Subject] {
			return fmt.Errorf("two events of %s", e.Subject)
		}
		if flipped[e.Subject] = true; a.publish == nil {
			return nil
		}
		batch.Records = append(batch.Records, events.DynamoDBEventRecord{EventName: "INSERT",
			Change: events.DynamoDBStreamRecord{
				NewImage: map[string]events.DynamoDBAttributeValue{
					"id": events.NewNumberAttribute(strconv.FormatInt(e.ID, 10)), "type": events.NewStringAttribute(string(e.Type)),
					"subject": events.NewStringAttribute(string(e.Subject)), "data": events.NewStringAttribute(string(e.Data)),
				},
			}})
		if len(batch.Records) < batchSize {
			return nil
		}
		return send()
	})
	if err == nil {
		err = send()
	}
	return len(flipped), err
}

// invoke invokes a function and adds the figures of its log to m. Left is that of the last invocation.
func (a *stalenessBench) invoke(ctx context.Context, f lambda.Handler, timeout time.Duration, payload []byte,
	m *measured) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := f.Invoke(ctx, payload); err != nil {
		return err
	}
	m.invocations++
	m.Left = 0
	a.mu.Lock()
	defer a.mu.Unlock()
	for text := range bytes.Lines(a.log.Bytes()) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		m.Left += l.Left
		m.Read += l.Read
		m.Pages += l.Pages
		m.Writes += l.Writes
	}
	a.log.Reset()
	return nil
}

// Write implements io.Writer, for the functions' log.
func (a *stalenessBench) Write(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.Write(text)
}

// resetPeak starts a new peak of this process's memory. On systems without the file, the peak is that since the start.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
