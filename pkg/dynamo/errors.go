package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// ErrUnavailable reports that DynamoDB could not be reached, or kept failing for a temporary reason until the context ended. The cause is
// wrapped with it. Errors that repeating cannot mend, such as a ValidationException or a missing table, are not ErrUnavailable.
var ErrUnavailable error = unavailableError{}

// unavailableError has the method that pkg/apierror looks for, so that package need not import this one.
type unavailableError struct{}

func (unavailableError) Error() string     { return "DynamoDB is unavailable" }
func (unavailableError) Unavailable() bool { return true }

func unavailable(cause error) error { return fmt.Errorf("%w: %w", ErrUnavailable, cause) }

// FailedCondition reports whether err is the failed condition of a single write.
func FailedCondition(err error) bool {
	_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
	return failed
}

// Throttled reports whether a call was refused because there were too many.
func Throttled(err error) bool {
	return retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err).Bool()
}

// errUnanswered marks the error of a call with an attempt that DynamoDB may have carried out.
var errUnanswered = errors.New("an attempt was sent and not answered")

// Unanswered reports whether a write that failed with err may have been carried out, or may still be: an attempt was sent, and no response
// said what became of it. Without such an attempt nothing was written.
func Unanswered(err error) bool { return errors.Is(err, errUnanswered) }

// call collects what the attempts of one call report. They follow one another.
type call struct {
	unanswered bool
	last       error
}

type callKey struct{}

// noteUnanswered runs once per attempt, below the SDK's retries.
func noteUnanswered(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	if c, ok := ctx.Value(callKey{}).(*call); ok && err != nil {
		c.last = err
		c.unanswered = c.unanswered || !isRefusal(err)
	}
	return out, metadata, err
}

// isRefusal reports whether an attempt has certainly written nothing: DynamoDB refused it, or there was no connection. A 5xx response does
// not say what became of the attempt.
func isRefusal(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	response, answered := errors.AsType[*awshttp.ResponseError](err)
	_, understood := errors.AsType[smithy.APIError](err)
	return answered && understood && response.HTTPStatusCode() < http.StatusInternalServerError
}

// classify runs once per call, above the SDK's retries: it marks errors as ErrUnavailable and as unanswered.
func (r retryer) classify(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	var c call
	out, metadata, err := next.HandleInitialize(context.WithValue(ctx, callKey{}, &c), in)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = unavailable(errors.Join(err, c.last)) // the SDK's error does not say why the attempts before failed
	} else if r.IsErrorRetryable(err) {
		err = unavailable(err)
	}
	if err != nil && c.unanswered {
		err = errors.Join(err, errUnanswered)
	}
	return out, metadata, err
}
