package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	main "toggleadmin/cmd/local"
	"toggleadmin/pkg/local"
	"toggleadmin/test/assert"
	"toggleadmin/test/enginetest"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
)

const (
	programVariable = "RUN_THE_PROGRAM" // makes the test binary behave as the program
	timeout         = time.Minute       // limits each wait, which usually takes milliseconds
)

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) == "" {
		os.Exit(m.Run())
	}
	main.Main()
}

// command returns the program with arguments. It runs in the repository's folder, with no settings from the test's
// environment.
func command(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0], args...)
	cmd.Dir = filepath.Dir(localtest.Template(tb))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), programVariable + "=1"}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // also ends its engine
	cmd.WaitDelay = timeout
	return cmd
}

// program is the program, serving.
type program struct {
	*exec.Cmd
	local.Running
	dir    string
	stderr *process.Output
	ended  chan error // receives the result of the program
}

// serve starts the program and waits until it is ready. It skips the test if the engine is not the program's own.
func serve(tb testing.TB, dir string, args ...string) *program {
	tb.Helper()
	enginetest.Program(tb)
	p := &program{Cmd: command(tb, append(args, "--port=0", "--data-dir="+dir)...), dir: dir, stderr: &process.Output{},
		ended: make(chan error, 1)}
	stdout, err := p.StdoutPipe()
	assert.OK(tb, err)
	p.Stderr = p.stderr
	assert.OK(tb, p.Start())
	lines := bufio.NewReader(stdout)
	_, err = lines.ReadString('\n') // "ready"
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, lines)
		p.ended <- p.Wait()
	}()
	tb.Cleanup(func() { <-done }) // before the folder is deleted
	if err != nil {
		tb.Fatalf("not ready: %v, %v\n%s", err, <-p.ended, p.stderr)
	}
	content, err := os.ReadFile(filepath.Join(dir, "local.json"))
	assert.OK(tb, err, json.Unmarshal(content, &p.Running))
	return p
}

// enginePID returns the process id of the program's engine.
func (p *program) enginePID(tb testing.TB) (pid int) {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, "engine.pid"))
	assert.OK(tb, err)
	if _, err := fmt.Sscan(string(content), &pid); err != nil {
		tb.Fatal(err)
	}
	return pid
}

// list sends requests that need the engine until one succeeds.
func (p *program) list(tb testing.TB) {
	tb.Helper()
	process.Await(tb, "a request succeeds", 50*time.Millisecond, timeout, func() bool { return p.succeeds(tb) })
}

func (p *program) succeeds(tb testing.TB) bool {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, p.BaseURL+"/api/admin/feature-types",
		http.NoBody)
	assert.OK(tb, err)
	request.Header.Set("Authorization", p.APIToken)
	response, err := http.DefaultClient.Do(request)
	assert.OK(tb, err)
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		tb.Error(err)
	}
	return response.StatusCode == http.StatusOK
}

func signal(tb testing.TB, pid int, s syscall.Signal) {
	tb.Helper()
	assert.OK(tb, syscall.Kill(pid, s))
}

// stop ends the program.
func (p *program) stop(tb testing.TB) {
	tb.Helper()
	signal(tb, p.Process.Pid, syscall.SIGTERM)
	assert.OK(tb, <-p.ended)
}

// refused runs the program, which must end with the exit status and one line that contains want.
func refused(tb testing.TB, cmd *exec.Cmd, status, want string) {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || fmt.Sprint(exit.ExitCode()) != status {
		tb.Errorf("it ended with %v, want status %s", err, status)
	}
	line := stderr.String()
	if !strings.HasPrefix(line, "local: ") || strings.Count(line, "\n") != 1 || !strings.Contains(line, want) ||
		stdout.Len() > 0 {
		tb.Errorf("stderr %q, want %q in one line; stdout %q", line, want, stdout.String())
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		hangs  bool // the engine hangs
	}{
		{"SIGINT", syscall.SIGINT, false},
		{"SIGTERM", syscall.SIGTERM, false},
		{"SIGTERM while the engine hangs", syscall.SIGTERM, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, filepath.Join(t.TempDir(), "data"))
			p.list(t) // leaves a connection open
			engine := p.enginePID(t)
			if tt.hangs {
				signal(t, engine, syscall.SIGSTOP)
			}
			signal(t, p.Process.Pid, tt.signal)
			select {
			case err := <-p.ended:
				if err != nil || process.Runs(engine) {
					t.Errorf("it ended with %v, the engine runs: %t\n%s", err, process.Runs(engine), p.stderr)
				}
			case <-time.After(timeout): // the timeouts are 0.5 s for requests and 0.7 s for the engine
				t.Fatal("it does not end")
			}
			for line := range strings.Lines(p.stderr.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not a line of JSON: %q", line)
				}
			}
		})
	}
}

func TestEngineThatCannotBeRestarted(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	engine, data := p.enginePID(t), filepath.Join(p.dir, "dynamodb.db")
	signal(t, engine, syscall.SIGSTOP) // so that it is not restarted before the data are damaged
	assert.OK(t, errors.Join(os.Remove(data), os.Mkdir(data, 0o700)))
	signal(t, engine, syscall.SIGKILL)
	if err := <-p.ended; err == nil {
		t.Error("it ended with status 0")
	}
	if log := p.stderr.String(); !strings.Contains(log, "\nlocal: the engine ended and cannot be started again") ||
		!strings.Contains(log, "`make reset`") {
		t.Errorf("stderr:\n%s", log)
	}
}

func TestKilledProgramServesAfterTheNextStart(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	engine := p.enginePID(t)
	signal(t, p.Process.Pid, syscall.SIGKILL)
	if err := <-p.ended; err == nil {
		t.Error("it ended with status 0")
	}
	process.Await(t, "the engine ends with the program", time.Millisecond, timeout,
		func() bool { return !process.Runs(engine) })
	again := serve(t, p.dir)
	again.list(t)
	if again.APIToken != p.APIToken {
		t.Error("the credentials have changed")
	}
}
