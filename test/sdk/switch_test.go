package sdk_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
	"toggleadmin/test/helper/unleashserver"
)

// copies is how often each toggle exists in Unleash: there are more than 300 toggles.
const copies = 20

// TestSwitch moves applications with five SDKs from Unleash to this service and back, with the commands of docs/move.md.
// The applications keep their tokens and are never restarted. They evaluate toggles all the time, and no result changes.
func TestSwitch(t *testing.T) {
	t.Parallel()
	there := unleashserver.StartFor(t)
	all := createThere(t, there)
	here := newService(t)
	var applications []*movingApplication
	for _, sdk := range sdks() {
		switch sdk.name {
		case "unleash-client 6", "UnleashClient 6", "unleash-go-sdk 5", "unleash-client-java 12", "unleash-proxy-client 3":
			needs(t, sdk.installed)
			applications = append(applications, startMoving(t, sdk, there.URL, all))
		}
	}

	toggleadmin := operatorOf(t, here)
	const token = "UNLEASH_TOKEN="
	toggleadmin(token+unleashserver.AdminToken, "import", "unleash", "--url", there.URL)
	toggleadmin(token+unleashserver.ClientToken, "compare", "--url", there.URL, "--environment", environment)
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	exported, err := there.Query(t.Context(), documentedQuery(t))
	assert.OK(t, err, os.WriteFile(tokens, exported, 0o600))
	toggleadmin("", "client-tokens", "import", "--from-csv", tokens, "--dry-run")
	toggleadmin("", "client-tokens", "import", "--from-csv", tokens)

	// The first application moves, then the others. A toggle that is on here only shows who has moved.
	here.turn(switched, "on")
	first, others := applications[0], applications[1:]
	first.leadTo(here.ClientURL)
	first.await("on")
	for _, a := range others {
		a.await("off")
		a.leadTo(here.ClientURL)
	}
	for _, a := range others {
		a.await("on")
	}
	process.Await(t, "counts of the toggle", 100*time.Millisecond, timeout, func() bool { return here.counted(switched) > 0 })
	here.turn(switched, "off")
	for _, a := range applications {
		a.await("off")
	}

	// All of them move back.
	turnThere(t, there, switched, "on")
	for _, a := range applications {
		a.leadTo(there.URL)
	}
	for _, a := range applications {
		a.await("on")
	}
	for _, a := range applications {
		a.finish()
	}
}

// createThere creates toggles in Unleash, and what they need. All but the one that is switched have a number at the end of
// their names.
func createThere(t *testing.T, there *unleashserver.Server) []testToggle {
	t.Helper()
	send := func(path, body string) (response map[string]any) {
		text, err := there.Call(t.Context(), http.MethodPost, path, body)
		assert.OK(t, err)
		_ = json.Unmarshal(text, &response) // some responses have no body
		return response
	}
	segment := createShared(send)
	var all []testToggle
	for i := range copies {
		for _, toggle := range toggles(segment, "") {
			switch {
			case toggle.imported || toggle.name == "host-name": // Unleash creates no such strategies
				continue
			case toggle.name != switched:
				toggle.name = fmt.Sprint(toggle.name, "-", i)
			case i > 0:
				continue
			}
			if toggle.parent != "" {
				toggle.parent = fmt.Sprint(toggle.parent, "-", i)
			}
			toggle.create(send)
			all = append(all, toggle)
		}
	}
	return all
}

// turnThere turns a toggle in Unleash on or off.
func turnThere(t *testing.T, there *unleashserver.Server, name, state string) {
	t.Helper()
	path := "projects/default/features/" + name + "/environments/" + environment + "/" + state
	_, err := there.Call(t.Context(), http.MethodPost, path, "")
	assert.OK(t, err)
}

// operatorOf returns a function that runs toggleadmin for a service, which must succeed.
func operatorOf(t *testing.T, s *service) func(variable string, arguments ...string) {
	t.Helper()
	program := process.Build(t, "toggleadmin/cmd/toggleadmin")
	return func(variable string, arguments ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, append(arguments, "--local", "--data-dir", s.data)...)
		command.Env = append(os.Environ(), variable)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("toggleadmin %v: %v\n%s", arguments, err, output)
		}
	}
}

// documentedQuery returns the query of docs/move.md for the tokens of Unleash.
func documentedQuery(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/move.md")
	assert.OK(t, err)
	_, query, found := strings.Cut(string(page), "<<'END'\n")
	query, _, ended := strings.Cut(query, "\nEND\n")
	if !found || !ended {
		t.Fatal("docs/move.md has no query for the tokens of Unleash")
	}
	return query
}

// movingApplication is an application that evaluates all toggles all the time.
type movingApplication struct {
	*application
	*address
	name      string
	questions []movingQuestion
	stop      chan struct{}
	stopped   sync.WaitGroup

	mu          sync.Mutex
	switched    string   // the last result of the toggle that is switched
	evaluations int      // of all toggles
	wrong       []string // results that are not those that are wanted
}

// movingQuestion is a context, and the results of all toggles in it, except of the one that is switched.
type movingQuestion struct {
	context sdkContext
	want    results
}

// startMoving starts an application that uses Unleash.
func startMoving(t *testing.T, sdk sdk, url string, all []testToggle) *movingApplication {
	t.Helper()
	token := unleashserver.ClientToken
	if sdk.token == clienttokentable.Frontend {
		token = unleashserver.FrontendToken
	}
	var requested []requestedToggle
	norway, sweden := movingQuestion{inNorway(), results{}}, movingQuestion{inSweden(), results{}}
	for _, toggle := range all {
		requested = append(requested, requestedToggle{toggle.name, "boolean"})
		if toggle.name != switched {
			norway.want[toggle.name], sweden.want[toggle.name] = toggle.norway, toggle.sweden
		}
	}
	a := &movingApplication{address: newAddress(t), name: sdk.name, questions: []movingQuestion{norway, sweden},
		stop: make(chan struct{})}
	if sdk.token == clienttokentable.Frontend { // it has one context
		a.questions = a.questions[:1]
	}
	a.leadTo(url)
	a.application = start(t, sdk, a.url, token, requested)
	a.stopped.Go(a.evaluateAll)
	a.await("off")
	return a
}

// evaluateAll evaluates all toggles until the application is finished, or its process ends.
func (a *movingApplication) evaluateAll() {
	for {
		for _, q := range a.questions {
			values, err := a.ask(question{q.context, a.toggles})
			if err != nil {
				return // finish reports it
			}
			a.record(q, values)
		}
		select {
		case <-a.stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// record counts the results of all toggles, and keeps those that are wrong.
func (a *movingApplication) record(q movingQuestion, values []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, toggle := range a.toggles {
		switch want := q.want[toggle.Name]; {
		case toggle.Name == switched:
			a.switched = values[i]
		case values[i] != want:
			a.wrong = append(a.wrong, fmt.Sprintf("%s is %q in %s, want %q", toggle.Name, values[i], q.context.Properties["country"], want))
		}
	}
	a.evaluations += len(values)
}

// await waits until the application sees the toggle that is switched on or off.
func (a *movingApplication) await(state string) {
	a.Helper()
	process.Await(a.T, a.name+" sees the toggle "+state, 20*time.Millisecond, timeout, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.switched == state
	})
}

// finish ends the application. It fails the test if a result was wrong, or a request was rejected.
func (a *movingApplication) finish() {
	a.Helper()
	close(a.stop)
	a.stopped.Wait()
	a.end()
	a.checkStatuses()
	a.Logf("%s: %d evaluations, %d of them wrong", a.name, a.evaluations, len(a.wrong))
	if len(a.wrong) > 0 || a.evaluations < 10*len(a.toggles) {
		a.Errorf("%s: %d evaluations, %d of them wrong: %q", a.name, a.evaluations, len(a.wrong), a.wrong[:min(len(a.wrong), 10)])
	}
}
