package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/samtemplate"
)

const (
	hangRate    = 100 // requests per second
	hangSeconds = 20
	hangLast    = 5 // seconds at the end, which count as steady
)

// measureHang counts the invocations that run at once while DynamoDB accepts requests and never responds.
func measureHang(ctx context.Context, _ options) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client hangs up
		<-r.Context().Done()
	}))
	defer server.Close()
	template := loadTemplate(map[string]string{"DynamoDBEndpoint": server.URL})
	var rows [][]any
	for _, name := range []string{"authorizer", "get-all-feature-types"} {
		running, took := hang(ctx, function(template, name))
		rows = append(rows, []any{name, slices.Max(running), median(running[len(running)-hangLast*hangRate:]),
			slices.Max(took), median(took)})
	}
	printTable("Invocations while DynamoDB does not respond",
		fmt.Sprintf(" function | most at once | median of the last %d s | longest ms | median ms", hangLast), rows,
		"%d requests per second for %d s, each at its time. DynamoDB is a server that accepts requests and never "+
			"responds. As in Lambda, an execution environment runs one invocation at a time, and a new one starts if none is "+
			"free; its start counts.", hangRate, hangSeconds)
}

// hang invokes a function in as many execution environments as its invocations need. It returns the number of
// invocations that run at each arrival, and how long each takes.
func hang(ctx context.Context, f samtemplate.Function) (running []int64, took []time.Duration) {
	const n = hangSeconds * hangRate
	event, env := sampleEvent(f.Name), newEnv(f, "", io.Discard)
	env.WarmUp = true
	idle, errs, took := make(chan lambda.Handler, n), make([]error, n), make([]time.Duration, n)
	var now atomic.Int64
	var all sync.WaitGroup
	arrivals := time.Tick(time.Second / hangRate)
	for i := range n {
		<-arrivals
		check(ctx.Err())
		running = append(running, now.Add(1))
		all.Go(func() {
			defer now.Add(-1)
			var handler lambda.Handler // of one environment
			started := time.Now()
			select {
			case handler = <-idle:
			default:
				if handler, errs[i] = local.Constructor(f.Name)(env); errs[i] != nil {
					return
				}
			}
			ctx, cancel := context.WithTimeout(ctx, f.Timeout)
			defer cancel()
			_, _ = handler.Invoke(ctx, event) // it fails: an error of the authorizer, a 503 response of a function
			took[i] = time.Since(started)
			idle <- handler
		})
	}
	all.Wait()
	check(errors.Join(errs...))
	return running, took
}
