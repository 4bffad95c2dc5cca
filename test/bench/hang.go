package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	hangRate  = 100 // requests per second
	hangTotal = 20 * time.Second
	hangLast  = 5 * time.Second // the part of hangTotal that counts as steady
)

// measureHang counts the invocations that run at once while DynamoDB accepts connections and never responds.
func measureHang(ctx context.Context, _ options, _ string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			defer connection.Close() // open until the end
		}
	}()
	template, err := samtemplate.Load("template.yaml", samtemplate.Settings{
		Parameters: map[string]string{"DynamoDBEndpoint": "http://" + listener.Addr().String()},
	})
	if err != nil {
		return err
	}
	var rows [][]string
	for _, f := range template.Functions {
		construct := map[string]app.Constructor{"authorizer": authorizer.NewFunction,
			"list-feature-types": featuretype.NewListFunction}[f.Name]
		if construct == nil {
			continue
		}
		event, err := os.ReadFile(filepath.Join("events", f.Name+".json"))
		if err != nil {
			return err
		}
		h := &hang{function: f, construct: construct, event: event}
		if err := h.run(ctx); err != nil {
			return err
		}
		rows = append(rows, []string{
			f.Name, fmt.Sprint(slices.Max(h.samples)),
			fmt.Sprint(median(h.samples[len(h.samples)-int(hangLast.Seconds()*hangRate):])),
			milliseconds(slices.Max(h.took)), milliseconds(median(h.took)),
		})
	}
	printTable("Invocations while DynamoDB does not respond",
		fmt.Sprintf("%d requests per second for %s, each at its time. DynamoDB is a listener that accepts connections and "+
			"never responds. As in "+
			"Lambda, an execution environment runs one invocation at a time, and a new one starts if none is free; its start counts.",
			hangRate, hangTotal),
		[]string{"function", "most at once", fmt.Sprintf("at once in the last %s (median)", hangLast), "longest ms",
			"median ms"}, rows)
	return nil
}

// hang calls one function in as many execution environments as its invocations need.
type hang struct {
	function  samtemplate.Function
	construct app.Constructor
	event     []byte

	mu      sync.Mutex
	idle    []lambda.Handler // one per environment
	running int
	took    []time.Duration
	samples []int64 // invocations that run, at each arrival
	failed  error
}

func (h *hang) run(ctx context.Context) error {
	arrivals := time.NewTicker(time.Second / hangRate)
	defer arrivals.Stop()
	var all sync.WaitGroup
	for range int(hangTotal.Seconds() * hangRate) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-arrivals.C:
		}
		all.Go(func() { h.invoke(ctx) })
	}
	all.Wait()
	return h.failed
}

func (h *hang) invoke(ctx context.Context) {
	started := time.Now()
	h.mu.Lock()
	h.running++
	h.samples = append(h.samples, int64(h.running))
	var handler lambda.Handler
	if last := len(h.idle) - 1; last >= 0 {
		handler, h.idle = h.idle[last], h.idle[:last]
	}
	h.mu.Unlock()
	var err error
	if handler == nil {
		handler, err = h.start()
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, h.function.Timeout)
		_, _ = handler.Invoke(ctx, h.event) // it fails: an error of the authorizer, a 503 response of a function
		cancel()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running--
	h.took = append(h.took, time.Since(started))
	h.idle = append(h.idle, handler)
	if err != nil {
		h.failed = err
	}
}

// start starts an execution environment. It uses the HTTP client for AWS, not the one for engines.
func (h *hang) start() (lambda.Handler, error) {
	return h.construct(&app.Env{
		Vars: maps.Clone(h.function.Environment),
		AWS: aws.Config{
			Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
			HTTPClient: dynamo.NewHTTPClient(""),
		},
		Now: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler), WarmUp: true,
	})
}
