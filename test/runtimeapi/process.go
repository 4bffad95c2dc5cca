package runtimeapi

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"toggleadmin/test/process"
)

// ErrEnded is in the errors of a Process that is no more.
var ErrEnded = errors.New("the process has ended")

// Process is a function's binary that runs. Its methods are safe for concurrent use, but for Invoke: one event at a time.
type Process struct {
	server  *server
	command *exec.Cmd
	stdout  process.Output
	stderr  process.Output
	ended   chan struct{} // closed when the process has ended and its output is complete
}

// Function is what Lambda knows of a function.
type Function struct {
	Binary    string
	Variables map[string]string
	Timeout   time.Duration // what the function is told that it has; nothing ends it here
}

// Start starts the function's binary with its variables, beside those that Lambda itself sets, and nothing of this process's. The
// context's end kills it.
func Start(ctx context.Context, f Function) (*Process, error) {
	p := &Process{server: newServer(f.Timeout), ended: make(chan struct{})}
	p.command = exec.CommandContext(ctx, f.Binary)
	p.command.Env = []string{
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_SESSION_TOKEN=test",
		"AWS_REGION=eu-west-1", "AWS_DEFAULT_REGION=eu-west-1",
		"AWS_LAMBDA_FUNCTION_NAME=sample", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_LAMBDA_LOG_FORMAT=JSON", "AWS_LAMBDA_RUNTIME_API=" + p.server.address(),
	}
	for name, value := range f.Variables {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	if err := p.command.Start(); err != nil {
		p.server.close()
		return nil, fmt.Errorf("start %s: %w", f.Binary, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait() // ExitCode says it
	}()
	return p, nil
}

// Polled is closed when the process has asked for its first event: its start is over.
func (p *Process) Polled() <-chan struct{} { return p.server.polled }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode is the exit code of a process that has ended, -1 if a signal ended it.
func (p *Process) ExitCode() int { return p.command.ProcessState.ExitCode() }

// PID is the process's number.
func (p *Process) PID() int { return p.command.Process.Pid }

// Stdout is what the process has written to its standard output so far: its log.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr is what the process has written to its standard error so far: why it could not start, or how it crashed.
func (p *Process) Stderr() string { return p.stderr.String() }

// Invoke gives the process an event, as soon as it asks for one, and returns its answer. An ended process is ErrEnded; one that
// ended because of this event may have answered: then the answer is there too.
func (p *Process) Invoke(ctx context.Context, event []byte) (Answer, error) {
	select {
	case p.server.events <- event:
	case <-p.ended:
		return Answer{}, fmt.Errorf("invoke: %w: %s", ErrEnded, p.Stderr())
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("wait for the process to ask for an event: %w", ctx.Err())
	}
	select {
	case answer := <-p.server.answers:
		return answer, nil
	case <-p.ended:
		select {
		case answer := <-p.server.answers:
			return answer, nil
		default:
			return Answer{}, fmt.Errorf("invoke: %w: %s", ErrEnded, p.Stderr())
		}
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("wait for the answer: %w", ctx.Err())
	}
}

// Stop kills the process, as Lambda does after its last event, and waits for its end.
func (p *Process) Stop() {
	_ = p.command.Process.Kill() // it may have ended by itself
	<-p.ended
	p.server.close()
}
