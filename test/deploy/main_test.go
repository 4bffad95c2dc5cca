package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

// timeout limits each wait, which usually takes seconds.
const timeout = 90 * time.Second

// tools are set by `make test-deploy`.
type tools struct {
	sam, python string // programs
	build       string // folder with the result of sam build, for this machine
}

// needTools skips the test if the tools are not set.
func needTools(t *testing.T) tools {
	t.Helper()
	u := tools{os.Getenv("TEST_DEPLOY_SAM"), os.Getenv("TEST_DEPLOY_PYTHON"), os.Getenv("TEST_DEPLOY_BUILD")}
	if u.sam == "" || u.python == "" || u.build == "" {
		t.Skip("make test-deploy runs this test: it needs sam, an AWS emulator and the functions built for this machine")
	}
	return u
}

// absolute returns the path of a file of the repository.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", name))
	assert.OK(t, err)
	return path
}

// step runs a part of a test and prints how long it took. If it fails, the test ends.
func step(t *testing.T, name string, run func(t *testing.T)) {
	t.Helper()
	started, result := time.Now(), "ok"
	passed := t.Run(name, run)
	if !passed {
		result = "FAILED"
	}
	_, _ = fmt.Fprintf(os.Stdout, "%-78.78s %6.1f s  %s\n", t.Name()+": "+name, time.Since(started).Seconds(), result)
	if !passed {
		t.FailNow()
	}
}

// await waits for a condition, without which the test cannot go on.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	process.Await(t, what, 200*time.Millisecond, timeout, condition)
}
