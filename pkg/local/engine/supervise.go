package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"time"
)

const (
	// Ports are taken below the range from which Linux serves outgoing connections (32768 to 60999), so that no client's connection, not even one
	// to this very port while the engine is being restarted, can hold it.
	lowestPort, portsBehind = 20000, 12768

	// portTries bounds the search: each try is a port drawn at random that was free a moment ago.
	portTries = 16
)

// supervise lives as long as the engine. It stays on one thread, since Linux ends a child with the thread that started it.
func (e *Engine) supervise(serving, starting context.Context, started chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	defer close(e.done)
	c, err := e.firstChild(starting)
	if err != nil {
		started <- err
		return
	}
	e.setChild(c)
	started <- nil
	row := 0 // quick deaths one after another
	for {
		grown := time.NewTimer(quickDeath)
		select {
		case <-serving.Done():
			grown.Stop()
			c.stop()
			e.forgetPID()
			return
		case <-c.exited:
		}
		if grown.Stop() {
			row++
		} else {
			row = 1
		}
		e.forgetPID()
		if e.options.Dir == "" {
			e.fail(fmt.Errorf("the engine ended (%s), and its data with it: they were in memory", c.ending()))
			return
		}
		e.options.Logger.LogAttrs(serving, slog.LevelWarn, "the engine ended and is started again", slog.String("ending", c.ending()))
		if c, row, err = e.nextChild(serving, row); err != nil {
			if serving.Err() == nil {
				e.fail(err)
			}
			return
		}
		e.setChild(c)
		e.options.Logger.LogAttrs(serving, slog.LevelInfo, "the engine answers again", slog.String("endpoint", e.Endpoint()))
	}
}

// firstChild starts the engine on a port of its choice.
func (e *Engine) firstChild(ctx context.Context) (*child, error) {
	var last error
	for range portTries {
		port, err := freePort(ctx)
		if err != nil {
			last = err
			continue
		}
		e.port = port
		c, err := e.launch(ctx)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil || portIsFree(ctx, port) {
			return nil, err
		}
		last = err // somebody else took the port in between
	}
	return nil, fmt.Errorf("find a free port for the engine: %w", last)
}

// nextChild starts the engine again on its port. A try that fails is one more of the row of quick deaths.
func (e *Engine) nextChild(ctx context.Context, row int) (*child, int, error) {
	var last error
	for ; row <= e.options.Program.maxQuickDeaths; row++ {
		if row > 1 {
			select {
			case <-ctx.Done():
				return nil, row, ctx.Err()
			case <-time.After(firstBackOff << (row - 2)):
			}
		}
		c, err := e.launch(ctx)
		if err == nil {
			return c, row, nil
		}
		last = err
		if ctx.Err() != nil {
			return nil, row, ctx.Err()
		}
	}
	if last == nil {
		last = errors.New("each time soon after its start")
	}
	return nil, row, fmt.Errorf("the engine died %d times in a row, giving up (see %s): %w", row-1, e.logPath(), last)
}

// freePort draws a port on which nobody listens.
func freePort(ctx context.Context) (int, error) {
	port := lowestPort + rand.IntN(portsBehind) //nolint:gosec // only to keep processes apart that start at the same time
	if !portIsFree(ctx, port) {
		return 0, fmt.Errorf("port %d is in use", port)
	}
	return port, nil
}

func portIsFree(ctx context.Context, port int) bool {
	var lc net.ListenConfig
	l, err := lc.Listen(context.WithoutCancel(ctx), "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
