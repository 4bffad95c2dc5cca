package version_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/version"
)

// TestNumber checks that the change log and the OpenAPI document have the version, and that scripts/version.sh prints
// it.
func TestNumber(t *testing.T) {
	t.Parallel()
	for file, pattern := range map[string]string{"CHANGELOG.md": `(?m)^## \[(\d.*?)\]`,
		"api/openapi.yaml": `(?m)^  version: (.*)$`} {
		content, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(content)
		if found == nil || string(found[1]) != version.Number {
			t.Errorf("%s: got %q, want %s", file, found, version.Number)
		}
	}
	output, err := exec.CommandContext(t.Context(), "../../../scripts/version.sh").Output()
	want := regexp.MustCompile("^" + regexp.QuoteMeta(version.Number) + `(\+[0-9a-f]{8}(\.modified)?)?\n$`)
	if err != nil || !want.Match(output) {
		t.Errorf("scripts/version.sh: %v, %q", err, output)
	}
}

// TestString checks the version of a program that is built with and without its commit.
func TestString(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	module := filepath.Join(folder, "module")
	source, err := os.ReadFile("version.go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(module, 0o700); err != nil {
		t.Fatal(err)
	}
	program := strings.Replace(string(source), "package version", "package main", 1) +
		"\nfunc main() { print(String()) }\n"
	for name, content := range map[string]string{"go.mod": "module example.com/v\n\ngo 1.26\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	number := "^" + regexp.QuoteMeta(version.Number)
	for _, tt := range []struct{ prepare, build, want string }{
		{"true", "-buildvcs=false", `$`},
		{"git init -q && git add . && git -c user.name=a -c user.email=a@example.com commit -qm a", "-buildvcs=true",
			`\+[0-9a-f]{8}$`},
		{"echo >>main.go", "-buildvcs=true", `\+[0-9a-f]{8}\.modified$`},
	} {
		command := exec.CommandContext(t.Context(), "sh", "-c", tt.prepare+" && go build "+tt.build+" -o ../v . && ../v")
		command.Dir = module
		if output, err := command.CombinedOutput(); err != nil || !regexp.MustCompile(number+tt.want).Match(output) {
			t.Errorf("%s: %v, %q, want %s", tt.build, err, output, tt.want)
		}
	}
}
