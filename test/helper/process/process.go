// Package process helps tests that start processes: it builds programs, waits for conditions, finds free ports, collects
// output, checks whether a process runs and makes Go's test cache depend on the files that a process uses.
package process

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Await polls a condition until it is true. It fails the test if that takes longer than the timeout.
func Await(tb testing.TB, what string, interval, timeout time.Duration, condition func() bool) {
	tb.Helper()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for deadline := time.Now().Add(timeout); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			tb.Fatalf("%s: not within %s", what, timeout)
		}
	}
}

// Build builds the program of a package and returns its path. The program exists until the end of the test.
func Build(tb testing.TB, pkg string) string {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), path.Base(pkg))
	if output, err := exec.CommandContext(tb.Context(), "go", "build", "-o", program, pkg).CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v: %s", pkg, err, output)
	}
	return program
}

// FreePort returns a TCP port that no program uses and that the system assigns to no program: one below the ports that
// it assigns. Until the test ends, no other test gets the port: the UDP port with the same number is the reservation.
func FreePort(tb testing.TB) string {
	tb.Helper()
	for {
		port := strconv.Itoa(20000 + rand.N(10000))
		reservation, err := new(net.ListenConfig).ListenPacket(tb.Context(), "udp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		tb.Cleanup(func() { _ = reservation.Close() })
		if listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			listener.Close()
			return port
		}
	}
}

// Runs reports whether a process of this machine runs. A process that has ended and was not waited for does not run.
// Linux only.
func Runs(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(line) > 0
}

// DependOn makes Go's test cache depend on all files below the paths. Without it, the cache depends only on files that
// the test's own process opens, not on those of a program that the test builds or starts.
func DependOn(tb testing.TB, paths ...string) {
	tb.Helper()
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			_, err = os.Stat(file)
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// Output collects what a process writes. It can be read while the process runs.
type Output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(b)
}

// String returns what has been written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}
