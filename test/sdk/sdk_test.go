package sdk_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

var update = flag.Bool("update", false, "save the reports of SDKs as test data")

// sdk is an SDK, with the program that uses it.
type sdk struct {
	name      string
	installed string // the variable with the path of the installation
	command   func(installed string) []string
	token     clienttokentable.Type
	report    string // how its counts are received; empty: it reports none
	remote    bool   // it has no state: each evaluation is a request
	poll      string // how it asks, if its program is bundled for a page; empty: it is a program that runs
}

const (
	clientReport   = "POST /api/client/metrics 202"
	frontendReport = "POST /api/frontend/client/metrics 200"

	getFrontend  = "GET /api/frontend"
	postFrontend = "POST /api/frontend"
	postOFREP    = "POST /ofrep/v1/evaluate/flags"
)

func sdks() []sdk {
	node := func(arguments ...string) func(string) []string {
		return func(string) []string { return append([]string{"node"}, arguments...) }
	}
	python := func(script string) func(string) []string {
		return func(python string) []string { return []string{python, script} }
	}
	program := func(path string) []string { return []string{path} }
	java := func(folder string) []string {
		return []string{"java", "-cp", folder + "/*", "java/Main.java"}
	}
	const backend, frontend = clienttokentable.Backend, clienttokentable.Frontend
	const javascript, python5, python6 = "SDK_JAVASCRIPT", "SDK_PYTHON_5", "SDK_PYTHON_6"
	return []sdk{
		{"unleash-client 3", javascript, node("javascript/node.js", "unleash-client-3"), backend, clientReport, false, ""},
		{"unleash-client 5", javascript, node("javascript/node.js", "unleash-client-5"), backend, clientReport, false, ""},
		{"unleash-client 6", javascript, node("javascript/node.js", "unleash-client-6"), backend, clientReport, false, ""},
		{"UnleashClient 5", python5, python("python/unleash_client.py"), backend, clientReport, false, ""},
		{"UnleashClient 6", python6, python("python/unleash_client.py"), backend, clientReport, false, ""},
		{"unleash-client-go 4", "SDK_GO_4", program, backend, clientReport, false, ""},
		{"unleash-go-sdk 5", "SDK_GO_5", program, backend, clientReport, false, ""},
		{"unleash-client-java 9", "SDK_JAVA_9", java, backend, clientReport, false, ""},
		{"unleash-client-java 12", "SDK_JAVA", java, backend, clientReport, false, ""},
		{"unleash-proxy-client 2", javascript, node("javascript/frontend.js", "unleash-proxy-client-2"), frontend,
			frontendReport, false, ""},
		{"unleash-proxy-client 3", javascript, node("javascript/frontend.js", "unleash-proxy-client"), frontend,
			frontendReport, false, ""},
		{"ofrep-web-provider", javascript, node("javascript/ofrep.js"), frontend, "", false, ""},
		{"unleash-proxy-client 3 in a page", javascript, node("javascript/bundle.js", "javascript/frontend.js",
			"unleash-proxy-client"), frontend, frontendReport, false, getFrontend},
		{"unleash-proxy-client 3 in a page with POST", javascript, node("javascript/bundle.js",
			"javascript/frontend.js", "unleash-proxy-client", "POST"), frontend, frontendReport, false, postFrontend},
		{"proxy-client-react in a page", javascript, node("javascript/bundle.js", "javascript/react-flags.jsx"),
			frontend, frontendReport, false, getFrontend},
		{"ofrep-web-provider in a page", javascript, node("javascript/bundle.js", "javascript/ofrep.js"), frontend, "",
			false, postOFREP},
		{"openfeature-provider-ofrep", python6, python("python/ofrep.py"), backend, "", true, ""},
	}
}

// Each SDK evaluates all toggles, sees a change of a toggle, keeps its state while the service is down, sees a change
// after the restart, and reports counts.
func TestSDKs(t *testing.T) {
	t.Parallel()
	for _, sdk := range sdks() {
		t.Run(sdk.name, func(t *testing.T) {
			t.Parallel()
			needs(t, sdk.installed)
			if sdk.poll != "" {
				needs(t, installedChromium)
			}
			testSDK(t, sdk)
		})
	}
}

// needs skips the test if a variable with the path of an installation is not set.
func needs(t *testing.T, installed string) {
	t.Helper()
	if os.Getenv(installed) == "" {
		t.Skip(installed + " is not set; make test-sdk sets it if what the test needs can be installed")
	}
}

func testSDK(t *testing.T, sdk sdk) {
	t.Helper()
	service := newService(t)
	all := service.createToggles()
	app := start(t, sdk, service.url, service.token(sdk.token), requestsOf(all))
	norway, sweden := expected(sdk.name, all)
	app.await("the results in Sweden", inSweden(), sweden)
	app.await("the results in Norway", inNorway(), norway)
	service.turn(switched, "on")
	norway[switched] = "on"
	app.await("the toggle that was turned on", inNorway(), norway)
	service.stop()
	if !sdk.remote {
		assert.Equal(t, norway, app.evaluate(inNorway()))
	}
	service.start()
	service.turn(switched, "off")
	norway[switched] = "off"
	app.await("the toggle that was turned off after the restart", inNorway(), norway)
	if sdk.report != "" {
		process.Await(t, "a report: "+sdk.report, 20*time.Millisecond, timeout, func() bool {
			return service.received(sdk.report)
		})
	}
	if sdk.report != "" || sdk.remote {
		process.Await(t, "counts of the toggle", 100*time.Millisecond, timeout, func() bool {
			return service.counted(switched) > 0
		})
	}
	if *update && sdk.poll == "" {
		saveReports(t, sdk.name, service.sent())
	}
	if sdk.poll != "" {
		process.Await(t, "a response 304", 20*time.Millisecond, timeout, func() bool {
			return service.received(sdk.poll + " 304")
		})
		service.checkStatuses()
		app.page.testFaults(service, app)
		return
	}
	app.end()
	service.checkStatuses()
}

// saveReports saves a report with counts, and a registration, as test data of the package that reads them.
func saveReports(t *testing.T, name string, sent [][]byte) {
	t.Helper()
	person, err := user.Current()
	assert.OK(t, err)
	host, err := os.Hostname()
	assert.OK(t, err)
	for _, body := range sent {
		body = bytes.ReplaceAll(body, []byte(person.Username+"-"+host), []byte("ada-"+hostName))
		kind := "register"
		if bytes.Contains(body, []byte(`"bucket"`)) {
			kind = "metrics"
		}
		if kind == "register" || bytes.Contains(body, []byte(switched)) {
			file := fmt.Sprintf("../../pkg/delivery/client/testdata/%s.%s.json", strings.ReplaceAll(name, " ", "-"), kind)
			assert.OK(t, os.WriteFile(file, body, 0o600))
		}
	}
}

// timeout limits each wait, which usually takes about a second.
const timeout = time.Minute

// results are the results of toggles by name.
type results map[string]string

// application is a running program that uses an SDK.
type application struct {
	*testing.T
	toggles []requestedToggle
	ask     func(question) ([]string, error) // the results of toggles
	page    *page                            // in which it runs; nil: it is a process
	end     func()                           // of the process
}

// question is what a program is asked.
type question struct {
	Context any               `json:"context"`
	Toggles []requestedToggle `json:"toggles"`
}

// requestedToggle is a toggle in a request to a program.
type requestedToggle struct {
	Name string `json:"name"`
	Type string `json:"type"` // of its value in OpenFeature
}

// requestsOf returns toggles as a program is asked for them.
func requestsOf(all []testToggle) (requested []requestedToggle) {
	for _, toggle := range all {
		requested = append(requested, requestedToggle{toggle.name, cmp.Or(toggle.kind, "boolean")})
	}
	return requested
}

func start(t *testing.T, sdk sdk, url, token string, toggles []requestedToggle) *application {
	t.Helper()
	command := newCommand(t, sdk.command(os.Getenv(sdk.installed)), os.Getenv(sdk.installed), url, token)
	a := &application{T: t, toggles: toggles}
	if sdk.poll != "" {
		a.page = openProgram(t, command)
		a.ask = a.page.ask
		return a
	}
	stdin, err := command.StdinPipe()
	assert.OK(t, err)
	stdout, err := command.StdoutPipe()
	assert.OK(t, err, command.Start())
	requests, responses := json.NewEncoder(stdin), json.NewDecoder(stdout)
	a.ask = func(q question) (values []string, err error) {
		if err := requests.Encode(q); err != nil {
			return nil, err
		}
		return values, responses.Decode(&values)
	}
	wait := sync.OnceValue(func() error {
		stdin.Close()
		return command.Wait()
	})
	a.end = func() { assert.OK(t, wait()) }
	t.Cleanup(a.end)
	return a
}

// newCommand returns a command that runs or bundles a program for a service, with a token. It is killed at the end of the
// test.
func newCommand(t *testing.T, arguments []string, installed, url, token string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*timeout)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	home := t.TempDir() // SDKs keep their state in files, too
	command.Env = append(os.Environ(), "CLIENT_URL="+url, "CLIENT_TOKEN="+token, "NODE_PATH="+installed,
		"HOSTNAME="+hostName, "HOME="+home, "TMPDIR="+home)
	command.Stderr = t.Output()
	return command
}

// evaluate returns what the application gets for a context in the form of SDKs.
func (a *application) evaluate(c any) results {
	a.Helper()
	values, err := a.ask(question{c, a.toggles})
	assert.OK(a.T, err)
	all := results{}
	for i, toggle := range a.toggles {
		all[toggle.Name] = values[i]
	}
	return all
}

// await evaluates until the results are those that are wanted.
func (a *application) await(what string, c sdkContext, want results) {
	a.Helper()
	a.awaitResults(what, want, func() results { return a.evaluate(c) })
}

// awaitResults calls get until it returns the results that are wanted.
func (a *application) awaitResults(what string, want results, get func() results) {
	a.Helper()
	for deadline := time.Now().Add(timeout); ; <-time.After(50 * time.Millisecond) {
		got := get()
		if maps.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			assert.Equal(a.T, want, got)
			a.Fatalf("not within %s: %s", timeout, what)
		}
	}
}
