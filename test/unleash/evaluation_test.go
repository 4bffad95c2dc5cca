package unleash_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator"
	comparison "toggleadmin/pkg/operator/compare"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/unleashserver"
)

// expressible are strategies that are imported as they are.
var expressible = []string{
	`{"name":"default"}`,
	`{"name":"default","disabled":true}`,
	`{"name":"flexibleRollout"}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"userId","groupId":"g"}}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"30","stickiness":"sessionId","groupId":""}}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"70","stickiness":"tenant"}}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"0","stickiness":"default","groupId":"g"}}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"userId","groupId":"h"},"variants":[
		{"name":"red","weight":200,"weightType":"fix","stickiness":"userId","payload":{"type":"json","value":"{}"}},
		{"name":"blue","weight":400,"weightType":"variable","stickiness":"userId"},
		{"name":"green","weight":400,"weightType":"variable","stickiness":"userId"}]}`,
	`{"name":"remoteAddress","parameters":{"IPs":"192.0.2.1, 198.51.100.0/24"}}`,
	constrained(`{"contextName":"userId","operator":"IN","values":["1","2","3"," 4 ","3"]}`),
	constrained(`{"contextName":"plan","operator":"NOT_IN","values":["free"]}`),
	constrained(`{"contextName":"plan","operator":"IN","values":["gold"],"inverted":true}`),
	constrained(`{"contextName":"tenant","operator":"STR_STARTS_WITH","values":["A"],"caseInsensitive":true}`),
	constrained(`{"contextName":"tenant","operator":"STR_ENDS_WITH","values":["7","8"]}`),
	constrained(`{"contextName":"tenant","operator":"STR_CONTAINS","values":["b"]}`),
	constrained(`{"contextName":"userId","operator":"NUM_GTE","value":"10"},
		{"contextName":"userId","operator":"NUM_LT","value":"2e1"}`),
	constrained(`{"contextName":"userId","operator":"NUM_EQ","value":"7","inverted":true}`),
	constrained(`{"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-06-01T00:00:00.000Z"}`),
	constrained(`{"contextName":"currentTime","operator":"DATE_BEFORE","value":"2026-06-01T00:00:00.000Z"}`),
	constrained(`{"contextName":"version","operator":"SEMVER_GT","value":"1.5.0"}`),
	constrained(`{"contextName":"tenant","operator":"REGEX","value":"^[ab]-[0-9]*5$"}`),
	`{"name":"default","segments":[1]}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"60","stickiness":"userId","groupId":"s"},"segments":[2,1]}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"40","stickiness":"unmarked","groupId":" g "}}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"40","stickiness":"plan","groupId":"g"},"variants":[
		{"name":"blue","weight":500,"weightType":"variable","stickiness":"plan"},
		{"name":"Red","weight":500,"weightType":"variable","stickiness":"plan"}]}`,
	constrained(`{"contextName":"gone","operator":"NOT_IN","values":["1"]}`),
}

// inexpressible are strategies that are left out.
var inexpressible = []string{
	`{"name":"custom","parameters":{"a":"b"}}`,
	`{"name":"flexibleRollout","parameters":{"rollout":"150","stickiness":"default","groupId":"g"}}`,
	constrained(`{"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-01-01"}`),
	`{"name":"remoteAddress","parameters":{"IPs":"localhost"}}`,
}

// dependencies are conditions on toggles with one of the expressible strategies: on, off, disabled, for some users, and
// with variants.
var dependencies = []string{
	`{"feature":"one-0"}`,
	`{"feature":"one-0","enabled":false}`,
	`{"feature":"one-1","enabled":false}`,
	`{"feature":"one-3"}`,
	`{"feature":"one-3","enabled":false}`,
	`{"feature":"one-7","variants":["red","blue"]}`,
	`{"feature":"one-7","variants":["green","gone"]}`,
	`{"feature":"two-9","variants":[]}`,
}

// oldStrategies are of types that Unleash no longer creates.
const oldStrategies = `
INSERT INTO feature_strategies
    (id, feature_name, project_name, environment, strategy_name, parameters, constraints, sort_order)
VALUES
    ('old-1', 'old-1', 'default', 'production', 'userWithId', '{"userIds": "3, 14,15"}', '[]', 0),
    ('old-2', 'old-2', 'default', 'production', 'gradualRolloutUserId', '{"percentage": "40", "groupId": "g"}', '[]', 0),
    ('old-3', 'old-3', 'default', 'production', 'gradualRolloutUserId', '{"percentage": "40"}', '[]', 0),
    ('old-4', 'old-4', 'default', 'production', 'gradualRolloutSessionId', '{"percentage": 60, "groupId": "g"}', '[]', 0),
    ('old-5', 'old-5', 'default', 'production', 'gradualRolloutRandom', '{"percentage": "100"}', '[]', 0);
UPDATE feature_environments SET enabled = true WHERE feature_name LIKE 'old-%' AND environment = 'production';`

// withVariants are toggles with variants of their own, which Unleash no longer creates: strategies in the form of
// expressible, and the stickiness of the variants.
var withVariants = []struct{ strategy, stickiness string }{
	{`{"name":"default"}`, "default"},
	{`{"name":"default"}`, "tenant"},
	{`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"userId","groupId":"variants-2"}}`, "userId"},
	{`{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"default","groupId":"other"}}`, "default"},
	{`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"unmarked","groupId":"variants-4"}}`, "unmarked"},
	{constrained(`{"contextName":"plan","operator":"IN","values":["gold"]}`), "sessionId"},
}

// oldVariants gives variants to the toggles of withVariants, and a strategy a list of 600 values.
const oldVariants = `
UPDATE feature_environments SET variants = jsonb_build_array(
    jsonb_build_object('name', 'blue', 'weight', 300, 'weightType', 'variable', 'stickiness', '%[1]s',
        'overrides', '[{"contextName": "userId", "values": ["3", "4"]}, {"contextName": "tenant", "values": ["a-1"]}]'::jsonb),
    jsonb_build_object('name', 'Green', 'weight', 200, 'weightType', 'fix', 'stickiness', '%[1]s', 'overrides', '[]'::jsonb),
    jsonb_build_object('name', 'red', 'weight', 500, 'weightType', 'variable', 'stickiness', '%[1]s',
        'overrides', '[{"contextName": "userId", "values": ["4", "5"]}]'::jsonb))
WHERE feature_name = '%[2]s' AND environment = 'production';
UPDATE feature_strategies SET constraints = jsonb_build_array(jsonb_build_object('contextName', 'userId', 'operator', 'IN',
    'values', (SELECT jsonb_agg(n::text) FROM generate_series(20, 619) n)))
WHERE feature_name = 'one-9' AND environment = 'production';`

func constrained(constraints string) string {
	return `{"name":"default","constraints":[` + constraints + `]}`
}

// TestEvaluation imports toggles, and evaluates them for 300 contexts, with the same results as the SDK for Node.js has
// for the originals. What is left out is listed.
func TestEvaluation(t *testing.T) {
	s := startUnleash(t)
	s.call(t, http.MethodPost, "context", `{"name":"tenant","stickiness":true}`)
	s.call(t, http.MethodPost, "context", `{"name":"plan","legalValues":[{"value":"gold"},{"value":"free"}]}`)
	s.call(t, http.MethodPost, "context", `{"name":"version"}`)
	s.call(t, http.MethodPost, "segments", `{"name":"Beta","constraints":[
		{"contextName":"tenant","operator":"STR_STARTS_WITH","values":["a","b"]}]}`)
	s.call(t, http.MethodPost, "segments", `{"name":"Everybody","constraints":[]}`)
	s.call(t, http.MethodPost, "strategies", `{"name":"custom","parameters":[]}`)
	for i, strategy := range expressible {
		s.create(t, fmt.Sprint("one-", i), strategy)
		s.create(t, fmt.Sprint("two-", i), strategy, expressible[(i*7+5)%len(expressible)])
	}
	for i, strategy := range inexpressible {
		s.create(t, fmt.Sprint("without-", i), strategy)
	}
	for i := range dependencies {
		s.create(t, fmt.Sprint("child-", i), expressible[i])
		s.call(t, http.MethodPost, fmt.Sprintf("projects/default/features/child-%d/dependencies", i), dependencies[i])
	}
	for i := 1; i <= 5; i++ {
		s.call(t, http.MethodPost, "projects/default/features", fmt.Sprintf(`{"name":"old-%d"}`, i))
	}
	s.sql(t, oldStrategies)
	for i, v := range withVariants {
		name := fmt.Sprint("variants-", i)
		s.create(t, name, v.strategy)
		s.sql(t, fmt.Sprintf(oldVariants, v.stickiness, name))
	}

	data := filepath.Join(t.TempDir(), "data")
	_, stop := localtest.StartStop(t, local.Config{DataDir: data})
	defer stop()
	i, err := installation.OpenLocal(t.Context(), data)
	assert.OK(t, err)
	here := operator.New(i, time.Now, rand.Reader)
	d, err := unleash.Read(t.Context(), unleash.Config{
		URL: s.URL, Token: unleashserver.AdminToken, HTTP: http.DefaultClient, Progress: func(string, int, int) {},
	}, "")
	assert.OK(t, err)
	report, err := here.Import(t.Context(), d, transfer.Options{Progress: func(string, int, int) {}})
	assert.OK(t, err)
	leftOut := map[string]bool{}
	for _, loss := range report.Features.Losses {
		leftOut[loss.Name] = true
		t.Logf("%s: %s", loss.Name, loss.Text)
	}
	for i := range inexpressible {
		name := fmt.Sprint("without-", i)
		if !leftOut[name] {
			t.Errorf("%s is not listed", name)
		}
		delete(leftOut, name)
	}
	same(t, "unexpected losses", map[string]bool{}, leftOut)
	same(t, "notes", len(withVariants), len(report.Features.Notes))
	numbers := map[string]int64{}
	for _, other := range report.NotImported {
		numbers[other.Kind] = *other.Number
	}
	if numbers["custom strategy types"] != 1 || numbers["people (--people)"] == 0 || numbers["events"] == 0 {
		t.Errorf("not imported: %v", numbers)
	}
	same(t, "skipped", []transfer.Remark{}, report.Features.Skipped)

	imported, err := here.Export(t.Context())
	assert.OK(t, err)
	s.compareEvaluations(t, imported)
}

// create creates a toggle that is on in production and has strategies.
func (s *server) create(t *testing.T, name string, strategies ...string) {
	t.Helper()
	s.call(t, http.MethodPost, "projects/default/features", fmt.Sprintf(`{"name":%q}`, name))
	path := "projects/default/features/" + name + "/environments/production"
	for _, strategy := range strategies {
		s.call(t, http.MethodPost, path+"/strategies", strategy)
	}
	s.call(t, http.MethodPost, path+"/on", "")
}

// compareEvaluations compares evaluations of imported toggles with those of the originals in the SDK for Node.js.
func (s *server) compareEvaluations(t *testing.T, imported transfer.Document) {
	t.Helper()
	var toggles []toggle.Feature
	for _, f := range imported.Features {
		toggles = append(toggles, toggle.Feature{Name: f.Name, Environments: f.Environments, Dependency: f.Dependency})
	}
	var segments []toggle.Segment
	for _, f := range imported.Segments {
		segments = append(segments, toggle.Segment{ID: f.ID, Name: f.Name, Constraints: f.Constraints})
	}
	here := evaluation.Document(snapshot.Build("production", toggles, segments))
	s.compareDownloads(t, here)
	engine := evaluation.New(here)
	names, contexts := s.evaluated(t), evaluationContexts()
	results := s.evaluate(t, contexts)
	compared, on := 0, 0
	for i, fields := range contexts {
		for j, name := range names {
			if strings.HasPrefix(name, "without-") {
				continue
			}
			result := engine.Evaluate(name, &evaluation.Context{
				Fields: fields,
				Random: func(uint32) uint32 { return 0 }, // of a rollout of 100 %
			})
			got := evaluated{Enabled: result.Enabled}
			if result.Variant != nil {
				got.Variant = result.Variant.Name
			}
			compared++
			if got.Enabled {
				on++
			}
			if want := results[i][j]; got != want {
				t.Errorf("%s for %v: want %v, got %v", name, fields, want, got)
			}
		}
	}
	t.Logf("%d evaluations, %d of them on", compared, on)
	if want := len(contexts) * (2*len(expressible) + 5 + len(dependencies) + len(withVariants)); compared != want || on < want/10 {
		t.Errorf("%d evaluations, %d of them on, want %d", compared, on, want)
	}
}

// compareDownloads compares what applications download from Unleash with the imported toggles, as toggleadmin compare does.
func (s *server) compareDownloads(t *testing.T, here evaluation.Document) {
	t.Helper()
	there, err := comparison.Download(t.Context(), http.DefaultClient, s.URL, unleashserver.ClientToken)
	assert.OK(t, err)
	for _, d := range comparison.Documents(there, here, comparison.Contexts(1000, time.Now(), there, here), time.Now()).Differences {
		if !strings.HasPrefix(d.Toggle, "without-") {
			t.Errorf("%s for %v: there %v %q, here %v %q", d.Toggle, d.Context, d.There.Enabled, d.There.Variant,
				d.Here.Enabled, d.Here.Variant)
		}
	}
}

// evaluationContexts returns contexts in which every field is present.
func evaluationContexts() []map[string]string {
	var all []map[string]string
	for n := range 300 {
		all = append(all, map[string]string{
			"userId":        strconv.Itoa(n % 40),
			"sessionId":     fmt.Sprint("session-", n),
			"remoteAddress": []string{"192.0.2.1", "198.51.100.7", "203.0.113.9"}[n%3],
			"tenant":        fmt.Sprintf("%c-%d", 'a'+rune(n%4), n%23),
			"unmarked":      strconv.Itoa(n % 31),
			"gone":          strconv.Itoa(n % 2),
			"plan":          []string{"gold", "free"}[n/2%2],
			"version":       []string{"1.4.9", "1.5.0", "2.0.0-beta", "2.0.0"}[n/3%4],
			"currentTime":   []string{"2026-01-01T00:00:00.000Z", "2026-12-31T00:00:00.000Z"}[n/5%2],
			"environment":   "production",
			"appName":       "shop",
		})
	}
	return all
}

// evaluated is a result of the SDK.
type evaluated struct {
	Enabled bool
	Variant string // empty: none
}

// UnmarshalJSON reads the array that test/sdk/evaluation/node.mjs writes.
func (e *evaluated) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&e.Enabled, &e.Variant})
}

// clientFeatures returns what Unleash delivers to applications in production.
func (s *server) clientFeatures(t *testing.T) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/client/features", nil)
	assert.OK(t, err)
	request.Header.Set("Authorization", unleashserver.ClientToken)
	request.Header.Set("Unleash-Client-Spec", "6.1.0") // with segments
	response, err := http.DefaultClient.Do(request)
	assert.OK(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	assert.OK(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", response.Status, body)
	}
	return body
}

// evaluated returns the names of the toggles that Unleash delivers, in the order of their results.
func (s *server) evaluated(t *testing.T) []string {
	t.Helper()
	var state evaluation.Document
	assert.OK(t, json.Unmarshal(s.clientFeatures(t), &state))
	var names []string
	for _, f := range state.Features {
		names = append(names, f.Name)
	}
	return names
}

// evaluate returns the results of the SDK for Node.js for each context and toggle.
func (s *server) evaluate(t *testing.T, contexts []map[string]string) [][]evaluated {
	t.Helper()
	var forms []map[string]any
	for _, fields := range contexts {
		form, properties := map[string]any{}, map[string]string{}
		for name, value := range fields {
			if toggle.IsFixedField(name) {
				form[name] = value
			} else {
				properties[name] = value
			}
		}
		form["properties"] = properties
		forms = append(forms, form)
	}
	input, err := json.Marshal(map[string]any{"state": json.RawMessage(s.clientFeatures(t)), "contexts": forms})
	assert.OK(t, err)
	command := exec.CommandContext(t.Context(), s.Node(), "../sdk/evaluation/node.mjs", "unleash-client")
	command.Env = []string{"NODE_PATH=" + s.Packages()} // Unleash uses its SDK itself
	command.Stdin, command.Stderr = bytes.NewReader(append(input, '\n')), t.Output()
	output, err := command.Output()
	assert.OK(t, err)
	var results struct{ Results [][]evaluated }
	assert.OK(t, json.Unmarshal(output, &results))
	return results.Results
}
