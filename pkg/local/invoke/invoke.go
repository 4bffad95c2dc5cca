// Package invoke calls Lambda handlers inside the local service the way Lambda does: with a deadline, the function's
// ARN and an invocation id in the context. An error, a panic and a timeout of the handler are the function's errors.
package invoke

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// errExited is the error of a function whose handler ended its goroutine.
var errExited = errors.New("function exited without a response")

// Function is a Lambda function.
type Function struct {
	Name    string // folder in functions/
	ARN     string
	Handler lambda.Handler // safe for concurrent use
	Timeout time.Duration
}

// Invoke calls the function and returns its output. The end of ctx does not end the function: Invoke stops waiting and
// returns context.Cause(ctx), and the function continues until its own Timeout. A function that ignores its Timeout
// continues, too. In both cases the function may still read payload, so the caller must not modify it afterwards.
func (f *Function) Invoke(ctx context.Context, id string, payload []byte) ([]byte, error) {
	functionContext, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.Timeout)
	functionContext = lambdacontext.NewContext(functionContext, &lambdacontext.LambdaContext{AwsRequestID: id,
		InvokedFunctionArn: f.ARN})
	type result struct {
		output []byte
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer cancel()
		r := result{err: errExited} // unless the handler returns
		defer func() {
			if v := recover(); v != nil {
				r = result{err: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
			}
			done <- r
		}()
		r.output, r.err = f.Handler.Invoke(functionContext, payload)
	}()
	select {
	case r := <-done:
		return r.output, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-functionContext.Done():
	}
	select {
	case r := <-done: // it returned at the same time
		return r.output, r.err
	default:
		return nil, fmt.Errorf("function timed out after %s", f.Timeout)
	}
}
