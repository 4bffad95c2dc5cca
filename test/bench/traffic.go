package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/traffic"
	"toggleadmin/test/accesslog"
	"toggleadmin/test/runtimeapi"
)

// trafficGround is what the measurements of record-traffic share.
type trafficGround struct {
	function samtemplate.Function
	format   string
	paths    traffic.Paths
	list     []string // of paths
	endpoint string
}

// engineInMemory starts an engine that keeps nothing.
func engineInMemory(ctx context.Context) (*engine.Engine, error) {
	program, err := engine.Find(".")
	if err != nil {
		return nil, err
	}
	return engine.Start(ctx, engine.Options{Program: program})
}

// measureTraffic measures record-traffic beside an engine in memory.
func measureTraffic(ctx context.Context, _ options, work string) error {
	e, err := engineInMemory(ctx)
	if err != nil {
		return err
	}
	defer e.Stop()
	g, err := newTrafficGround(ctx, e.Endpoint())
	if err != nil {
		return err
	}
	for _, measure := range []func(context.Context, string) error{g.measureSpeed, g.measureUnits, g.measureHotKey} {
		if err := measure(ctx, work); err != nil {
			return err
		}
	}
	return nil
}

func newTrafficGround(ctx context.Context, endpoint string) (*trafficGround, error) {
	template, err := samtemplate.Load("template.yaml", samtemplate.Settings{Parameters: map[string]string{"DynamoDBEndpoint": endpoint}})
	if err != nil {
		return nil, err
	}
	g := &trafficGround{format: template.API.AccessLogFormat, endpoint: endpoint}
	for _, f := range template.Functions {
		if f.Name == "record-traffic" {
			g.function = f
		}
	}
	if g.paths, err = traffic.ParsePaths(g.function.Environment["COUNTED_PATHS"]); err != nil {
		return nil, err
	}
	g.list = strings.Fields(g.function.Environment["COUNTED_PATHS"])
	client, err := g.client(nil)
	if err != nil {
		return nil, err
	}
	return g, tables.Make(ctx, client, template.Tables)
}

// client makes one of the engine. tell is told of each transaction's write units; nil: nobody is.
func (g *trafficGround) client(tell func(units float64)) (*dynamodb.Client, error) {
	return g.clientThrough(dynamo.NewHTTPClient(g.endpoint).Transport, tell)
}

func (g *trafficGround) clientThrough(transport http.RoundTripper, tell func(units float64)) (*dynamodb.Client, error) {
	cfg := aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: &http.Client{Transport: transport},
	}
	if tell != nil {
		cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Units", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				if transaction, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput); ok {
					transaction.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
				}
				out, metadata, err := next.HandleInitialize(ctx, in)
				if transaction, ok := out.Result.(*dynamodb.TransactWriteItemsOutput); ok && err == nil {
					for i := range transaction.ConsumedCapacity {
						tell(aws.ToFloat64(transaction.ConsumedCapacity[i].CapacityUnits))
					}
				}
				return out, metadata, err
			}), middleware.After)
		})
	}
	return dynamo.NewClient(cfg, g.endpoint)
}

// recorder returns the function's handler.
func (g *trafficGround) recorder(client *dynamodb.Client) *traffic.Recorder {
	return &traffic.Recorder{
		Store: traffic.NewStore(client, dynamo.Tables{Traffic: "Traffic"}), Paths: g.paths, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}
}

// lines makes n lines of one moment over all paths, numbered from first.
func (g *trafficGround) lines(first, n int, at time.Time) []accesslog.Line {
	all := make([]accesslog.Line, n)
	for i := range all {
		all[i] = accesslog.Line{N: first + i, Time: at, Path: g.list[rand.N(len(g.list))], Status: 200 + rand.N(3)*100}
	}
	return all
}

// measureSpeed runs the built function, as Lambda does, on deliveries of several sizes.
func (g *trafficGround) measureSpeed(ctx context.Context, work string) error {
	binary := filepath.Join(work, g.function.Name)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=lambda.norpc", "-ldflags=-s", "-o", binary,
		"./functions/"+g.function.Name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the function: %w: %s", err, out)
	}
	largest, err := g.fitting(1 << 20)
	if err != nil {
		return err
	}
	huge, err := g.fitting(6 << 20)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, size := range []int{10, 100, 1000, largest, huge} {
		row, err := g.speed(ctx, binary, size)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	printTable("record-traffic: speed and memory",
		"The built function as a process with GOMAXPROCS=1, driven by the Runtime API protocol, the engine beside it. Time: from the event to its answer, "+
			"the transaction included. CPU: the process's own. The last two sizes are what fits into an asynchronous invocation (1 MB), which is the "+
			"largest that CloudWatch Logs can send, and into a synchronous one (6 MB). Memory: the peak of the resident set of a process that did "+
			"nothing else.",
		[]string{"lines", "event KB", "ms", "CPU ms", "lines/s", "lines/s of CPU", "peak memory MB"}, rows)
	return nil
}

// fitting is the number of lines whose event has so many bytes, nearly.
func (g *trafficGround) fitting(size int) (int, error) {
	const sample = 20_000
	event, err := g.event(sample)
	if err != nil {
		return 0, err
	}
	return int(float64(sample) * float64(size) / float64(len(event)) * 0.995), nil
}

func (g *trafficGround) event(n int) ([]byte, error) {
	event, err := accesslog.Delivery("bench"+strconv.Itoa(rand.Int()), g.format, g.lines(0, n, time.Now()))
	if err != nil {
		return nil, err
	}
	return json.Marshal(event)
}

func (g *trafficGround) speed(ctx context.Context, binary string, size int) ([]string, error) {
	variables := maps.Clone(g.function.Environment)
	variables["GOMAXPROCS"] = "1"
	p, err := runtimeapi.Start(ctx, runtimeapi.Function{Binary: binary, Variables: variables, Timeout: g.function.Timeout})
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	rounds := min(max(200_000/size, 5), 300)
	var cpu, elapsed []time.Duration
	bytes := 0
	for range rounds {
		event, err := g.event(size)
		if err != nil {
			return nil, err
		}
		bytes = len(event)
		before, err := cpuTime(p.PID())
		if err != nil {
			return nil, err
		}
		started := time.Now()
		answer, err := p.Invoke(ctx, event)
		if err != nil || answer.Failed {
			return nil, errors.Join(err, fmt.Errorf("answer %s", answer.Body))
		}
		elapsed = append(elapsed, time.Since(started))
		after, err := cpuTime(p.PID())
		if err != nil {
			return nil, err
		}
		cpu = append(cpu, after-before)
	}
	t, c := median(elapsed), median(cpu)
	perSecond := func(d time.Duration) string { return strconv.Itoa(int(float64(size) / d.Seconds())) }
	return []string{
		strconv.Itoa(size), fmt.Sprintf("%.1f", float64(bytes)/1000), milliseconds(t), milliseconds(c), perSecond(t), perSecond(c),
		fmt.Sprintf("%.0f", peakMB(p.PID())),
	}, nil
}

// measureUnits counts write units at several rates and spans of time that a delivery covers.
func (g *trafficGround) measureUnits(ctx context.Context, _ string) error {
	var rows [][]string
	for _, rate := range []int{1, 10, 100} {
		row := []string{strconv.Itoa(rate)}
		for _, seconds := range []int{1, 5, 30} {
			units := 0.0
			client, err := g.client(func(u float64) { units += u })
			if err != nil {
				return err
			}
			recorder := g.recorder(client)
			perDelivery := rate * seconds
			deliveries := max(1000/perDelivery, 3)
			for i := range deliveries {
				event, err := accesslog.Delivery(fmt.Sprint("units", rate, "/", seconds), g.format, g.lines(i*perDelivery, perDelivery, time.Now()))
				if err != nil {
					return err
				}
				if _, err := recorder.Handle(ctx, event); err != nil {
					return err
				}
			}
			row = append(row, fmt.Sprintf("%.0f", units*1000/float64(deliveries*perDelivery)))
		}
		rows = append(rows, row)
	}
	printTable("record-traffic: write units per 1,000 requests",
		"As DynamoDB's API reports them, requests spread at random over the seven paths, one log stream. The columns are how many seconds of the log one "+
			"delivery covers.",
		[]string{"requests/s", "1 s", "5 s", "30 s"}, rows)
	runtime.GC()
	return nil
}
