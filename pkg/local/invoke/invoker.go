package invoke

import (
	"context"
	"errors"
	"time"
)

// ErrAborted is the error of a call that Abort ended. The function did not cause it.
var ErrAborted = errors.New("the program is ending")

// Invocation describes a call that has ended.
type Invocation struct {
	Function string // Function.Name
	Trigger  string // what caused the call: "stream of FeatureTypes, 3 records"
	ID       string
	Duration time.Duration
	Err      error // the function's error; nil if it succeeded
}

// Config is the configuration of an Invoker. Ended is called concurrently and may be nil.
type Config struct {
	NewID func() string // returns a UUID
	Now   func() time.Time
	Ended func(*Invocation) // called after each call that was not aborted
}

// Invoker calls functions and reports the calls. It is safe for concurrent use.
type Invoker struct {
	config  Config
	running context.Context //nolint:containedctx // the lifetime of all calls
	abort   context.CancelCauseFunc
}

// NewInvoker returns an Invoker.
func NewInvoker(c Config) *Invoker {
	running, abort := context.WithCancelCause(context.Background())
	return &Invoker{config: c, running: running, abort: abort}
}

// Abort ends all calls, present and future, with ErrAborted. It does not wait for functions that are still running.
func (i *Invoker) Abort() { i.abort(ErrAborted) }

// Invoke calls a function and returns its output and the invocation id. Only the function's Timeout and Abort end the
// call.
func (i *Invoker) Invoke(f *Function, trigger string, payload []byte) (output []byte, id string, err error) {
	id = i.config.NewID()
	if i.running.Err() != nil {
		return nil, id, ErrAborted
	}
	begin := i.config.Now()
	output, err = f.Invoke(i.running, id, payload)
	if i.config.Ended != nil && !errors.Is(err, ErrAborted) {
		i.config.Ended(&Invocation{Function: f.Name, Trigger: trigger, ID: id, Duration: i.config.Now().Sub(begin), Err: err})
	}
	return output, id, err
}
