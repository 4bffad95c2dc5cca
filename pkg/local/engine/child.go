package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// maxLog is how many bytes of the engine's own output are looked at. It writes two or three lines in a healthy life.
	maxLog = 64 << 10

	// maxComplaint is how many of them an error repeats.
	maxComplaint = 300
)

// child is one process of the engine.
type child struct {
	program *Program
	cmd     *exec.Cmd
	log     *os.File // its standard error: a file, so that it can write on when we are gone
	exited  chan struct{}
}

// launch starts a child on the engine's port and waits until it answers. A child that ends before, or does not answer, is an error.
func (e *Engine) launch(ctx context.Context) (*child, error) {
	log, err := e.openLog()
	if err != nil {
		return nil, err
	}
	program := &e.options.Program
	data := program.data(e.options.Dir)
	cmd := exec.Command(program.Path, program.arguments(e.port, data)...) //nolint:gosec,noctx // our own pinned program; it ends by SIGTERM first
	cmd.Env = []string{}                                                  // nothing of ours: neither credentials nor settings
	cmd.Dir = e.options.Dir
	cmd.Stderr = log
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the engine: %w; %s", err, program.remedy), log.Close())
	}
	c := &child{program: program, cmd: cmd, log: log, exited: make(chan struct{})}
	go func() {
		defer close(c.exited)
		_ = cmd.Wait() // ProcessState says the same
	}()
	if err := e.writePID(c.pid()); err != nil {
		c.stop()
		return nil, err
	}
	if err := c.awaitReady(ctx, e.Endpoint()); err != nil {
		c.stop()
		e.forgetPID()
		if data != "" && errors.Is(err, ErrDatabase) {
			return nil, fmt.Errorf("%w; `make reset` deletes it: %s", err, filepath.Join(e.options.Dir, program.database))
		}
		return nil, err
	}
	return c, nil
}

// awaitReady waits until the child answers.
func (c *child) awaitReady(ctx context.Context, endpoint string) error {
	patience := c.program.startTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the engine did not answer within %s", patience))
	defer cancel()
	tick := time.NewTicker(c.program.poll)
	defer tick.Stop()
	for {
		ready, err := c.program.ready(ctx, endpoint, c.output())
		if ready || err != nil {
			return err
		}
		select {
		case <-c.exited:
			if _, ofData := c.program.complaint(c.output()); ofData {
				return fmt.Errorf("%w: %s", ErrDatabase, c.ending())
			}
			return fmt.Errorf("the engine ended before it answered: %s", c.ending())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop ends the child and waits for its end.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended: then there is nothing to do
	patience := time.NewTimer(termTimeout)
	defer patience.Stop()
	select {
	case <-c.exited:
	case <-patience.C:
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
	_ = c.log.Close()
}

// ending says in one line how the child ended, in its own words where it has any. Only for a child that has exited.
func (c *child) ending() string {
	state := c.cmd.ProcessState.String()
	if words, _ := c.program.complaint(c.output()); words != "" {
		return state + ": " + words[:min(len(words), maxComplaint)]
	}
	return state
}

// output is the beginning of what the child has written to its standard error so far.
func (c *child) output() string {
	b := make([]byte, maxLog)
	n, _ := c.log.ReadAt(b, 0) // io.EOF at its end; what cannot be read is not there
	return string(b[:n])
}

func (e *Engine) logPath() string { return filepath.Join(e.options.Dir, "engine.log") }

func (e *Engine) openLog() (*os.File, error) {
	if e.options.Dir != "" {
		f, err := os.OpenFile(e.logPath(), os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the engine's log: %w", err)
		}
		return f, nil
	}
	f, err := os.CreateTemp("", "engine-*.log")
	if err != nil {
		return nil, fmt.Errorf("open the engine's log: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil { // the open file stays usable, and nothing is left behind
		return nil, errors.Join(fmt.Errorf("remove the engine's log: %w", err), f.Close())
	}
	return f, nil
}
