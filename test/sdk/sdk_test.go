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
	"toggleadmin/test/assert"
	"toggleadmin/test/process"
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
}

const (
	clientReport   = "POST /api/client/metrics 202"
	frontendReport = "POST /api/frontend/client/metrics 200"
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
		{"unleash-client 3", javascript, node("javascript/node.js", "unleash-client-3"), backend, clientReport, false},
		{"unleash-client 5", javascript, node("javascript/node.js", "unleash-client-5"), backend, clientReport, false},
		{"unleash-client 6", javascript, node("javascript/node.js", "unleash-client-6"), backend, clientReport, false},
		{"UnleashClient 5", python5, python("python/unleash_client.py"), backend, clientReport, false},
		{"UnleashClient 6", python6, python("python/unleash_client.py"), backend, clientReport, false},
		{"unleash-client-go 4", "SDK_GO_4", program, backend, clientReport, false},
		{"unleash-go-sdk 5", "SDK_GO_5", program, backend, clientReport, false},
		{"unleash-client-java 9", "SDK_JAVA_9", java, backend, clientReport, false},
		{"unleash-client-java 12", "SDK_JAVA", java, backend, clientReport, false},
		{"unleash-proxy-client 2", javascript, node("javascript/frontend.js", "unleash-proxy-client-2"), frontend,
			frontendReport, false},
		{"unleash-proxy-client 3", javascript, node("javascript/frontend.js", "unleash-proxy-client"), frontend,
			frontendReport, false},
		{"ofrep-web-provider", javascript, node("javascript/ofrep.js"), frontend, "", false},
		{"openfeature-provider-ofrep", python6, python("python/ofrep.py"), backend, "", true},
	}
}

// Each SDK evaluates all toggles, sees a change of a toggle, keeps its state while the service is down, sees a change
// after the restart, and reports counts.
func TestSDKs(t *testing.T) {
	t.Parallel()
	for _, sdk := range sdks() {
		t.Run(sdk.name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv(sdk.installed) == "" {
				t.Skip(sdk.installed + " is not set; make test-sdk sets it if the SDK can be installed")
			}
			testSDK(t, sdk)
		})
	}
}

func testSDK(t *testing.T, sdk sdk) {
	t.Helper()
	service := newService(t)
	all := service.createToggles()
	var requested []requestedToggle
	for _, toggle := range all {
		requested = append(requested, requestedToggle{toggle.name, cmp.Or(toggle.kind, "boolean")})
	}
	app := start(t, sdk, service, requested)
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
	if *update {
		saveReports(t, sdk.name, service.sent())
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
	toggles   []requestedToggle
	requests  *json.Encoder
	responses *json.Decoder
	end       func()
}

// requestedToggle is a toggle in a request to a program.
type requestedToggle struct {
	Name string `json:"name"`
	Type string `json:"type"` // of its value in OpenFeature
}

func start(t *testing.T, sdk sdk, s *service, toggles []requestedToggle) *application {
	t.Helper()
	installed, home := os.Getenv(sdk.installed), t.TempDir()
	arguments := sdk.command(installed)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*timeout)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	// SDKs keep their state in files, too.
	command.Env = append(os.Environ(), "CLIENT_URL="+s.url, "CLIENT_TOKEN="+s.token(sdk.token), "NODE_PATH="+installed,
		"HOSTNAME="+hostName, "HOME="+home, "TMPDIR="+home)
	command.Stderr = t.Output()
	stdin, err := command.StdinPipe()
	assert.OK(t, err)
	stdout, err := command.StdoutPipe()
	assert.OK(t, err, command.Start())
	a := &application{T: t, toggles: toggles, requests: json.NewEncoder(stdin), responses: json.NewDecoder(stdout)}
	wait := sync.OnceValue(func() error {
		stdin.Close()
		return command.Wait()
	})
	a.end = func() { assert.OK(t, wait()) }
	t.Cleanup(a.end)
	return a
}

// evaluate returns what the application gets for a context in the form of SDKs.
func (a *application) evaluate(c any) results {
	a.Helper()
	var values []string
	err := a.requests.Encode(map[string]any{"context": c, "toggles": a.toggles})
	assert.OK(a.T, err, a.responses.Decode(&values))
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
