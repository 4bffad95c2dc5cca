// Package engine runs dynoxide, a DynamoDB-compatible server, as a child process.
//
// An Engine accepts every signature, and requests of web pages too. Therefore it listens on a random port of a random
// loopback address by default, which a page cannot find in time. Its data are in a folder or in memory. If a child with
// data in a folder ends unexpectedly, it is started again on the same port, so that the retries of a client succeed.
// The child ends with its parent or, where the system cannot do that, with the next Start on the folder.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Find returns the path of dynoxide. Like npm, it searches node_modules of the folder and of every folder above it.
func Find(folder string) (string, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("find the engine: %w", err)
	}
	platform := runtime.GOOS + "-" + runtime.GOARCH
	if runtime.GOARCH == "amd64" {
		platform = runtime.GOOS + "-x64"
	}
	for {
		path := filepath.Join(dir, "node_modules", "@dynoxide", platform, "dynoxide")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("the engine is not installed: run scripts/engine.sh")
		}
		dir = filepath.Dir(dir)
	}
}

// Options configure Start.
type Options struct {
	Program string       // see Find
	Host    string       // address to listen on; empty: a random loopback address
	Dir     string       // for data, log and process id; created if missing. Empty: the data are in memory.
	Logger  *slog.Logger // receives restarts; nil: none
}

// Engine is a running engine. It is safe for concurrent use.
type Engine struct {
	options Options // with an absolute Dir
	address string  // host and port on which it listens
	deaths  int     // unexpected ends in a row, each soon after the start

	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	child *child
	err   error
}

// Start starts an engine on a free port and waits until it accepts requests. It first ends an engine that an earlier
// process left running in the folder. The context bounds the start only. Errors are single lines that state what to do.
//
// The caller must make sure that no other process uses the folder.
func Start(ctx context.Context, o Options) (*Engine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("create the engine's folder: %w", err)
		}
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return nil, fmt.Errorf("find the engine's folder: %w", err)
		}
		o.Dir = dir
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx)) // ctx bounds the start only
	e := &Engine{options: o, stop: stop, done: make(chan struct{})}
	started := make(chan error, 1)
	go e.supervise(serving, ctx, started)
	if err := <-started; err != nil {
		stop()
		<-e.done
		return nil, err
	}
	return e, nil
}

// Endpoint returns the engine's URL. It stays the same over restarts.
func (e *Engine) Endpoint() string { return "http://" + e.address }

// PID returns the process id of the current or last child.
func (e *Engine) PID() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.child.cmd.Process.Pid
}

// Done is closed after Stop, or when the engine has ended and could not be started again.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Err returns why the engine ended, once Done is closed. After Stop it returns nil.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Stop ends the engine: by SIGTERM, and if that takes too long by SIGKILL. It returns when the engine has ended and may
// be called repeatedly.
func (e *Engine) Stop() {
	e.stop()
	<-e.done
}
