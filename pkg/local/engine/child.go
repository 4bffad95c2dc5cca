package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	database = "dynamodb.db"

	startTimeout = 10 * time.Second       // usually 3 to 25 ms, with a million items 0.2 s
	stopTimeout  = 700 * time.Millisecond // usually 7 to 25 ms, with a million items 0.2 s
	pollInterval = time.Millisecond

	maxLog = 64 << 10 // bytes of the engine's output that are read; usually it writes two lines
)

// errPortInUse means that another process listens on the engine's port.
var errPortInUse = errors.New("the engine's port is in use")

// child is one process of the engine.
type child struct {
	cmd    *exec.Cmd
	log    *os.File // its standard error, a file so that it can write after its parent has ended
	exited chan struct{}
}

// launch starts a child on the engine's address and waits until it accepts requests.
func (e *Engine) launch(ctx context.Context) (_ *child, err error) {
	log, err := e.openLog()
	if err != nil {
		return nil, fmt.Errorf("open the engine's log: %w", err)
	}
	defer func() {
		if err != nil {
			_ = log.Close()
		}
	}()
	host, port, _ := net.SplitHostPort(e.address)
	cmd := exec.Command(e.options.Program, "serve", "--host", host, "--port", port) //nolint:gosec,noctx // ends by SIGTERM
	if e.options.Dir != "" {
		if err := e.restrictDatabase(); err != nil {
			return nil, err
		}
		lock, err := e.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer lock.Close()
		cmd.Args = append(cmd.Args, "--db-path", filepath.Join(e.options.Dir, database))
		cmd.ExtraFiles = []*os.File{lock}
	}
	cmd.Env = []string{} // neither credentials nor settings
	cmd.Stderr = log
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the engine: %w; run scripts/engine.sh to install it again", err)
	}
	c := &child{cmd: cmd, log: log, exited: make(chan struct{})}
	go func() {
		defer close(c.exited)
		_ = cmd.Wait() // cmd.ProcessState has the result
	}()
	if e.options.Dir != "" {
		err = os.WriteFile(cmd.ExtraFiles[0].Name(), fmt.Append(nil, cmd.Process.Pid), 0o600)
	}
	if err == nil {
		err = c.awaitReady(ctx, e.Endpoint())
	}
	if err != nil {
		c.stop()
		if e.options.Dir != "" && !errors.Is(err, errPortInUse) {
			err = fmt.Errorf("%w; %s", err, ResetAdvice(e.options.Dir))
		}
		return nil, err
	}
	return c, nil
}

// ResetAdvice says how to start without the data in a folder.
func ResetAdvice(dir string) string { return "`make reset DATA_DIR=" + dir + "` deletes the data" }

// restrictDatabase makes the database readable by its owner only, before the engine writes to it. SQLite creates its
// other files with the permissions of the database.
func (e *Engine) restrictDatabase() error {
	file, err := os.OpenFile(filepath.Join(e.options.Dir, database), os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(file.Chmod(0o600), file.Close())
	}
	if err != nil {
		return fmt.Errorf("restrict the permissions of the database: %w; %s", err, ResetAdvice(e.options.Dir))
	}
	return nil
}

// awaitReady waits for the line that the child writes once it listens. Another server on the port cannot write it.
func (c *child) awaitReady(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the engine did not start within %s",
		startTimeout))
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !strings.Contains(c.output(), "listening on "+endpoint) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.exited:
			if strings.Contains(c.output(), "already in use") {
				return errPortInUse
			}
			return fmt.Errorf("the engine ended at its start: %s", c.reason())
		}
	}
	return nil
}

// stop ends the child and waits for its end.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended already
	select {
	case <-c.exited:
	case <-time.After(stopTimeout):
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
	_ = c.log.Close()
}

// reason returns in one line why the child ended.
func (c *child) reason() string {
	lines := strings.Split(strings.TrimSpace(c.output()), "\n")
	if message, found := strings.CutPrefix(lines[len(lines)-1], "error: "); found {
		return c.cmd.ProcessState.String() + ": " + message
	}
	return c.cmd.ProcessState.String()
}

// output returns what the child has written to its standard error so far.
func (c *child) output() string {
	b, _ := io.ReadAll(io.NewSectionReader(c.log, 0, maxLog))
	return string(b)
}

func (e *Engine) logPath() string { return filepath.Join(e.options.Dir, "engine.log") }

func (e *Engine) openLog() (*os.File, error) {
	if e.options.Dir != "" {
		return os.OpenFile(e.logPath(), os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	}
	f, err := os.CreateTemp("", "engine-*.log")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name()) // the open file stays usable
}
