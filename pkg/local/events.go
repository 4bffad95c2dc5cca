package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/uuid"

	"toggleadmin/pkg/local/checkpoint"
	"toggleadmin/pkg/local/console"
	"toggleadmin/pkg/local/eventsource"
	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invocation"
	"toggleadmin/pkg/local/queue"
	"toggleadmin/pkg/local/schedule"
	"toggleadmin/pkg/local/subscription"
	"toggleadmin/pkg/samtemplate"
)

// Folders of DATA_DIR.
const (
	eventsDir = "events" // checkpoints, and the access log on its way to its function
	queuesDir = "queues" // what was given up, for people to read
)

// events calls functions beside the API, as the template says: for stream records, schedules and lines of the access log.
type events struct {
	config    *Config
	template  *samtemplate.Template
	out       *console.Console
	dir       string // empty: nothing is kept
	invoker   *invocation.Invoker
	functions map[string]*invocation.Function // by logical id
	queues    map[string]*queue.Queue         // by logical id

	logs      []*subscription.Subscription
	mappings  map[string][]*eventsource.Mapping // by the table's name
	schedules []schedule.Config
}

// newEvents opens what must be open before the first request.
func newEvents(c *Config, template *samtemplate.Template, out *console.Console) (*events, error) {
	e := &events{
		config: c, template: template, out: out, functions: map[string]*invocation.Function{}, queues: map[string]*queue.Queue{},
		mappings: map[string][]*eventsource.Mapping{},
	}
	e.invoker = invocation.New(invocation.Config{
		NewID: e.newID, Now: time.Now, Begin: out.BeginCall,
		End: func(r *invocation.Record) {
			out.EndCall(&console.Call{
				Function: r.Function, Trigger: r.Trigger, ID: r.ID, Duration: r.Duration, Cause: cause(r.Err),
				Routine: slices.ContainsFunc(template.Functions, func(f samtemplate.Function) bool { return f.Name == r.Function && routine(&f) }),
			})
		},
	})
	queues := ""
	if c.DataDir != "" {
		e.dir, queues = filepath.Join(c.DataDir, eventsDir), filepath.Join(c.DataDir, queuesDir)
		if err := os.MkdirAll(e.dir, 0o700); err != nil {
			return nil, fmt.Errorf("DATA_DIR %s cannot be written, choose another one or mend its permissions: %w", c.DataDir, err)
		}
	}
	for _, id := range template.Queues {
		e.queues[id] = queue.Open(queues, id)
	}
	if c.RequestsOnly {
		return e, nil
	}
	for i := range template.Functions {
		f := &template.Functions[i]
		for _, s := range f.LogSubscriptions {
			if s.LogGroup != template.API.AccessLogGroup {
				return nil, fmt.Errorf("the template's function %s subscribes to the log group %s, but only the API's access log (%s) is delivered here",
					f.LogicalID, s.LogGroup, template.API.AccessLogGroup)
			}
			if err := e.subscribe(f, s); err != nil {
				e.close()
				return nil, err
			}
		}
	}
	return e, nil
}

// routine says whether a function is called each second while there are requests: for lines of the access log.
func routine(f *samtemplate.Function) bool { return len(f.LogSubscriptions) > 0 }

func (e *events) newID() string { return uuid.Must(uuid.NewRandomFromReader(e.config.Random)).String() }

// keep is the checkpoint with that name.
func (e *events) keep(name string) checkpoint.File {
	if e.dir == "" {
		return checkpoint.File{}
	}
	return checkpoint.File{Path: filepath.Join(e.dir, name+".json")}
}

// onFailure is where records for a queue go; nil: nowhere.
func (e *events) onFailure(id string) func([]byte) error {
	if id == "" {
		return nil
	}
	return e.queues[id].Send
}

func (e *events) subscribe(f *samtemplate.Function, s samtemplate.LogSubscription) error {
	dir := ""
	if e.dir != "" {
		dir = filepath.Join(e.dir, "log-"+f.LogicalID)
	}
	made, err := subscription.Open(subscription.Config{
		Dir: dir, LogGroup: s.LogGroup, Filter: f.LogicalID, Owner: accountID, Now: time.Now, Logger: e.out.Own(),
		Deliver: func(ctx context.Context, trigger string, payload []byte, tries int, failed func(int) error) error {
			return e.async(f).Deliver(ctx, trigger, payload, tries, failed)
		},
	})
	if err != nil {
		return err
	}
	e.logs = append(e.logs, made)
	return nil
}

// async calls a function as Lambda does for an asynchronous event.
func (e *events) async(f *samtemplate.Function) *invocation.Async {
	return &invocation.Async{
		Invoker: e.invoker, Function: e.functions[f.LogicalID], Retries: f.AsyncRetries, OnFailure: e.giveUp(f), Now: time.Now,
	}
}

// giveUp is where the records of a function's asynchronous events go that are given up. It says so.
func (e *events) giveUp(f *samtemplate.Function) func([]byte) error {
	keep := e.onFailure(f.AsyncOnFailure)
	log := e.out.Own().With(slog.String("function", f.Name), slog.String("queue", f.AsyncOnFailure))
	return func(record []byte) error {
		if keep == nil {
			log.Error("an event is given up, and lost: its function has no queue for it")
			return nil
		}
		if err := keep(record); err != nil {
			log.Error("an event is given up, and not in its queue: it is delivered again after a restart", slog.Any("cause", err))
			return err
		}
		log.Error("an event is given up")
		return nil
	}
}

// connect finds the tables' streams and takes the functions.
func (e *events) connect(ctx context.Context, functions map[string]gateway.Function, cfg aws.Config, endpoint string) error {
	admin := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &endpoint })
	streams := dynamodbstreams.NewFromConfig(cfg, func(o *dynamodbstreams.Options) {
		o.BaseEndpoint = &endpoint
		o.Retryer = aws.NopRetryer{} // a mapping tries again itself
	})
	for i := range e.template.Functions {
		f := &e.template.Functions[i]
		made := functions[f.LogicalID]
		e.functions[f.LogicalID] = &invocation.Function{Name: f.Name, ARN: made.ARN, Handler: made.Handler, Timeout: f.Timeout}
		if e.config.RequestsOnly {
			continue
		}
		for _, s := range f.Streams {
			if err := e.mapStream(ctx, f, s, admin, streams); err != nil {
				return err
			}
		}
		for _, s := range f.Schedules {
			e.schedules = append(e.schedules, schedule.Config{
				Schedule: s, Region: region, AccountID: accountID, NewID: e.newID, Now: time.Now, Logger: e.out.Own(),
				Checkpoint: e.keep("schedule-" + s.Name),
				Deliver: func(ctx context.Context, trigger string, payload []byte) error {
					return e.async(f).Deliver(ctx, trigger, payload, 0, nil)
				},
			})
		}
	}
	return nil
}

// mapStream makes the mapping of a table's stream to a function.
func (e *events) mapStream(
	ctx context.Context, f *samtemplate.Function, s samtemplate.Stream, admin *dynamodb.Client, streams *dynamodbstreams.Client,
) error {
	name := tableNames(e.template.Tables)[s.Table]
	table, err := admin.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return fmt.Errorf("look for the stream of table %s: %w", name, err)
	}
	label := aws.ToString(table.Table.LatestStreamLabel)
	function := e.functions[f.LogicalID]
	e.mappings[name] = append(e.mappings[name], eventsource.New(eventsource.Config{
		Stream: s, Streams: streams, StreamARN: aws.ToString(table.Table.LatestStreamArn), Region: region,
		EventARN:    "arn:aws:dynamodb:" + region + ":" + accountID + ":table/" + name + "/stream/" + label,
		FunctionARN: function.ARN, OnFailure: e.onFailure(s.OnFailure), Checkpoint: e.keep("stream-" + f.LogicalID + "-" + s.Table),
		Logger: e.out.Own().With(slog.String("function", f.Name)), Now: time.Now,
		Call: func(ctx context.Context, trigger string, payload []byte) ([]byte, string, error) {
			return e.invoker.Call(ctx, function, trigger, payload)
		},
		Stop: func(err error) bool { return errors.Is(err, invocation.ErrAborted) },
	}))
	return nil
}

// start begins to deliver. The function that it gives back ends that: calls under way have until drainTimeout after the context's end.
func (e *events) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	drained := context.AfterFunc(ctx, func() { time.AfterFunc(drainTimeout, e.invoker.Abort) })
	var running sync.WaitGroup
	for _, s := range e.logs {
		running.Go(func() { s.Run(ctx) })
	}
	for _, mappings := range e.mappings {
		for _, m := range mappings {
			running.Go(func() { m.Run(ctx) })
		}
	}
	for i := range e.schedules {
		running.Go(func() { schedule.Run(ctx, e.schedules[i]) })
	}
	return func() {
		cancel()
		running.Wait()
		drained()
	}
}

// close closes what newEvents has opened.
func (e *events) close() {
	for _, s := range e.logs {
		if err := s.Close(); err != nil {
			e.out.Own().Warn("the access log is not closed", slog.Any("cause", err))
		}
	}
}

// accessLog takes a line of the access log.
func (e *events) accessLog(line []byte, at time.Time) {
	for _, s := range e.logs {
		s.Append(line, at)
	}
}

// watch is a middleware that nudges the mappings of a table when a function has written to it.
func (e *events) watch(stack *middleware.Stack) error {
	if e.config.RequestsOnly {
		return nil
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Nudge", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		for _, table := range written(in.Parameters) {
			for _, m := range e.mappings[table] {
				m.Nudge()
			}
		}
		return out, metadata, err
	}), middleware.After)
}

// written are the tables that a call writes to.
func written(input any) []string {
	switch input.(type) {
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput, *dynamodb.BatchWriteItemInput,
		*dynamodb.TransactWriteItemsInput:
	default:
		return nil
	}
	var tables []string
	for _, a := range accesses(input) {
		if !slices.Contains(tables, a.Table) && !strings.HasSuffix(a.Action, "ConditionCheckItem") {
			tables = append(tables, a.Table)
		}
	}
	return tables
}
