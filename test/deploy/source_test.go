package deploy_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFlawsInTheSource: the flaws that a deployment shows are found without one, too, by tests of `make test`. It is for the soak.
func TestFlawsInTheSource(t *testing.T) { //nolint:paralleltest // two processors
	if needTools(t); os.Getenv("PERMISSIONS") != "all" {
		t.Skip("make test-deploy PERMISSIONS=all runs this")
	}
	copied := copyRepository(t)
	source := readDocument(t, absolute("template.yaml"))
	all := append([]flaw{{name: "no flaw, written anew", apply: func(*testing.T, *document) {}}}, flaws()...)
	for i, p := range source.permissions() {
		if i > 0 && p.function == source.permissions()[i-1].function { // a policy without any is refused by the template's reader
			all = append(all, source.without(p))
			break
		}
	}
	for _, f := range all {
		part(t, f.name, func(t *testing.T) {
			d := readDocument(t, absolute("template.yaml"))
			f.apply(t, d)
			d.write(t, filepath.Join(copied, "template.yaml"))
			cmd := exec.CommandContext(t.Context(), "go", "test", "./test/template/", "./test/usage/")
			cmd.Dir = copied
			output, err := cmd.CombinedOutput()
			var failed, said []string
			for _, match := range regexp.MustCompile(`(?m)^--- FAIL: (\w+)|^ +(\w+_test\.go:\d+: .*)$`).FindAllStringSubmatch(string(output), -1) {
				failed, said = append(failed, match[1]), append(said, match[2])
			}
			if (err != nil) != (f.test != "") || f.test != "" && !slices.Contains(failed, f.test) {
				t.Fatalf("%q is to fail: %v\n%s", f.test, err, output)
			}
			const most = 8
			said = slices.DeleteFunc(said, func(line string) bool { return line == "" })
			report(strings.Join(said[:min(len(said), most)], "\n"))
		})
	}
}

// copyRepository copies what go test needs of the tree, so that its template can be changed.
func copyRepository(t *testing.T) string {
	t.Helper()
	from, to := absolute("."), t.TempDir()
	err := fs.WalkDir(os.DirFS(from), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(path, ".") || path == "node_modules"):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o700)
		}
		content, err := os.ReadFile(filepath.Join(from, path))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), content, 0o600)
	})
	must(t, err)
	must(t, os.Symlink(filepath.Join(from, "node_modules"), filepath.Join(to, "node_modules"))) // the engine
	return to
}
