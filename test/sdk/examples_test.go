package sdk_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

// example is a program on docs/connect.md, which prints whether the toggle express-checkout is on, whenever that changes.
type example struct {
	name      string
	installed string // the variable with the path of the installation
	command   func(installed string) []string
	token     clienttokentable.Type
	inPage    bool // the command bundles it for a page
}

func examples() []example {
	const backend, frontend = clienttokentable.Backend, clienttokentable.Frontend
	const javascript, bundle = "SDK_JAVASCRIPT", "../../test/sdk/javascript/bundle.js"
	return []example{
		{"Node.js", javascript, func(string) []string { return []string{"node", "node.js"} }, backend, false},
		{"Python", "SDK_PYTHON_6", func(python string) []string { return []string{python, "app.py"} }, backend, false},
		{"Go", "SDK_GO_EXAMPLE", func(program string) []string { return []string{program} }, backend, false},
		{"Java", "SDK_JAVA", func(folder string) []string {
			return []string{"java", "-cp", folder + "/*", "App.java"}
		}, backend, false},
		{"React", javascript, func(string) []string {
			return []string{"node", bundle, "../../test/sdk/javascript/react.jsx"}
		}, frontend, true},
		{"OpenFeature", javascript, func(string) []string { return []string{"node", bundle, "openfeature.js"} }, frontend,
			true},
	}
}

// Each example follows a toggle that is turned on.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, example := range examples() {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			needs(t, example.installed)
			if example.inPage {
				needs(t, installedChromium)
			}
			testExample(t, example)
		})
	}
}

func testExample(t *testing.T, example example) {
	t.Helper()
	s := newService(t)
	s.createExample()
	installed := os.Getenv(example.installed)
	command := newCommand(t, example.command(installed), installed, s.url, s.token(example.token))
	command.Dir = filepath.Join("..", "..", "docs", "examples")
	follow := followProcess
	if example.inPage {
		follow = followPage
	}
	s.testExample(follow(t, command))
}

// exampleToggle is the toggle that the examples follow.
const exampleToggle = "express-checkout"

func (s *service) createExample() {
	s.Helper()
	s.post("projects/default/features", `{"name":"`+exampleToggle+`"}`)
	s.turn(exampleToggle, "on")
	s.turn(exampleToggle, "off")
}

func (s *service) testExample(awaitLine func(want string)) {
	s.Helper()
	for _, state := range []string{"off", "on"} {
		awaitLine(exampleToggle + " is " + state)
		s.turn(exampleToggle, "on")
	}
}

// The page without a build tool follows the toggle when a person has entered the URL and the token.
func TestExamplePage(t *testing.T) {
	t.Parallel()
	const javascript, packages = "SDK_JAVASCRIPT", "/node_modules/"
	needs(t, javascript)
	needs(t, installedChromium)
	s := newService(t)
	s.createExample()
	files := http.NewServeMux()
	files.Handle("/", http.FileServer(http.Dir("../../docs/examples/page")))
	files.Handle(packages, http.StripPrefix(packages, http.FileServer(http.Dir(os.Getenv(javascript)))))
	p := openPage(t, "/page.html", files)
	assert.OK(t, chromedp.Do(p.ctx,
		chromedp.SetValue("[name=url]", s.url),
		chromedp.SendKeys("[name=token]", s.token(clienttokentable.Frontend)),
		chromedp.Click("button"),
	))
	s.testExample(func(want string) {
		process.Await(t, want, 20*time.Millisecond, timeout, func() bool {
			text, err := chromedp.Run(p.ctx, chromedp.Text("#state"))
			assert.OK(t, err)
			return text == want
		})
	})
}

func followPage(t *testing.T, command *exec.Cmd) (awaitLine func(want string)) {
	t.Helper()
	return openProgram(t, command).awaitLine
}

func followProcess(t *testing.T, command *exec.Cmd) (awaitLine func(want string)) {
	t.Helper()
	stdout, err := command.StdoutPipe()
	assert.OK(t, err, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
	})
	lines := bufio.NewScanner(stdout)
	return func(want string) {
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
}
