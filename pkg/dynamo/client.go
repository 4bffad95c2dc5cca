package dynamo

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/apierror"
)

// maxBackoff bounds the pause between two attempts. DynamoDB answers in milliseconds and an engine restarts in tens of them; a longer
// pause would only eat the few seconds that a request has.
const maxBackoff = 500 * time.Millisecond

// NewClient makes the client of one process, safe for concurrent use. An empty endpoint is AWS's own for the region. Attempts are
// repeated, with jitter and without a quota across calls, until the context ends: give every call a deadline.
func NewClient(cfg aws.Config, endpoint string) (*dynamodb.Client, error) {
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, errors.New("the DynamoDB endpoint must be a URL such as http://127.0.0.1:8000")
		}
	}
	retryer := retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = 0
		o.Backoff = retry.NewExponentialJitterBackoff(maxBackoff)
		o.RateLimiter = ratelimit.None
	})
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
		o.Retryer = retryer
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("FaultsAreUnavailable", faultsAreUnavailable), middleware.Before)
		})
	}), nil
}

// faultsAreUnavailable turns every error but a failed condition into the 503 that it means for the caller.
func faultsAreUnavailable(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err == nil {
		return out, metadata, nil
	}
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return out, metadata, err
	}
	if _, canceled := errors.AsType[*types.TransactionCanceledException](err); canceled {
		return out, metadata, err
	}
	return out, metadata, apierror.NewUnavailable(err)
}
