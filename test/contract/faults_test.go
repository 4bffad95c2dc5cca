package contract_test

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// faults make the functions' calls of DynamoDB fail.
type faults struct {
	fail     atomic.Pointer[func(operation string, input any) outcome]
	attempts atomic.Int64 // that met a fault
	released chan struct{}
}

// outcome is what becomes of one attempt of a call.
type outcome int

const (
	succeeds outcome = iota
	fails            // and nothing happens
	persists         // it happens, but the caller is told that it failed
	rejected         // as AccessDenied would: trying again does not help
	conflict         // a transaction that meets another one
	panics           // the function does
	hangs            // until released, whatever its context says
)

// errBroken is what a failing call says: it is worth trying again.
var errBroken = retryable{errors.New("the table Users of arn:aws:dynamodb is on fire")}

// errRejected is not.
var errRejected = errors.New("AccessDeniedException: arn:aws:sts::123456789012:assumed-role/x is not authorized to perform dynamodb:GetItem")

type retryable struct{ error }

// RetryableError is how the SDK asks.
func (retryable) RetryableError() bool { return true }

// set decides on all attempts from now on; nil mends everything.
func (f *faults) set(fail func(operation string, input any) outcome) {
	f.attempts.Store(0)
	if fail == nil {
		f.fail.Store(nil)
		return
	}
	f.fail.Store(&fail)
}

type inputKey struct{}

// install puts the faults where each attempt passes, below the SDK's retries.
func (f *faults) install(stack *middleware.Stack) error {
	remember := middleware.InitializeMiddlewareFunc("RememberInput", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		return next.HandleInitialize(context.WithValue(ctx, inputKey{}, in.Parameters), in)
	})
	breaking := middleware.FinalizeMiddlewareFunc("Break", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		fail := f.fail.Load()
		if fail == nil {
			return next.HandleFinalize(ctx, in)
		}
		switch what := (*fail)(middleware.GetOperationName(ctx), ctx.Value(inputKey{})); what {
		case succeeds:
			return next.HandleFinalize(ctx, in)
		default:
			f.attempts.Add(1)
			return f.broken(ctx, what, in, next)
		}
	})
	if err := stack.Initialize.Add(remember, middleware.After); err != nil {
		return err
	}
	return stack.Finalize.Insert(breaking, (&retry.Attempt{}).ID(), middleware.After)
}

func (f *faults) broken(ctx context.Context, what outcome, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	var none middleware.FinalizeOutput
	switch what {
	case rejected:
		return none, middleware.Metadata{}, errRejected
	case conflict:
		reason := types.CancellationReason{Code: aws.String("TransactionConflict")}
		return none, middleware.Metadata{}, &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{reason, reason, reason}}
	case persists:
		if _, metadata, err := next.HandleFinalize(ctx, in); err != nil {
			return none, metadata, err
		}
	case panics:
		panic(errBroken)
	case hangs:
		<-f.released
	case succeeds, fails:
	}
	return none, middleware.Metadata{}, errBroken
}
