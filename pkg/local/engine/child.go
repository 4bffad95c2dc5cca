package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxLog is how much of the engine's own output is looked at. It writes two lines in a healthy life.
const maxLog = 64 << 10

// child is one process of the engine.
type child struct {
	cmd    *exec.Cmd
	log    *os.File // its standard error: a file, so that it can write on when we are gone
	exited chan struct{}
}

// launch starts a child on the engine's port and waits until it answers. A child that ends before, or does not answer, is an error.
func (e *Engine) launch(ctx context.Context) (*child, error) {
	log, err := e.openLog()
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "--host", "127.0.0.1", "--port", strconv.Itoa(e.port)}
	if e.database != "" {
		args = append(args, "--db-path", e.database)
	}
	cmd := exec.Command(e.options.Program, args...) //nolint:gosec,noctx // our own pinned program; it ends by SIGTERM first, not as a context's
	cmd.Env = []string{}                            // nothing of ours: neither credentials nor settings
	cmd.Dir = e.options.Dir
	cmd.Stderr = log
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the engine: %w; run `npm ci` to get it anew", err), log.Close())
	}
	c := &child{cmd: cmd, log: log, exited: make(chan struct{})}
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
		if e.database != "" && errors.Is(err, ErrDatabase) {
			return nil, fmt.Errorf("%w; `make reset` deletes it: %s", err, e.database)
		}
		return nil, err
	}
	return c, nil
}

// awaitReady waits for the engine's line on its standard error, which comes after it has the port and proves that this child has it, and
// then asks for its version.
func (c *child) awaitReady(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the engine did not answer within %s", startTimeout))
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(c.output(), "listening on "+endpoint) {
		select {
		case <-c.exited:
			return fmt.Errorf("%w: %s", ErrDatabase, c.ending())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	version, err := askVersion(ctx, endpoint)
	if err != nil {
		return fmt.Errorf("ask the engine for its version: %w", err)
	}
	if version != Version {
		return fmt.Errorf("the engine is version %q instead of %q: run `npm ci`", version, Version)
	}
	return nil
}

func askVersion(ctx context.Context, endpoint string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("make the request: %w", err)
	}
	transport := &http.Transport{DisableKeepAlives: true} // no proxy: it is on this machine
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("send the request: %w", err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxLog))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return response.Header.Get("X-Dynoxide-Version"), nil
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
	lines := bytes.Split(bytes.TrimSpace([]byte(c.output())), []byte("\n"))
	if last, ok := bytes.CutPrefix(lines[len(lines)-1], []byte("error: ")); ok {
		return state + ": " + string(last[:min(len(last), 300)])
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
