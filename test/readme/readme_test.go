// Package readme_test holds README.md to its word.
package readme_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
)

// TestTheCommandsWorkAsPasted runs every command of README.md that calls the API, in its order, in one shell, against what make run
// starts. Only the port is another one.
func TestTheCommandsWorkAsPasted(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing", tool)
		}
	}
	folder := t.TempDir()
	port := serve(t, filepath.Join(folder, ".local"))
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	calls := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(block[1], "curl") {
			calls += strings.Count(block[1], "curl")
			script.WriteString(strings.ReplaceAll(strings.ReplaceAll(block[1], ":3000", ":"+port), "curl -s", "curl -s -w ' %{http_code}\\n'"))
		}
	}
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script.String())
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	statuses := regexp.MustCompile(`(?m) (\d{3})$`).FindAllStringSubmatch(string(out), -1)
	if len(statuses) != calls {
		t.Fatalf("%d answers to %d calls:\n%s", len(statuses), calls, out)
	}
	for i, status := range statuses {
		want := "20"
		if i == calls-1 { // it shows that the deleted token is refused
			want = "401"
		}
		if !strings.HasPrefix(status[1], want) {
			t.Errorf("call %d of %d: status %s\n%s", i+1, calls, status[1], out)
		}
	}
}

// serve runs the service on a data folder until the test ends, and gives its port.
func serve(t *testing.T, dataDir string) (port string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan local.Running, 1), make(chan error, 1)
	go func() {
		ended <- local.Run(ctx, local.Config{
			Template: "../../template.yaml", DataDir: dataDir, Ready: func(r local.Running) { ready <- r },
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case err := <-ended:
		ended <- err
		t.Fatalf("the service ended: %v", err)
	case r := <-ready:
		u, err := url.Parse(r.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		port = u.Port()
	}
	return port
}
