package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

const (
	portTries = 16

	// An engine that ends more than maxDeaths times in a row, each time within quickDeath, is not started again.
	quickDeath = time.Second
	maxDeaths  = 8
)

// supervise runs children until serving ends or a child cannot be started again. It stays on one thread, because Linux
// ends a child with the thread that started it.
func (e *Engine) supervise(serving, starting context.Context, started chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	defer close(e.done)
	err := errPortInUse
	for range portTries {
		if !errors.Is(err, errPortInUse) {
			break
		}
		e.address = randomAddress(starting, e.options.Host)
		e.child, err = e.launch(starting)
	}
	started <- err
	for err == nil {
		err = e.await(serving)
	}
	if serving.Err() == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.err = err
	}
}

// await waits until the child ends, and starts another one. If serving ends first, await stops the child.
func (e *Engine) await(serving context.Context) error {
	start := time.Now()
	select {
	case <-serving.Done():
		e.child.stop()
		return serving.Err()
	case <-e.child.exited:
	}
	reason := e.child.reason()
	e.child.stop()
	if e.options.Dir == "" {
		return fmt.Errorf("the engine ended, and its data in memory are lost: %s", reason)
	}
	if time.Since(start) > quickDeath {
		e.deaths = 0
	}
	if e.deaths++; e.deaths > maxDeaths {
		return fmt.Errorf("the engine ended %d times in a row, see %s: %s", e.deaths, e.logPath(), reason)
	}
	e.options.Logger.WarnContext(serving, "the engine ended and is started again", "reason", reason)
	c, err := e.launch(serving)
	if err != nil {
		return fmt.Errorf("the engine ended and cannot be started again, see %s: %w", e.logPath(), err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.child = c
	return nil
}
