package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"toggleadmin/test/assert"
)

// TestAddAnOperation follows the list of files in CONTRIBUTING.md, "Add an operation", in a copy of the tree. It adds
// GET /api/admin/feedback/{id} with exactly these files, and runs the tests that judge operations: test/e2e sends its
// sample event to the local service, test/runtimeapi to the function. It takes a minute, because it compiles the copy.
func TestAddAnOperation(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECIPE") == "" {
		t.Skip("make test-recipe runs this test")
	}
	copied := t.TempDir()
	copyTree(t, copied)
	operation, err := txtar.ParseFile("testdata/get-feedback.txtar")
	assert.OK(t, err)
	var changed []string
	for _, file := range operation.Files {
		apply(t, filepath.Join(copied, file.Name), string(file.Data))
		changed = append(changed, file.Name)
	}
	slices.Sort(changed)
	if diff := cmp.Diff(listed(t), changed); diff != "" {
		t.Fatalf("files of CONTRIBUTING.md (-) and of the operation (+):\n%s", diff)
	}
	succeed(t, "go", "test", "-C", copied, "-skip=^TestAddAnOperation$", "./pkg/platform/access", "./pkg/api/feedback", "./pkg/local/...",
		"./test/template", "./test/openapi", "./test/e2e", "./test/repository", "./test/runtimeapi")
}

// listed returns the files of the list in CONTRIBUTING.md, with the names of this operation.
func listed(t *testing.T) []string {
	t.Helper()
	_, section, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "## Add an operation")
	names := strings.NewReplacer("<domain>", "feedback", "<operation>", "get", "<verb-noun>", "get-feedback")
	var files []string
	for _, match := range regexp.MustCompile("(?m)^\\d+\\. `([^`]+)`").FindAllStringSubmatch(section, -1) {
		files = append(files, names.Replace(match[1]))
	}
	slices.Sort(files)
	return files
}

// copyTree copies the files of the repository. The engine's package is linked.
func copyTree(t *testing.T, to string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	assert.OK(t, err)
	copying := []string{"-R"}
	for _, entry := range entries {
		if name := entry.Name(); !slices.Contains([]string{".git", ".cache", ".aws-sam", ".local", "node_modules"}, name) {
			copying = append(copying, name)
		}
	}
	succeed(t, "cp", append(copying, to)...)
	packages, err := filepath.Abs(filepath.Join(root, "node_modules"))
	assert.OK(t, err)
	assert.OK(t, os.Symlink(packages, filepath.Join(to, "node_modules")))
}

// apply writes a new file, or changes an existing one: each block of the text begins with a line "after: TEXT" and is inserted after the
// first line that contains TEXT, with a line "append:", or is one line "replace: OLD => NEW".
func apply(t *testing.T, path, text string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		assert.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return
	}
	lines := strings.SplitAfter(string(content), "\n")
	at := -1 // where the next line is inserted
	for line := range strings.Lines(text) {
		find := func(text string) int {
			i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) })
			if i < 0 {
				t.Fatalf("%s has no line with %q", path, text)
			}
			return i
		}
		if anchor, is := strings.CutPrefix(line, "after: "); is {
			at = find(strings.TrimSuffix(anchor, "\n")) + 1
		} else if line == "append:\n" {
			at = len(lines)
		} else if change, is := strings.CutPrefix(line, "replace: "); is {
			old, replacement, _ := strings.Cut(strings.TrimSuffix(change, "\n"), " => ")
			i := find(old)
			lines[i] = strings.Replace(lines[i], old, replacement, 1)
		} else {
			lines = slices.Insert(lines, at, line)
			at++
		}
	}
	assert.OK(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
}

// succeed runs a command in the root folder. It ends the test if the command fails.
func succeed(t *testing.T, program string, arguments ...string) {
	t.Helper()
	if output, err := run(t, program, arguments...); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}
