package repository_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"toggleadmin/test/helper/assert"
)

// TestViolationsAreReported lints a small module that violates each rule of .golangci.yml that restricts imports or the
// use of the environment or the clock. It runs only if `make lint` sets GOLANGCI_LINT.
func TestViolationsAreReported(t *testing.T) {
	t.Parallel()
	linter := os.Getenv("GOLANGCI_LINT")
	if linter == "" {
		t.Skip("GOLANGCI_LINT is not set; make lint sets it")
	}
	archive, err := txtar.ParseFile("testdata/violations.txtar")
	assert.OK(t, err)
	module := t.TempDir()
	assert.OK(t, txtar.Write(archive, module))
	if output, err := run(t, "cp", "go.mod", "go.sum", ".golangci.yml", module); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if diff := cmp.Diff(wanted(archive), lint(t, linter, module)); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// wanted returns the reports that the comments in the archive expect, each as "file:line linter", sorted.
func wanted(archive *txtar.Archive) []string {
	var all []string
	comment := regexp.MustCompile(`// want: (.*)$`)
	for _, file := range archive.Files {
		for i, line := range strings.Split(string(file.Data), "\n") {
			match := comment.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			for linter := range strings.FieldsSeq(match[1]) {
				all = append(all, fmt.Sprintf("%s:%d %s", file.Name, i+1, linter))
			}
		}
	}
	slices.Sort(all)
	return all
}

// lint runs the linter on the module and returns its reports in the format of wanted.
func lint(t *testing.T, linter, module string) []string {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), linter, "run", "--enable-only=depguard,forbidigo",
		"--allow-parallel-runners",
		"--max-issues-per-linter=0", "--max-same-issues=0", "--issues-exit-code=0", "--uniq-by-line=false",
		"--show-stats=false", "--output.text.print-issued-lines=false", "./...")
	command.Dir = module
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("run the linter: %v\n%s", err, &stderr)
	}
	var all []string
	for _, match := range regexp.MustCompile(`(?m)^(\S+:\d+):\d+: .*\((\w+)\)$`).FindAllStringSubmatch(string(output), -1) {
		all = append(all, match[1]+" "+match[2])
	}
	slices.Sort(all)
	return all
}
