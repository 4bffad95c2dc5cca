package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// integrationLimit is how long API Gateway waits for a function.
const integrationLimit = 29 * time.Second

// ErrTimedOut is the cause where a function has not answered within its own Timeout.
var ErrTimedOut = errors.New("function timed out")

var (
	errIntegrationTimeout = errors.New("function has not answered within 29 seconds")
	errExited             = errors.New("function exited without an answer")
)

// PanicError is the cause where a function panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

type outcome struct {
	output []byte
	err    error
}

// invoke calls a function as Lambda does: with a deadline, the function's ARN and an invocation id in the context. The client has
// no part in that context, so its going away cancels nothing. A function that runs on past its time is left behind: its answer is
// dropped, and the payload, which it may still read, is never used again.
func (x *exchange) invoke(f *function, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), f.Timeout)
	called := lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{
		AwsRequestID: x.g.config.NewID(), InvokedFunctionArn: f.ARN,
	})
	done := make(chan outcome, 1)
	x.g.runners.run(call{called, f.Handler, payload, done})

	var patience <-chan time.Time
	if f.Timeout >= integrationLimit {
		timer := time.NewTimer(integrationLimit)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case o := <-done:
		cancel()
		return o.output, o.err
	case <-patience:
		x.buffers.event = nil
		go func() { // the function may go on until its own time is up
			<-done
			cancel()
		}()
		return nil, errIntegrationTimeout
	case <-ctx.Done():
		cancel()
	}
	select {
	case o := <-done: // just in time
		return o.output, o.err
	default:
	}
	x.buffers.event = nil
	return nil, fmt.Errorf("%w after %s", ErrTimedOut, f.Timeout)
}
