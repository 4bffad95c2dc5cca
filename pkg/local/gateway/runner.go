package gateway

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// runnerIdle is how long an idle goroutine waits for work.
const runnerIdle = 5 * time.Second

// call is one invocation of a handler.
type call struct {
	ctx     context.Context //nolint:containedctx // on its way to another goroutine
	handler lambda.Handler
	payload []byte
	done    chan<- outcome
}

// runners runs handlers in goroutines that stay for a while, and receive the next call: the stack of one that has run a handler has grown
// to what handlers need, and to grow it anew for each call costs a tenth of a request.
type runners struct {
	calls  chan call
	closed chan struct{}
}

func newRunners() runners { return runners{calls: make(chan call), closed: make(chan struct{})} }

// run starts the call and returns.
func (r runners) run(c call) {
	select {
	case r.calls <- c: // one is waiting
	default:
		go r.loop(c)
	}
}

// loop runs calls until none has come for a while, or the gateway is closed.
func (r runners) loop(c call) {
	timer := time.NewTimer(runnerIdle)
	defer timer.Stop()
	for {
		c.run()
		timer.Reset(runnerIdle)
		select {
		case c = <-r.calls:
		case <-timer.C:
			return
		case <-r.closed:
			return
		}
	}
}

// run calls the handler and reports, whatever it does.
func (c call) run() {
	o := outcome{err: errExited} // stays where the handler ends its goroutine
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: &PanicError{Value: v, Stack: debug.Stack()}}
		}
		c.done <- o
	}()
	o.output, o.err = c.handler.Invoke(c.ctx, c.payload)
}
