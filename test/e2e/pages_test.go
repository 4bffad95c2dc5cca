package e2e_test

import (
	"cmp"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

// page is README.md or a page that continues it, whose commands are run.
type page struct {
	path        string
	afterReadme bool           // it uses the functions and variables that the quick start of the README defines
	passes      int            // how often its commands are run
	rejected    map[int]string // the statuses of requests that are rejected, by their position; -1: the last one
}

// TestCommands runs every block of a page that uses a variable, in its order, in one shell. Only the port is different.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, p := range []page{
		{path: "README.md", passes: 2},
		{path: "docs/api.md", passes: 2, afterReadme: true, rejected: map[int]string{-1: "401"}}, // its token is deleted
		{path: "docs/access.md", passes: 1, rejected: map[int]string{-1: "401"}},
		{path: "docs/rollout.md", passes: 1, afterReadme: true},
		{path: "docs/change-requests.md", passes: 1, afterReadme: true, rejected: map[int]string{2: "403"}}, // it is protected
	} {
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			testCommands(t, p)
		})
	}
}

func testCommands(t *testing.T, p page) {
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
	script := strings.Join(blocks(t, p.path), "")
	if p.afterReadme {
		script = blocks(t, "README.md")[0] + script
	}
	// The status is written to standard error, so that commands can read the response.
	script = strings.NewReplacer(":3000", ":"+address.Port(), ` -w '\n'`, "", "curl -s",
		`curl -s -w '%{stderr} %{http_code}\n'`).Replace(script)
	for pass := range p.passes {
		command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		command.Dir = folder
		output, err := command.CombinedOutput()
		statuses := regexp.MustCompile(`(?m) (\d{3})$`).FindAllStringSubmatch(string(output), -1)
		if err != nil || len(statuses) == 0 {
			t.Fatalf("pass %d: %d responses, %v\n%s", pass, len(statuses), err, output)
		}
		for i, status := range statuses {
			want := cmp.Or(p.rejected[i], p.rejected[i-len(statuses)], "20")
			if !strings.HasPrefix(status[1], want) {
				t.Errorf("pass %d, request %d of %d: status %s, want %s\n%s", pass, i+1, len(statuses), status[1], want, output)
			}
		}
	}
}

// blocks returns the blocks of a page that use a variable.
func blocks(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", path))
	assert.OK(t, err)
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(block[1], "$") {
			all = append(all, block[1])
		}
	}
	return all
}
