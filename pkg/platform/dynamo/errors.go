package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// ErrUnavailable reports that DynamoDB could not be used: it could not be reached, it kept failing for a temporary
// reason until the context ended or the retry quota was used up, or the table or a permission is missing. The cause is
// wrapped with it. An invalid request, such as a ValidationException, is not ErrUnavailable.
var ErrUnavailable error = unavailableError{}

// unavailableError has the method that pkg/platform/apierror calls, so that pkg/platform/apierror does not import this
// package.
type unavailableError struct{}

func (unavailableError) Error() string     { return "DynamoDB is unavailable" }
func (unavailableError) Unavailable() bool { return true }

func unavailable(cause error) error { return fmt.Errorf("%w: %w", ErrUnavailable, cause) }

// FailedCondition reports whether err is the failed condition of a single write.
func FailedCondition(err error) bool {
	_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
	return failed
}

// Throttled reports whether a call was rejected because there were too many.
func Throttled(err error) bool {
	return retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err).Bool()
}

// Invalid reports whether DynamoDB rejects a write because of its content, such as an item of more than 400 KB.
func Invalid(err error) bool {
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return slices.ContainsFunc(canceled.CancellationReasons, func(r types.CancellationReason) bool {
			return aws.ToString(r.Code) == "ValidationError"
		})
	}
	rejection, ok := errors.AsType[smithy.APIError](err)
	return ok && rejection.ErrorCode() == "ValidationException"
}

// errResultUnknown marks the error of a call with an attempt that DynamoDB may have carried out.
var errResultUnknown = errors.New("the result of an attempt is unknown")

// ResultUnknown reports whether a write that failed with err may have been carried out, or may still be: an attempt was
// sent, and no response stated whether it was carried out. Without such an attempt nothing was written.
func ResultUnknown(err error) bool { return errors.Is(err, errResultUnknown) }

// call is the state of one call. Its attempts run one after another.
type call struct {
	resultUnknown bool
	last          error
}

type callKey struct{}

// recordAttempt runs once per attempt, inside the SDK's retries.
func recordAttempt(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	if c, ok := ctx.Value(callKey{}).(*call); ok && err != nil {
		c.last = err
		c.resultUnknown = c.resultUnknown || !isRejection(err)
	}
	return out, metadata, err
}

// isRejection reports whether an attempt has certainly written nothing: DynamoDB rejected it, or there was no
// connection. After a 5xx response it is unknown whether the attempt was carried out.
func isRejection(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	response, responded := errors.AsType[*awshttp.ResponseError](err)
	_, understood := errors.AsType[smithy.APIError](err)
	return responded && understood && response.HTTPStatusCode() < http.StatusInternalServerError
}

// isUnusable reports whether the reason for a rejection is the table or the role, and not the request. A retry does not
// help.
func isUnusable(err error) bool {
	rejection, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(unusableCodes, rejection.ErrorCode())
}

// unusableCodes are error codes of DynamoDB (DynamoDB Developer Guide, "Error handling with DynamoDB").
var unusableCodes = []string{
	"AccessDeniedException", "ExpiredTokenException", "IncompleteSignatureException",
	"MissingAuthenticationTokenException", "ResourceNotFoundException", "UnrecognizedClientException",
}

// classify runs once per call, around the SDK's retries: it marks errors as ErrUnavailable and errors whose result is
// unknown.
func (r retryer) classify(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	var c call
	out, metadata, err := next.HandleInitialize(context.WithValue(ctx, callKey{}, &c), in)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = unavailable(errors.Join(err, c.last)) // the SDK's error does not contain the cause of the earlier failures
	} else if r.IsErrorRetryable(err) || isUnusable(err) {
		err = unavailable(err)
	}
	if err != nil && c.resultUnknown {
		err = errors.Join(err, errResultUnknown)
	}
	return out, metadata, err
}
