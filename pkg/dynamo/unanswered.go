package dynamo

import (
	"context"
	"errors"
	"net"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// errUnanswered marks the error of a call with an attempt that may have been, or may yet be, carried out.
var errUnanswered = errors.New("an attempt was sent and not answered")

// Unanswered says whether a write that ended in err may have been carried out all the same, or may still be: an attempt was sent, and no
// answer came that says what became of it. A fault without such an attempt has written nothing.
func Unanswered(err error) bool { return errors.Is(err, errUnanswered) }

// note is what noteUnanswered tells faultsAreUnavailable about one call, whose attempts follow one another.
type note struct{ unanswered bool }

type noteKey struct{}

// noteUnanswered looks at each attempt's own end, which the retries above it hide.
func noteUnanswered(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	if n, ok := ctx.Value(noteKey{}).(*note); ok && err != nil && !isAnswer(err) {
		n.unanswered = true
	}
	return out, metadata, err
}

// isAnswer says whether an attempt's error tells for certain that nothing was written: DynamoDB's own refusal, or a connection that was
// never made. An error 500 of DynamoDB's leaves it open.
func isAnswer(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	response, answered := errors.AsType[*awshttp.ResponseError](err)
	_, understood := errors.AsType[smithy.APIError](err)
	return answered && understood && response.HTTPStatusCode() < http.StatusInternalServerError
}
