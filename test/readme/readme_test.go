// Package readme_test runs the commands of README.md and docs/access.md.
package readme_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/assert"
	"toggleadmin/test/localtest"
)

// TestCommands runs every block of a page that uses a variable, in its order, in one shell. Only the port is different.
// The last request of a page has a deleted token. Those of the README can be repeated.
func TestCommands(t *testing.T) {
	t.Parallel()
	for page, passes := range map[string]int{"README.md": 2, "docs/access.md": 1} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			testCommands(t, page, passes)
		})
	}
}

func testCommands(t *testing.T, page string, passes int) {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing", tool)
		}
	}
	folder := t.TempDir()
	service := localtest.Start(t, local.Config{DataDir: filepath.Join(folder, ".local")})
	address, err := url.Parse(service.BaseURL)
	assert.OK(t, err)
	text, err := os.ReadFile(filepath.Join("../..", page))
	assert.OK(t, err)
	var script string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(block[1], "$") {
			script += block[1]
		}
	}
	// The status is written to standard error, so that commands can read the response.
	script = strings.NewReplacer(":3000", ":"+address.Port(), ` -w '\n'`, "", "curl -s",
		`curl -s -w '%{stderr} %{http_code}\n'`).Replace(script)
	for pass := range passes {
		command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		command.Dir = folder
		output, err := command.CombinedOutput()
		statuses := regexp.MustCompile(`(?m) (\d{3})$`).FindAllStringSubmatch(string(output), -1)
		if err != nil || len(statuses) == 0 {
			t.Fatalf("pass %d: %d responses, %v\n%s", pass, len(statuses), err, output)
		}
		for i, status := range statuses {
			want := "20"
			if i == len(statuses)-1 {
				want = "401"
			}
			if !strings.HasPrefix(status[1], want) {
				t.Errorf("pass %d, request %d of %d: status %s, want %s\n%s", pass, i+1, len(statuses), status[1], want, output)
			}
		}
	}
}
