package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	// termTimeout is how long a child may take to end by itself: usual are 7 to 25 ms, of a Java program 0.2 to 0.6 s. `make run` has two
	// seconds for itself and the engine.
	termTimeout = time.Second

	// quickDeath is the life below which a death counts as one more of a row.
	quickDeath   = time.Second
	firstBackOff = 10 * time.Millisecond
)

// ErrDatabase says that the engine ended before it answered, for a reason that is not its port: mostly a damaged or unreadable file.
var ErrDatabase = errors.New("the engine cannot use its database")

// Options say what to start.
type Options struct {
	Program Program      // see Find and FindDynamoDBLocal
	Dir     string       // the folder of its data, its log and its process id, made where it is missing; empty: in memory
	Logger  *slog.Logger // told of a death and of a restart; nil: nobody
}

// Engine is a running engine. It is safe for concurrent use.
type Engine struct {
	options Options // with absolute paths
	port    int

	stop context.CancelFunc
	done chan struct{} // closed when the engine has ended for good

	mu    sync.Mutex
	child *child
	err   error // why it ended; nil after Stop
}

// Start ends an engine that an earlier process left in the folder, starts one on a free port of 127.0.0.1 and waits until it answers. The
// context bounds the start only. With a folder, a child that dies later is started again; in memory its data are gone with it, so
// the Engine ends. Its errors are single lines that say what to do.
func Start(ctx context.Context, o Options) (*Engine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.Program.Path, err = filepath.Abs(o.Program.Path); err != nil {
		return nil, fmt.Errorf("find the engine: %w", err)
	}
	e := &Engine{options: o, done: make(chan struct{})}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the engine's folder: %w", err)
		}
		dir, err := filepath.EvalSymlinks(o.Dir)
		if err != nil {
			return nil, fmt.Errorf("find the engine's folder: %w", err)
		}
		if e.options.Dir, err = filepath.Abs(dir); err != nil {
			return nil, fmt.Errorf("find the engine's folder: %w", err)
		}
		if err := o.Program.refuseOthers(o.Dir); err != nil {
			return nil, err
		}
		if err := e.endLeftBehind(ctx); err != nil {
			return nil, err
		}
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx)) // the Engine outlives the start's context
	e.stop = stop
	started := make(chan error, 1)
	go e.supervise(serving, ctx, started)
	if err := <-started; err != nil {
		stop()
		<-e.done
		return nil, err
	}
	return e, nil
}

// Endpoint is the engine's address. It stays the same over restarts.
func (e *Engine) Endpoint() string { return "http://127.0.0.1:" + strconv.Itoa(e.port) }

// PID is the process id of the child that serves now, or served last.
func (e *Engine) PID() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.child.pid()
}

// Done is closed when the engine has ended for good: by Stop, or because it died and cannot be started again.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Err says, once Done is closed, why the engine ended; nil after Stop.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Stop ends the engine, kindly for a second, then by force, and waits for its end. It may be called more than once.
func (e *Engine) Stop() {
	e.stop()
	<-e.done
}

func (e *Engine) setChild(c *child) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.child = c
}

func (e *Engine) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}
