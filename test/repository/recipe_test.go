package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/test/helper/assert"
)

// TestAddAnOperation follows the list of files in CONTRIBUTING.md, "Add an operation", in a copy of the repository. It
// applies a patch that adds GET /api/admin/feedback/{id} and changes exactly these files, and runs the tests that judge
// operations: test/e2e sends its sample event to the local service, test/functions to the function. It compiles
// the copy.
func TestAddAnOperation(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECIPE") == "" {
		t.Skip("RECIPE=1 runs this test, which takes a minute")
	}
	const patch = "testdata/get-feedback.patch"
	content, err := os.ReadFile(patch)
	assert.OK(t, err)
	var changed []string
	for _, match := range regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`).FindAllStringSubmatch(string(content), -1) {
		changed = append(changed, match[1])
	}
	slices.Sort(changed)
	if diff := cmp.Diff(listed(t), changed); diff != "" {
		t.Fatalf("files of CONTRIBUTING.md (-) and of the patch (+):\n%s", diff)
	}
	absolute, err := filepath.Abs(patch)
	assert.OK(t, err)
	copied := t.TempDir()
	copyTree(t, copied)
	succeed(t, "git", "-C", copied, "apply", "-C1", absolute)
	succeed(t, "go", "test", "-C", copied, "-skip=^TestAddAnOperation$", "./pkg/api/feedback", "./pkg/local",
		"./test/template", "./test/contract", "./test/e2e", "./test/repository", "./test/functions")
}

// listed returns the files of the list in CONTRIBUTING.md, with the names of this operation.
func listed(t *testing.T) []string {
	t.Helper()
	_, section, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "## Add an operation")
	names := strings.NewReplacer("<domain>", "feedback", "<operation>", "get", "<operation-id>", "get-feedback")
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

// succeed runs a command in the root folder. It ends the test if the command fails.
func succeed(t *testing.T, program string, arguments ...string) {
	t.Helper()
	if output, err := run(t, program, arguments...); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}
