package dynamo

import (
	"context"
	"errors"
	"io"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/apierror"
)

// NewClient makes the client of one process, safe for concurrent use. An empty endpoint is AWS's own for the region. Attempts are
// repeated, with jitter and without a quota across calls, until the context ends: give every call a deadline.
func NewClient(cfg aws.Config, endpoint string) (*dynamodb.Client, error) {
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, errors.New("the DynamoDB endpoint must be a URL such as http://127.0.0.1:8000")
		}
	}
	standard := retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = betweenAttempts()
		o.RateLimiter = ratelimit.None
		o.Retryables = append(o.Retryables,
			// A single write that met a transaction on its item.
			retry.RetryableErrorCode{Codes: map[string]struct{}{"TransactionConflictException": {}}},
			retry.IsErrorRetryableFunc(isCutOff))
	})
	retryer := retry.AddWithMaxAttempts(standard, 0) // without end; the option of the same name would make 3 of a 0
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
		o.Retryer = retryer
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return errors.Join(
				stack.Initialize.Add(middleware.InitializeMiddlewareFunc("FaultsAreUnavailable", faultsAreUnavailable), middleware.Before),
				stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("NoteUnanswered", noteUnanswered), "Retry", middleware.After),
			)
		})
	}), nil
}

// isCutOff finds an answer whose connection broke in the middle of it, which the SDK itself does not try again.
func isCutOff(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// faultsAreUnavailable turns every error but a failed condition into the 503 that it means for the caller, and marks those of a call with
// an unanswered attempt (see Unanswered).
func faultsAreUnavailable(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	var n note
	out, metadata, err := next.HandleInitialize(context.WithValue(ctx, noteKey{}, &n), in)
	if err == nil {
		return out, metadata, nil
	}
	if n.unanswered {
		err = errors.Join(err, errUnanswered)
	}
	if FailedCondition(err) {
		return out, metadata, err
	}
	if _, canceled := errors.AsType[*types.TransactionCanceledException](err); canceled {
		return out, metadata, err
	}
	return out, metadata, apierror.NewUnavailable(err)
}
