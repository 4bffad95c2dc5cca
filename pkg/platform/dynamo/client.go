package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// NewClient returns the client of one process, safe for concurrent use. An empty endpoint selects the AWS endpoint of
// the region. The client retries until the context ends or the retry quota is used up, so every call requires a
// deadline.
func NewClient(cfg aws.Config, endpoint string) (*dynamodb.Client, error) {
	return newClient(cfg, endpoint, func(o *retry.StandardOptions) { o.RetryTimeoutCost = timeoutCost })
}

// NewOperatorClient is NewClient without a retry quota, for a process with one user, who waits for it: it retries until
// the context ends, even if DynamoDB throttles each call for longer than the quota lasts, which is about 10 seconds.
func NewOperatorClient(cfg aws.Config, endpoint string) (*dynamodb.Client, error) {
	return newClient(cfg, endpoint, func(o *retry.StandardOptions) { o.RateLimiter = ratelimit.None })
}

func newClient(cfg aws.Config, endpoint string, quota func(*retry.StandardOptions)) (*dynamodb.Client, error) {
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, errors.New("the DynamoDB endpoint must be a URL such as http://127.0.0.1:8000")
		}
	}
	r := retryer{retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return backoff(attempt), nil
		})
		quota(o)
		o.Retryables = append(o.Retryables,
			// A single write that conflicted with a transaction on its item.
			retry.RetryableErrorCode{Codes: map[string]struct{}{"TransactionConflictException": {}}},
			retry.IsErrorRetryableFunc(isGarbled))
	})}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
		o.Retryer = retry.AddWithMaxAttempts(r, 0) // 0: no limit (in StandardOptions 0 would mean 3)
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return errors.Join(
				stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Classify", r.classify), middleware.Before),
				stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("RecordAttempt", recordAttempt), "Retry", middleware.After),
			)
		})
	}), nil
}

// timeoutCost is what a retry after a timeout takes from the client's retry quota. The quota is the SDK's: 500, of
// which another retry takes 5; a retry that succeeds returns what it took, and every success adds 1. So two timeouts in
// a row are retried, and while DynamoDB does not respond, a call has one attempt and not as many as fit into its
// deadline: those would use up the account's concurrency.
const timeoutCost = retry.DefaultRetryRateTokens / 2

// retryer defines which errors are retried.
type retryer struct{ *retry.Standard }

// isGarbled reports a response that was cut off or damaged on its way. The SDK does not retry such a call.
func isGarbled(err error) aws.Ternary {
	if _, garbled := errors.AsType[*smithy.DeserializationError](err); garbled {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

const (
	firstDelay = 5 * time.Millisecond // DynamoDB responds in milliseconds
	maxDelay   = 200 * time.Millisecond
)

// backoff is the delay before the next attempt: a random part of a time that doubles with each attempt. attempt counts
// from 1. (The SDK's own delay starts at up to two seconds, most of the time that a request has.) The clock is the
// source of the randomness, so that a run with a virtual clock can be repeated.
func backoff(attempt int) time.Duration {
	now := uint64(time.Now().UnixNano())                  //nolint:forbidigo // any number will do
	jitter := rand.New(rand.NewPCG(now, uint64(attempt))) //nolint:gosec // jitter needs no secrecy
	return time.Duration(jitter.Int64N(int64(min(firstDelay<<min(attempt-1, 16), maxDelay))))
}

// Pause waits before another attempt after a lost race, longer after each attempt and with jitter. attempt counts the
// attempts made, from 1. If the context ends first, the error is ErrUnavailable.
func Pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(backoff(attempt))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return unavailable(ctx.Err())
	case <-timer.C:
		return nil
	}
}

// Retry calls try until it is done or returns an error. After an attempt that has lost a race, it pauses, see Pause.
func Retry(ctx context.Context, try func() (done bool, err error)) error {
	for attempt := 1; ; attempt++ {
		done, err := try()
		if done || err != nil {
			return err
		}
		if err := Pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// Once is the option of a call that the client does not repeat, for callers that adapt to errors themselves.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
