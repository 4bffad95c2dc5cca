package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/localtest"
	testprocess "toggleadmin/test/process"
)

// built is the program under test, built once.
var built = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // one build for all tests
	dir, err := os.MkdirTemp("", "local-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "local")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// command is the program with arguments, in the repository's folder, without settings from outside but the tests' engine.
func command(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	program, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), program, args...)
	cmd.Dir = filepath.Dir(localtest.Template(tb))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "ENGINE=" + enginetest.Name()}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // with its engine, when the test ends
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// process is a program that serves.
type process struct {
	*exec.Cmd
	local.Running
	dir    string
	stderr *testprocess.Output
	ended  chan error // gets the program's end once
}

// serve starts the program on the folder and a free port and waits until it is ready.
func serve(tb testing.TB, dir string) *process {
	tb.Helper()
	cmd := command(tb, "--port=0", "--data-dir="+dir)
	p := &process{Cmd: cmd, dir: dir, stderr: &testprocess.Output{}, ended: make(chan error, 1)}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, lines)
		p.ended <- cmd.Wait()
	}()
	tb.Cleanup(func() { <-gone }) // the folder is deleted next
	if err != nil {
		tb.Fatalf("it is not ready: %v, %v\n%s", err, <-p.ended, p.stderr)
	}
	content, err := os.ReadFile(filepath.Join(dir, "local.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(content, &p.Running); err != nil {
		tb.Fatal(err)
	}
	if line != "ready "+p.BaseURL+"\n" {
		tb.Errorf("stdout %q", line)
	}
	return p
}

// enginePID is the process id that the engine's note has.
func (p *process) enginePID(tb testing.TB) (pid int) {
	tb.Helper()
	note, err := os.ReadFile(filepath.Join(p.dir, "engine.pid"))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := fmt.Sscan(string(note), &pid); err != nil {
		tb.Fatal(err)
	}
	return pid
}

// send gives status and body, or an error where no whole answer came.
func (p *process) send(ctx context.Context, method, path, token, body string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, method, p.BaseURL+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// list calls an operation that needs the authorizer and the engine, and wants its success.
func (p *process) list(tb testing.TB) {
	tb.Helper()
	status, body, err := p.send(tb.Context(), "GET", "/api/admin/feature-types", p.Users[0].PAT, "")
	if err != nil || status != http.StatusOK {
		tb.Errorf("%d %s %v\n%s", status, body, err, p.stderr)
	}
}
