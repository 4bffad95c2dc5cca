package sdk_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// sdkContext is the context of an evaluation, in the form of SDKs.
type sdkContext struct {
	UserID        string            `json:"userId"`
	SessionID     string            `json:"sessionId"`
	RemoteAddress string            `json:"remoteAddress"`
	Properties    map[string]string `json:"properties"`
}

func inNorway() sdkContext {
	return sdkContext{"7", "session-1", "10.1.2.3", map[string]string{
		"country": "NO", "email": "ada@example.com", "age": "36", "version": "1.5.0",
	}}
}

func inSweden() sdkContext {
	return sdkContext{"8", "session-2", "192.0.2.1", map[string]string{
		"country": "SE", "email": "bob@example.org", "age": "17", "version": "1.2.0",
	}}
}

// testToggle is a toggle with its results in Norway and in Sweden: "off", "on", or "on" with the variant and its payload.
type testToggle struct {
	name           string
	kind           string // of its value in OpenFeature; empty: boolean
	strategy       string // in JSON
	norway, sweden string
	parent         string // the toggle on which it depends
	off            bool   // in the environment
	imported       bool   // its strategy has an old type, which cannot be created
}

// switched is the toggle that the test turns on and off.
const switched = "switched"

// hostName is the value of the variable HOSTNAME of applications.
const hostName = "web-1"

// toggles returns toggles with every kind of strategy. segment is the id of a segment of users in Norway, and host the
// name of this machine.
func toggles(segment, host string) []testToggle {
	const variants = `[{"name":"blue","weight":500,"weightType":"variable","stickiness":"userId",` +
		`"payload":{"type":"%[1]s","value":%[2]q}},{"name":"green","weight":500,"weightType":"variable",` +
		`"stickiness":"userId","payload":{"type":"%[1]s","value":%[3]q}}]`
	return []testToggle{
		{name: switched, off: true, strategy: `{"name":"default"}`, norway: "off", sweden: "off"},
		{name: "turned-off", off: true, strategy: `{"name":"default"}`, norway: "off", sweden: "off"},
		{name: "default", strategy: `{"name":"default"}`, norway: "on", sweden: "on"},
		{name: "rollout", norway: "on", sweden: "off", strategy: `{"name":"flexibleRollout","parameters":
			{"rollout":"50","stickiness":"userId","groupId":"rollout"}}`},
		{name: "user-ids", imported: true, strategy: `{"name":"userWithId","parameters":{"userIds":"7, 9"}}`, norway: "on", sweden: "off"},
		{name: "gradual-user", imported: true, norway: "on", sweden: "off", strategy: `{"name":"gradualRolloutUserId","parameters":
			{"percentage":"50","groupId":"rollout"}}`},
		{name: "gradual-session", imported: true, norway: "on", sweden: "off", strategy: `{"name":"gradualRolloutSessionId","parameters":
			{"percentage":"25","groupId":"rollout"}}`},
		{name: "gradual-random", imported: true, norway: "on", sweden: "on", strategy: `{"name":"gradualRolloutRandom","parameters":
			{"percentage":"100"}}`},
		{name: "address", norway: "on", sweden: "off", strategy: `{"name":"remoteAddress","parameters":
			{"IPs":"10.0.0.0/8, 127.0.0.1"}}`},
		{name: "host-name", norway: "on", sweden: "on", strategy: `{"name":"applicationHostname","parameters":
			{"hostNames":"` + hostName + `,` + host + `"}}`},
		{name: "in", norway: "on", sweden: "off", strategy: constraint(`"country","operator":"IN","values":["NO"]`)},
		{name: "not-in", norway: "on", sweden: "off", strategy: constraint(`"country","operator":"NOT_IN","values":["SE"]`)},
		{name: "inverted", norway: "off", sweden: "on",
			strategy: constraint(`"country","operator":"IN","values":["NO"],"inverted":true`)},
		{name: "text", norway: "on", sweden: "off",
			strategy: constraint(`"email","operator":"STR_ENDS_WITH","values":["EXAMPLE.COM"],"caseInsensitive":true`)},
		{name: "number", norway: "on", sweden: "off", strategy: constraint(`"age","operator":"NUM_GTE","value":"18"`)},
		{name: "version", norway: "on", sweden: "off",
			strategy: constraint(`"version","operator":"SEMVER_GT","value":"1.3.0"`)},
		{name: "date", norway: "on", sweden: "on",
			strategy: constraint(`"currentTime","operator":"DATE_AFTER","value":"2020-01-01T00:00:00Z"`)},
		{name: "segment", norway: "on", sweden: "off", strategy: `{"name":"default","segments":[` + segment + `]}`},
		{name: "variant", kind: "string", norway: "on green grass", sweden: "on blue sky",
			strategy: `{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"userId","groupId":"variant"},
			"variants":` + fmt.Sprintf(variants, "string", "sky", "grass") + `}`},
		{name: "object", kind: "json", norway: `on green {"size":2}`, sweden: `on blue {"size":1}`,
			strategy: `{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"userId","groupId":"variant"},
			"variants":` + fmt.Sprintf(variants, "json", `{"size":1}`, `{"size":2}`) + `}`},
		{name: "dependent", parent: "in", strategy: `{"name":"default"}`, norway: "on", sweden: "off"},
	}
}

// constraint returns a strategy with a constraint. Its text begins with the name of the field.
func constraint(text string) string {
	return `{"name":"default","constraints":[{"contextName":` + text + `}]}`
}

// createToggles creates the toggles and what they need.
func (s *service) createToggles() []testToggle {
	s.Helper()
	segment := createShared(s.post)
	host, err := os.Hostname()
	assert.OK(s.T, err)
	all := toggles(segment, host)
	for _, t := range all {
		if t.imported {
			s.importToggle(t)
		} else {
			t.create(s.post)
		}
	}
	return all
}

// post sends a request to an administration, that of this service or of Unleash, and returns the response.
type post func(path, body string) map[string]any

// createShared creates what toggles need, and returns the id of the segment.
func createShared(send post) (segment string) {
	for _, field := range []string{"country", "email", "age", "version"} {
		send("context", `{"name":"`+field+`"}`)
	}
	created := send("segments", `{"name":"Norway","constraints":[
		{"contextName":"country","operator":"IN","values":["NO"]}]}`)
	return fmt.Sprint(created["id"])
}

// create creates a toggle whose strategy has no old type.
func (t testToggle) create(send post) {
	path := "projects/default/features/" + t.name
	send("projects/default/features", `{"name":"`+t.name+`"}`)
	send(path+"/environments/"+environment+"/strategies", strings.ReplaceAll(t.strategy, "\n", " "))
	if !t.off {
		send(path+"/environments/"+environment+"/on", "")
	}
	if t.parent != "" {
		send(path+"/dependencies", `{"feature":"`+t.parent+`"}`)
	}
}

// importToggle imports a toggle that is on.
func (s *service) importToggle(t testToggle) {
	s.Helper()
	var strategy toggle.Strategy
	assert.OK(s.T, json.Unmarshal([]byte(t.strategy), &strategy))
	report := s.importDocument(transfer.Document{Features: []toggle.FeatureJSON{{
		Name: t.name, Project: "default", Type: "release", Environments: map[string]toggle.Environment{
			environment: {Enabled: true, Strategies: []toggle.Strategy{strategy}},
		},
	}}})
	assert.Equal(s.T, []string{t.name}, report.Features.Created)
}

// importDocument imports a document as toggleadmin import does.
func (s *service) importDocument(d transfer.Document) transfer.Report {
	s.Helper()
	opened, err := installation.OpenLocal(s.Context(), s.data)
	assert.OK(s.T, err)
	report, err := operator.New(opened, time.Now, rand.Reader).Import(s.Context(), d,
		transfer.Options{Progress: func(string, int, int) {}})
	assert.OK(s.T, err)
	return report
}

// difference is a toggle for which an SDK has other results.
type difference struct {
	sdk, toggle    string
	norway, sweden string
}

func differences() []difference {
	const hostName = "host-name"
	return []difference{
		// It is older than dependencies and variants of strategies.
		{"unleash-client 3", "dependent", "on", "on"},
		{"unleash-client 3", "variant", "on", "on"},
		{"unleash-client 3", "object", "on", "on"},
		// The service evaluates, and does not know the host of the application.
		{"unleash-proxy-client 2", hostName, "off", "off"},
		{"unleash-proxy-client 3", hostName, "off", "off"},
		{"ofrep-web-provider", hostName, "off", "off"},
		{"unleash-proxy-client 3 in a page", hostName, "off", "off"},
		{"unleash-proxy-client 3 in a page with POST", hostName, "off", "off"},
		{"proxy-client-react in a page", hostName, "off", "off"},
		{"ofrep-web-provider in a page", hostName, "off", "off"},
		{"openfeature-provider-ofrep", hostName, "off", "off"},
		// Its engine, yggdrasil, does not know the host in Python.
		{"UnleashClient 6", hostName, "off", "off"},
	}
}

// expected returns the results of an SDK in Norway and in Sweden.
func expected(sdk string, all []testToggle) (norway, sweden results) {
	norway, sweden = results{}, results{}
	for _, t := range all {
		norway[t.name], sweden[t.name] = t.norway, t.sweden
	}
	for _, d := range differences() {
		if d.sdk == sdk {
			norway[d.toggle], sweden[d.toggle] = d.norway, d.sweden
		}
	}
	return norway, sweden
}
