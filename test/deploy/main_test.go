package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// tools is what the tests run, as `make test-deploy` says by the environment.
type tools struct {
	sam, python  string // programs
	build        string // folder of sam build, for this machine
	architecture string // of the build: arm64 or x86_64
}

func (u tools) template() string { return filepath.Join(u.build, "template.yaml") }

// config is the repository's samconfig.toml: sam itself would look for it beside the template.
func (tools) config() string { return absolute("samconfig.toml") }

// needTools skips the test where there are none.
func needTools(t *testing.T) tools {
	t.Helper()
	u := tools{
		os.Getenv("TEST_DEPLOY_SAM"), os.Getenv("TEST_DEPLOY_PYTHON"), os.Getenv("TEST_DEPLOY_BUILD"), os.Getenv("TEST_DEPLOY_ARCHITECTURE"),
	}
	if u.sam == "" || u.python == "" || u.build == "" {
		t.Skip("make test-deploy runs this: it needs sam, an emulator of AWS, and what sam build made for this machine")
	}
	return u
}

// absolute gives the path of a file of the repository.
func absolute(name string) string {
	path, err := filepath.Abs(filepath.Join("..", "..", name))
	if err != nil {
		return name
	}
	return path
}

// step is a part of a test without which the rest has no sense.
func step(t *testing.T, name string, run func(t *testing.T)) {
	t.Helper()
	if !part(t, name, run) {
		t.FailNow()
	}
}

// part runs a part of a test and prints how long it took.
func part(t *testing.T, name string, run func(t *testing.T)) bool {
	t.Helper()
	started := time.Now()
	result := "ok"
	passed := t.Run(name, run)
	if !passed {
		result = "FAILED"
	}
	_, _ = fmt.Fprintf(os.Stdout, "%-78.78s %6.1f s  %s\n", t.Name()+": "+name, time.Since(started).Seconds(), result)
	return passed
}

// report prints what tells what failed and why, of a failure that was to come: each once.
func report(failure string) {
	said := map[string]bool{}
	for _, words := range regexp.MustCompile(
		`the script \S+ failed|[\w-]+\.txtar:\d+: .*|\w+Function logged|AccessDenied\w*: .{0,160}|\w+_test\.go:\d+: .*|not within .*|^sam \w+: (?s:.*)`,
	).FindAllString(failure, -1) {
		if !said[words] {
			said[words] = true
			_, _ = fmt.Fprintf(os.Stdout, "    %s\n", words)
		}
	}
}
