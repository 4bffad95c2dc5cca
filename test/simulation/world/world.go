package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/simulation/dynamodb"
)

// World is one run. Everything in it happens in the goroutine of run, or in a goroutine that run has resumed and waits
// for, except that goroutines which were resumed by a timer, or by the same event, can run at the same time until each
// of them calls park.
type World struct {
	Plan
	template *samtemplate.Template
	tables   dynamo.Tables
	db       *dynamodb.DB

	mu        sync.Mutex // protects what such goroutines use
	parked    []parked
	wake      chan struct{}
	scheduled []timed      // in their order
	busy      atomic.Int64 // the number of goroutines that the world has started

	skew     time.Duration // the largest difference of a clock from the right time
	start    time.Time
	acting   int  // the number of actors
	delivers bool // applications have a part; otherwise nothing is compiled
	calm     bool // no more faults
	over     bool // a violation was found: everything ends
	result   Result
	tracing  bool

	engine   engineState
	lambda   lambdaState
	triggers triggerState
	restores restoreState

	types        typeState
	fields       fieldState
	toggles      toggleState
	crowd        crowdState
	environments environmentState
	activation   activationState
	segments     segmentState
	delivery     deliveryState
	usage        usageState
	care         careState
	accounts     accountState
	teams        teamState
	requests     requestState
	people       peopleState
	tokens       tokenState
	clientTokens clientTokenState
	trusts       []*trusted
	credentials
	events  eventState
	bus     busState
	webhook webhookState
	traffic trafficState
}

func newWorld(t *testing.T, p Plan) *World {
	t.Helper()
	w := &World{Plan: p, template: load(), result: Result{Plan: p}, wake: make(chan struct{}, 1)}
	w.delivers = slices.ContainsFunc(applications, p.acts)
	// The world begins some minutes or hours before a day, month or year ends.
	random := w.random(2)
	begin := time.Duration([]int{1, 31, 60, 366}[random.IntN(4)])*24*time.Hour -
		within(random, []time.Duration{duration, 24 * time.Hour}[random.IntN(2)])
	if w.has(skewed) {
		w.skew = maxSkew
	}
	w.lambda.ids = w.newProcess("ids")
	<-time.After(begin)
	w.start = time.Now()
	w.tables = w.template.TableNames()
	w.db = dynamodb.New(w.template.Tables, time.Now)
	w.lambda.functions = map[string]*function{}
	invoked := map[string]*invoke.Function{} // by logical ID
	for i := range w.template.Functions {
		definition := &w.template.Functions[i]
		f := &function{w: w, Function: definition, construct: local.Constructor(definition.Name)}
		w.lambda.functions[f.Name] = f
		arn := "arn:aws:lambda:us-east-1:123456789012:function:" + f.LogicalID
		f.invoked = &invoke.Function{Name: f.Name, Handler: f, Timeout: f.Timeout, ARN: arn}
		invoked[f.LogicalID] = f.invoked
	}
	g, err := gateway.New(gateway.Config{
		API: w.template.API, Functions: invoked, Region: "us-east-1", AccountID: "123456789012", APIID: "simulation",
		Now:   time.Now,
		NewID: w.newID, AccessLog: w.logLine, OnRequest: func(*terminal.Entry) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.lambda.gateway = g
	return w
}

// source is the source of events.
const source = "simulation"

// load reads template.yaml once per process. The working directory is that of the tests, test/simulation.
var load = sync.OnceValue(func() *samtemplate.Template {
	template, err := samtemplate.Load("../../template.yaml",
		samtemplate.Settings{StackName: source, Parameters: map[string]string{
			"ClientApi": "true", "SendEventsToBus": "true", "WebhookSecretName": "/webhook", "OidcIssuer": "https://" + issuerHost,
			"OidcClientId": clientID, "OidcDefaultRole": access.RoleViewer.String(),
			"MaxServiceAccounts": fmt.Sprint(robotLimit), "MaxClientTokens": fmt.Sprint(clientTokenLimit),
		}})
	if err != nil {
		panic(err)
	}
	return template
})

func (w *World) newID() string { return uuid.Must(uuid.NewRandomFromReader(w.lambda.ids)).String() }

// duration is how long actors act.
const duration = 10 * time.Minute

// live is the life of a world: people and machines act while things break, then nothing breaks any more, then there is
// nothing left to do.
func (w *World) live() {
	w.prepare()
	if w.has(lagging) {
		w.db.Lag = w.lag
	}
	if w.has(paged) {
		w.db.Page = 1 + int(mix(w.Seed, 15)%3)
	}
	w.after(duration, func() { w.calm = true })
	w.startActors()
	w.startTriggers()
	if w.has(restored) {
		w.after(w.upTo(duration, 10), w.copyTables)
	}
	if w.has(lostPart) && w.delivers {
		w.after(w.upTo(duration, 18), w.losePart)
	}
	if w.has(wrongClock) && w.delivers {
		for i := range uint64(2) {
			w.after(w.upTo(duration, 19, i), func() { w.spawn(func() { w.compileWithWrongClock(i) }) })
		}
	}
	w.run(func() bool { return w.over || w.calm && w.acting == 0 })
	w.spawn(w.sweepRequestsAtEnd)
	w.drain()
	w.spawn(func() {
		last := &actor{World: w, Rand: w.random(9), name: actors[0].name}
		for _, id := range slices.Sorted(maps.Keys(w.accounts.deletions)) { // a deletion that has failed is repeated
			switch {
			case w.accounts.deletions[id].deleting.IsZero():
			case slices.Contains(w.accounts.robots, id):
				last.deleteAccount(id)
			default:
				last.deletePerson(id)
			}
		}
		for _, id := range slices.Clone(w.teams.leads) {
			if w.users()[id]["deleting"] != nil {
				last.deleteLead(id)
			}
		}
		w.sleep("a sweep", 15*time.Second) // longer than an announcement waits for another run
		if !w.sweep() && !w.over {
			w.fail("the last sweep leaves something")
		}
		w.announce()
		last.listTypes(w.admin)
		last.listFields(w.admin)
		last.listEnvironments(w.admin)
		last.listAccounts()
		last.askForAll()
		last.readLog()
		last.searchToggles(w.admin, false)
		last.searchToggles(w.admin, true)
	})
	w.drain()
	if !w.over {
		w.checkQuiet()
	}
	w.spawn(w.checkDelivery)
	w.drain()
	w.spawn(w.checkUsage)
	w.drain()
	w.spawn(w.restore)
	w.drain()
	w.over = true
	w.run(func() bool { return w.busy.Load() == 0 })
	w.scheduled = nil
}

// drain lets everything end that has begun.
func (w *World) drain() {
	w.run(func() bool { return w.over || len(w.scheduled) == 0 && w.busy.Load() == 0 })
}

// must panics because of an error that no fault explains.
func (w *World) must(err error) {
	if err != nil {
		panic(err)
	}
}

// fail records a violation, unless there is one.
func (w *World) fail(format string, args ...any) {
	if w.result.Violation == "" {
		w.result.Violation = fmt.Sprintf(format, args...)
		w.note("VIOLATION: %s", w.result.Violation)
	}
	w.over = true
	if w.restores.end != nil {
		w.restores.end() // nothing responds any more, and an operator repeats calls without a limit
	}
}

// note adds a line to the history.
func (w *World) note(format string, args ...any) {
	if w.tracing {
		at := time.Since(w.start).Truncate(time.Microsecond)
		w.result.History = append(w.result.History, fmt.Sprintf("%14s  ", at)+fmt.Sprintf(format, args...))
	}
}

func (w *World) digest(values ...uint64) {
	w.result.Digest = mix(append(values, w.result.Digest, uint64(time.Now().UnixNano()))...)
}

// encode returns a value as JSON.
func encode(v any) []byte {
	content, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return content
}

// text returns an object as JSON.
func text(object map[string]any) string { return string(encode(object)) }
