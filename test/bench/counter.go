package main

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/platform/app"
)

// counter counts the calls of functions to AWS, and the items that they read in DynamoDB.
type counter struct{ calls, items atomic.Int64 }

// construct makes a function that runs in this process, and uses the database or another endpoint.
func (c *counter) construct(d *database, name string, constructor app.Constructor, endpoint string,
	log io.Writer) lambda.Handler {
	env := &app.Env{Vars: function(d.template, name).Environment, AWS: awsConfig(endpoint), Now: time.Now,
		Random: rand.Reader, Logger: slog.New(slog.NewJSONHandler(log, nil))}
	env.AWS.BaseEndpoint = &endpoint
	env.AWS.APIOptions = []func(*middleware.Stack) error{c.add}
	return must(constructor(env))
}

func (c *counter) add(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Count", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		c.calls.Add(1)
		switch result := out.Result.(type) {
		case *dynamodb.QueryOutput:
			c.items.Add(int64(result.ScannedCount))
		case *dynamodb.ScanOutput:
			c.items.Add(int64(result.ScannedCount))
		case *dynamodb.BatchGetItemOutput:
			for _, items := range result.Responses {
				c.items.Add(int64(len(items)))
			}
		}
		return out, metadata, err
	}), middleware.After)
}
