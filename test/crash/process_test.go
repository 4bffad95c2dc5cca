package crash_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
	testprocess "toggleadmin/test/process"
)

// patience bounds every wait. Usual are milliseconds.
const patience = 30 * time.Second

// build makes the program of `make run`.
func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "local")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/local")
	cmd.Dir = filepath.Dir(localtest.Template(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// process is a running service.
type process struct {
	service local.Running
	dir     string
	cmd     *exec.Cmd
	stderr  *tail
	drained sync.WaitGroup
}

// tail keeps the end of what is written, to be read when nobody writes any more.
type tail struct{ text []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = 64 << 10
	t.text = append(t.text, p...)
	if len(t.text) > 2*most {
		t.text = append(t.text[:0], t.text[len(t.text)-most:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }

// launch starts the program in a process group of its own and waits for its line ready. The test's end kills what still runs.
func launch(t *testing.T, program, dir string) *process {
	t.Helper()
	p := &process{dir: dir, stderr: &tail{}}
	p.cmd = exec.CommandContext(t.Context(), program)
	p.cmd.Env = append(os.Environ(), "PORT=0", "DATA_DIR="+dir, "TEMPLATE="+localtest.Template(t), "DYNAMODB_ENDPOINT=")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill(t, true) })
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "ready ") {
		_ = p.cmd.Wait()
		t.Fatalf("not ready but %q\n%s", lines.Text(), p.stderr)
	}
	p.drained.Go(func() {
		for lines.Scan() { // what follows is for people
		}
	})
	content, err := os.ReadFile(filepath.Join(dir, "local.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &p.service); err != nil {
		t.Fatal(err)
	}
	return p
}

// kill sends SIGKILL to the service's process group and to its engine, in either order, and waits for the end of both.
func (p *process) kill(t *testing.T, engineFirst bool) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	enginePID, _ := p.enginePID()
	killEngine := func() {
		if enginePID > 0 {
			_ = syscall.Kill(enginePID, syscall.SIGKILL)
		}
	}
	if engineFirst {
		killEngine()
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if !engineFirst {
		killEngine()
	}
	p.drained.Wait()
	_ = p.cmd.Wait()
	await(t, "the engine's end", func() bool { return enginePID == 0 || !p.isEngine(enginePID) })
}

// stop ends the service kindly, which must work.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.drained.Wait()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, p.stderr)
	}
}

// enginePID gives the process id of the engine that serves now; ok is false between two.
func (p *process) enginePID() (pid int, ok bool) {
	note, err := os.ReadFile(filepath.Join(p.dir, "engine.pid"))
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(note)))
	if err != nil || !p.isEngine(pid) {
		return 0, false
	}
	return pid, true
}

// isEngine says whether a process is the engine on our data, and still runs.
func (p *process) isEngine(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err == nil && bytes.Contains(line, []byte(filepath.Join(p.dir, "dynamodb.db")))
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	testprocess.Await(t, what, time.Millisecond, patience, holds)
}
