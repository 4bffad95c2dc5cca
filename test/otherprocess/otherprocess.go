// Package otherprocess is what a test needs of a process, or of anything else, that goes on beside it: to wait for what it does, to read
// what it has written so far, and to see whether it still runs.
//
// Not here: starting and ending it, which is another matter for each.
package otherprocess

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Await waits until something holds, of which no channel tells, and looks at it every so often. It fails the test once patience has ended.
func Await(tb testing.TB, what string, every, patience time.Duration, holds func() bool) {
	tb.Helper()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for end := time.Now().Add(patience); !holds(); <-tick.C {
		if time.Now().After(end) {
			tb.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// Runs says whether a process of this machine runs; one that has ended and waits to be reaped does not. Only Linux tells.
func Runs(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(line) > 0
}

// DependOn has go test remember a result only as long as all files below these paths stay as they are. By itself it looks at the files that
// the test's own process has read, and not at those of a program that the test has built or run.
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

// Output gathers what a process writes, and may be read meanwhile.
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

// String is what has been written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}
