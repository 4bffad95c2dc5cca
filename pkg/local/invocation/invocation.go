package invocation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/pkg/local/gateway"
)

// ErrAborted is what a call ends with that Abort has cut short. It says nothing about the function.
var ErrAborted = errors.New("the program is ending")

// errExited is the function's error where its handler ends its goroutine.
var errExited = errors.New("function exited without an answer")

// Function is one function.
type Function struct {
	Name    string // its folder
	ARN     string
	Handler lambda.Handler // safe for concurrent use
	Timeout time.Duration
}

// Record is a call that has ended.
type Record struct {
	Function string
	Trigger  string // what called it: "stream of FeatureTypes, 3 records"
	ID       string
	Duration time.Duration
	Err      error // the function's; nil: it succeeded
}

// Config is everything that an Invoker takes from outside.
type Config struct {
	NewID func() string // UUIDs
	Now   func() time.Time
	// Begin is told of a call's id before the function has it, End of each call that has ended, concurrently. Nil: nobody.
	Begin func(id string)
	End   func(*Record)
}

// Invoker calls functions. It is safe for concurrent use.
type Invoker struct {
	config  Config
	aborted chan struct{}
	once    sync.Once
}

// New makes an Invoker.
func New(c Config) *Invoker { return &Invoker{config: c, aborted: make(chan struct{})} }

// Abort ends all calls, those to come too. What their functions still do is left behind.
func (i *Invoker) Abort() { i.once.Do(func() { close(i.aborted) }) }

// Call calls a function and gives its answer and the call's id. The context's end does not end it, only its deadline and Abort do. An
// error is ErrAborted or the function's own; it may be a *gateway.PanicError or gateway.ErrTimedOut.
func (i *Invoker) Call(ctx context.Context, f *Function, trigger string, payload []byte) (output []byte, id string, err error) {
	id = i.config.NewID()
	select {
	case <-i.aborted:
		return nil, id, ErrAborted
	default:
	}
	if i.config.Begin != nil {
		i.config.Begin(id)
	}
	begin := i.config.Now()
	output, err = i.run(ctx, f, id, payload)
	if i.config.End != nil && !errors.Is(err, ErrAborted) {
		i.config.End(&Record{Function: f.Name, Trigger: trigger, ID: id, Duration: i.config.Now().Sub(begin), Err: err})
	}
	return output, id, err
}

func (i *Invoker) run(ctx context.Context, f *Function, id string, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.Timeout)
	defer cancel()
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: id, InvokedFunctionArn: f.ARN})
	type outcome struct {
		output []byte
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errExited} // stays where the handler ends its goroutine
		defer func() {
			if v := recover(); v != nil {
				o = outcome{err: &gateway.PanicError{Value: v, Stack: debug.Stack()}}
			}
			done <- o
		}()
		o.output, o.err = f.Handler.Invoke(ctx, payload)
	}()
	select {
	case o := <-done:
		return o.output, o.err
	case <-i.aborted:
		return nil, ErrAborted
	case <-ctx.Done():
	}
	select {
	case o := <-done: // just in time
		return o.output, o.err
	default:
	}
	return nil, fmt.Errorf("%w after %s", gateway.ErrTimedOut, f.Timeout)
}
