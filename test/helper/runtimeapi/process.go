// Package runtimeapi runs the binary of a function as Lambda does: the process gets events from the Runtime API and
// posts responses to it (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html). Its tests build functions
// with the flags of a deployment.
package runtimeapi

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"toggleadmin/test/helper/process"
)

// Process is a running function. Its methods are safe for concurrent use, except Invoke: a process handles one event at
// a time.
type Process struct {
	server  *server
	command *exec.Cmd
	stdout  process.Output
	stderr  process.Output
	ended   chan struct{} // closed when the process has ended and its output is complete
}

// Function is the configuration of a function.
type Function struct {
	Binary    string
	Variables map[string]string
	Timeout   time.Duration // sets the deadline of events; it is not enforced
}

// Start starts a function with its variables and those that Lambda sets. The end of the context kills it.
func Start(ctx context.Context, f Function) (*Process, error) {
	p := &Process{server: newServer(f.Timeout), ended: make(chan struct{})}
	p.command = exec.CommandContext(ctx, f.Binary)
	p.command.Env = []string{
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_SESSION_TOKEN=local",
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
		_ = p.command.Wait() // ExitCode returns the result
	}()
	return p, nil
}

// Polled is closed when the process has requested its first event.
func (p *Process) Polled() <-chan struct{} { return p.server.polled }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode returns the exit code of an ended process, -1 if a signal ended it.
func (p *Process) ExitCode() int { return p.command.ProcessState.ExitCode() }

// PID returns the process ID.
func (p *Process) PID() int { return p.command.Process.Pid }

// Stdout returns what the process has written to its standard output: its log.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr returns what the process has written to its standard error: why it could not start, or how it crashed.
func (p *Process) Stderr() string { return p.stderr.String() }

// Invoke sends an event to the process as soon as it requests one, and returns its response. It returns an error if the
// process has ended without one.
func (p *Process) Invoke(ctx context.Context, event []byte) (Response, error) {
	for events := p.server.events; ; {
		select {
		case events <- event:
			events = nil
		case response := <-p.server.responses:
			return response, nil
		case <-p.ended:
			select {
			case response := <-p.server.responses:
				return response, nil
			default:
				return Response{}, fmt.Errorf("the process has ended: %s", p.Stderr())
			}
		case <-ctx.Done():
			return Response{}, fmt.Errorf("wait for the response: %w", ctx.Err())
		}
	}
}

// Stop kills the process and waits for its end.
func (p *Process) Stop() {
	_ = p.command.Process.Kill() // it may have ended
	<-p.ended
	p.server.close()
}
