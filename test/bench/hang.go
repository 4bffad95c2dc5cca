package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/app"
)

const (
	hangRate  = 100 // requests per second
	hangTotal = 20 * time.Second
	hangLast  = 5 * time.Second // the part of hangTotal that counts as steady
)

// measureHang counts the invocations that run at once while DynamoDB accepts connections and never responds.
func measureHang(ctx context.Context, _ options) {
	listener := must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
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
	template := loadTemplate(map[string]string{"DynamoDBEndpoint": "http://" + listener.Addr().String()})
	var rows [][]any
	for name, construct := range map[string]app.Constructor{"authorizer": authorizer.NewFunction,
		"list-feature-types": featuretype.NewListFunction} {
		h := &hang{function: function(template, name), construct: construct, event: sampleEvent(name)}
		h.run(ctx)
		rows = append(rows, []any{name, slices.Max(h.samples),
			median(h.samples[len(h.samples)-int(hangLast.Seconds()*hangRate):]), slices.Max(h.took), median(h.took)})
	}
	printTable("Invocations while DynamoDB does not respond",
		fmt.Sprintf("%d requests per second for %s, each at its time. DynamoDB is a listener that accepts connections and "+
			"never responds. As in Lambda, an execution environment runs one invocation at a time, and a new one starts if "+
			"none is free; its start counts.", hangRate, hangTotal),
		[]any{"function", "most at once", fmt.Sprintf("at once in the last %s (median)", hangLast), "longest ms",
			"median ms"}, rows)
}

// hang calls one function in as many execution environments as its invocations need.
type hang struct {
	function  samtemplate.Function
	construct app.Constructor
	event     []byte

	mu      sync.Mutex
	idle    []lambda.Handler // one per environment
	running int64
	took    []time.Duration
	samples []int64 // invocations that run, at each arrival
	failed  error
}

func (h *hang) run(ctx context.Context) {
	arrivals := time.Tick(time.Second / hangRate)
	var all sync.WaitGroup
	for range int(hangTotal.Seconds() * hangRate) {
		<-arrivals
		check(ctx.Err())
		all.Go(func() { h.invoke(ctx) })
	}
	all.Wait()
	check(h.failed)
}

func (h *hang) invoke(ctx context.Context) {
	started := time.Now()
	h.mu.Lock()
	h.running++
	h.samples = append(h.samples, h.running)
	var handler lambda.Handler
	if last := len(h.idle) - 1; last >= 0 {
		handler, h.idle = h.idle[last], h.idle[:last]
	}
	h.mu.Unlock()
	var err error
	if handler == nil {
		// It uses the HTTP client for AWS, not the one for engines.
		handler, err = h.construct(&app.Env{
			Vars: maps.Clone(h.function.Environment), AWS: awsConfig(""), Now: time.Now, Random: rand.Reader,
			Logger: slog.New(slog.DiscardHandler), WarmUp: true,
		})
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
