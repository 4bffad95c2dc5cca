package sdk_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/assert"
)

// example is a program on docs/connect.md, which prints whether the toggle express-checkout is on, whenever that changes.
type example struct {
	name      string
	installed string // the variable with the path of the installation
	command   func(installed string) []string
	token     clienttokentable.Type
}

func examples() []example {
	const backend, frontend = clienttokentable.Backend, clienttokentable.Frontend
	const javascript = "SDK_JAVASCRIPT"
	return []example{
		{"Node.js", javascript, func(string) []string { return []string{"node", "node.js"} }, backend},
		{"Python", "SDK_PYTHON_6", func(python string) []string { return []string{python, "app.py"} }, backend},
		{"Go", "SDK_GO_EXAMPLE", func(program string) []string { return []string{program} }, backend},
		{"Java", "SDK_JAVA", func(folder string) []string {
			return []string{"java", "-cp", folder + "/*", "App.java"}
		}, backend},
		{"React", javascript, func(string) []string {
			return []string{"node", "../../test/sdk/javascript/react.js", "react.jsx"}
		}, frontend},
		{"OpenFeature", javascript, func(string) []string { return []string{"node", "openfeature.js"} }, frontend},
	}
}

// Each example follows a toggle that is turned on.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, example := range examples() {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv(example.installed) == "" {
				t.Skip(example.installed + " is not set; make test-sdk sets it if the SDK can be installed")
			}
			testExample(t, example)
		})
	}
}

func testExample(t *testing.T, example example) {
	t.Helper()
	const toggle = "express-checkout"
	s := newService(t)
	s.post("projects/default/features", `{"name":"`+toggle+`"}`)
	s.turn(toggle, "on")
	s.turn(toggle, "off")
	installed, home := os.Getenv(example.installed), t.TempDir()
	arguments := example.command(installed)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout)
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	command.Dir = filepath.Join("..", "..", "docs", "examples")
	command.Env = append(os.Environ(), "CLIENT_URL="+s.url, "CLIENT_TOKEN="+s.token(example.token),
		"NODE_PATH="+installed, "HOME="+home, "TMPDIR="+home)
	command.Stderr = t.Output()
	stdout, err := command.StdoutPipe()
	assert.OK(t, err, command.Start())
	t.Cleanup(func() {
		cancel()
		_ = command.Wait() // it was killed
	})
	lines := bufio.NewScanner(stdout)
	for _, state := range []string{"off", "on"} {
		awaitLine(t, lines, toggle+" is "+state)
		s.turn(toggle, "on")
	}
}

// awaitLine reads lines until one is the wanted one.
func awaitLine(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	var read []string
	for lines.Scan() {
		if lines.Text() == want {
			return
		}
		read = append(read, lines.Text())
	}
	t.Fatalf("the program ended without %q; it printed %q", want, strings.Join(read, "\n"))
}
