// Package recipe_test follows the list of files in CONTRIBUTING.md, "Add an operation", in a copy of the tree. It adds
// GET /api/admin/feedback/{id} with exactly these files, calls it under `make run`, and runs the tests that judge
// operations.
package recipe_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

const root = "../.."

// TestAddAnOperation takes a minute, because it compiles the copy.
func TestAddAnOperation(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECIPE") == "" {
		t.Skip("make test-recipe runs this test")
	}
	copied := t.TempDir()
	copyTree(t, copied)
	operation, err := txtar.ParseFile("testdata/get-feedback.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for _, file := range operation.Files {
		apply(t, filepath.Join(copied, file.Name), string(file.Data))
		changed = append(changed, file.Name)
	}
	slices.Sort(changed)
	if diff := cmp.Diff(listed(t), changed); diff != "" {
		t.Fatalf("files of CONTRIBUTING.md (-) and of the operation (+):\n%s", diff)
	}
	call(t, copied)
	run(t, copied, "go", "test", "./pkg/platform/access", "./pkg/api/feedback", "./pkg/local/...", "./test/template",
		"./test/openapi", "./test/usage",
		"./test/repository", "./test/runtimeapi")
}

// listed returns the files of the list in CONTRIBUTING.md, with the names of this operation.
func listed(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Add an operation")
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
	skipped := []string{".git", ".cache", ".aws-sam", ".local", "node_modules"}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case slices.Contains(skipped, name) && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !entry.Type().IsRegular() || name == ".git":
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	packages, err := filepath.Abs(filepath.Join(root, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packages, filepath.Join(to, "node_modules")); err != nil {
		t.Fatal(err)
	}
}

// apply writes a new file, or changes an existing one: each block of the text begins with a line "after: TEXT" and is inserted after the
// first line that contains TEXT, with a line "append:", or is one line "replace: OLD => NEW".
func apply(t *testing.T, path, text string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// call starts the program of `make run` in the copy and calls the operation.
func call(t *testing.T, copied string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "local")
	run(t, copied, "go", "build", "-o", program, "./cmd/local")
	data := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Dir, cmd.Env = copied, append(os.Environ(), "PORT=0", "DATA_DIR="+data)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
		t.Fatalf("%q: %v", line, err)
	}
	var service struct {
		BaseURL string
		Users   []struct{ PAT string }
	}
	content, err := os.ReadFile(filepath.Join(data, "local.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &service); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet,
		service.BaseURL+"/api/admin/feedback/none", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", service.Users[0].PAT)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), `"feedbackId":"none"`) {
		t.Errorf("%d %s: %v", response.StatusCode, body, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// run runs a command in a folder.
func run(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
}
