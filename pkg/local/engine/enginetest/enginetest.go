// Package enginetest gives tests an engine of their own: dynoxide, or the one that the variable ENGINE names.
package enginetest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/test/process"
)

// DynamoDBLocal says whether the tests' engine is DynamoDB Local. What differs then is said where it is asked.
func DynamoDBLocal() bool { return Name() == engine.DynamoDBLocal }

// Name is the tests' engine as `make run` and local.Config name it.
func Name() string {
	if name := os.Getenv("ENGINE"); name != "" {
		return name
	}
	return engine.Dynoxide
}

// Find gives the program of the tests' engine.
func Find() (engine.Program, error) {
	if DynamoDBLocal() {
		return engine.FindDynamoDBLocal(".")
	}
	return engine.Find(".")
}

// Start starts an engine in memory, which ends with the test. With dynoxide it takes a few milliseconds, so every test can have its own.
func Start(tb testing.TB) *engine.Engine {
	tb.Helper()
	return StartIn(tb, "")
}

// StartIn starts an engine with its data in the folder; it ends with the test. It may be called again after Stop.
func StartIn(tb testing.TB, dir string) *engine.Engine {
	tb.Helper()
	e, err := engine.Start(tb.Context(), engine.Options{Program: Program(tb), Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Stop)
	return e
}

// Program is the program of the tests' engine.
func Program(tb testing.TB) engine.Program {
	tb.Helper()
	program, err := Find()
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

// Database is the name of the file in which the tests' engine keeps its data.
func Database() string {
	if DynamoDBLocal() {
		return "shared-local-instance.db"
	}
	return "dynamodb.db"
}

// Patience is what the tests' engine may need for what takes dynoxide milliseconds: to start, and to start again.
func Patience() time.Duration {
	if DynamoDBLocal() {
		return 2 * time.Minute
	}
	return 10 * time.Second
}

// Eventually waits, with the engine's patience, until something holds.
func Eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	process.Await(tb, what, 2*time.Millisecond, Patience(), holds)
}

// LeaveBehind runs the tests' engine on the folder as a process that no Engine knows, and notes its process id there, as one that was killed
// leaves it. The channel gets its end.
func LeaveBehind(tb testing.TB, dir string) (pid int, ended <-chan error) {
	tb.Helper()
	e := StartIn(tb, dir)
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(e.PID()), "cmdline"))
	if err != nil {
		tb.Fatal(err)
	}
	endpoint := strings.TrimPrefix(e.Endpoint(), "http://")
	e.Stop()
	args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	left := exec.CommandContext(tb.Context(), args[0], args[1:]...)
	if err := left.Start(); err != nil {
		tb.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- left.Wait() }()
	Eventually(tb, "the engine to be left behind listens", func() bool {
		connection, err := new(net.Dialer).DialContext(tb.Context(), "tcp4", endpoint)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
	if err := os.WriteFile(filepath.Join(dir, "engine.pid"), []byte(strconv.Itoa(left.Process.Pid)+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return left.Process.Pid, end
}
