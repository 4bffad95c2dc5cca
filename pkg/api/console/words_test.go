package console_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/test/helper/assert"
)

// runModule evaluates a JavaScript expression after a module of the console that imports nothing. The expression sees
// what the module declares, and the JSON value input. It returns the result.
func runModule[T any](t *testing.T, module string, input any, expression string) (result T) {
	t.Helper()
	value, err := json.Marshal(input)
	assert.OK(t, err)
	command := exec.CommandContext(t.Context(), "node", "--input-type=module")
	command.Stdin = strings.NewReader(read(t, "static/"+module) + "\nconst input = " + string(value) +
		";\nconsole.log(JSON.stringify(" + expression + "));")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	assert.OK(t, json.Unmarshal(output, &result))
	return result
}

func TestStrategyWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ strategy, words string }{
		{`"name": "default"`, "Everyone"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "100", "stickiness": "userId"}`, "Everyone"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "0", "stickiness": "userId"}`, "Nobody (0 %)"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "userId"}`, "25 % of users (by userId)"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "default"}`, "25 % of users"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "random"}`, "25 % at random"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "plan"}`, "25 % (by plan)"},
		{`"name": "gradualRolloutSessionId", "parameters": {"percentage": "5"}`, "5 % of sessions (by sessionId)"},
		{`"name": "remoteAddress", "parameters": {"IPs": "10.0.0.1, 10.1.0.0/16"}`, "Callers from 10.0.0.1 or 10.1.0.0/16"},
		{`"name": "applicationHostname", "parameters": {"hostNames": "a.example"}`, "Applications on a.example"},
		{`"name": "userWithId", "parameters": {"userIds": "1,2,3,4,5,6,7"}`, "Users with the id 1, 2, 3, 4, 5 or 2 more"},
		{`"name": "default", "segments": [1]`, "Everyone in segment “Beta”"},
		{`"name": "default", "segments": [1, 2], "constraints": [
			{"contextName": "country", "operator": "IN", "values": ["DE", "AT"]},
			{"contextName": "plan", "operator": "NOT_IN", "values": ["free"]}]`,
			"Everyone in segment “Beta” and segment “Staff” where country is DE or AT and plan is not free"},
	}
	strategies, words := []json.RawMessage{}, []string{}
	for _, test := range tests {
		strategies, words = append(strategies, json.RawMessage("{"+test.strategy+"}")), append(words, test.words)
	}
	assert.Equal(t, words, runModule[[]string](t, "words.js", strategies, `input.map((strategy) =>
		strategyWords({ segments: [], constraints: [], ...strategy }, (id) => ({ 1: 'Beta', 2: 'Staff' })[id]))`))
}

func TestConstraintWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ constraint, words string }{
		{`"operator": "IN", "values": ["a"]`, "f is a"},
		{`"operator": "IN", "values": ["a", "b", "c"], "inverted": true`, "f is not a, b or c"},
		{`"operator": "NOT_IN", "values": ["a", "b"], "inverted": true`, "f is a or b"},
		{`"operator": "STR_CONTAINS", "values": ["a"], "caseInsensitive": true`, "f contains a (in any letter case)"},
		{`"operator": "STR_ENDS_WITH", "values": ["a"], "inverted": true`, "f does not end with a"},
		{`"operator": "REGEX", "value": "^a+$"`, "f matches the expression ^a+$"},
		{`"operator": "NUM_GTE", "value": "4"`, "f is at least 4"},
		{`"operator": "NUM_GTE", "value": "4", "inverted": true`, "f is not at least 4"},
		{`"operator": "DATE_AFTER", "value": "2026-11-26T11:00:00+01:00"`, "f is after 2026-11-26 10:00 UTC"},
		{`"operator": "DATE_BEFORE", "value": "2026-11-26T10:00:30Z"`, "f is before 2026-11-26 10:00:30 UTC"},
		{`"operator": "SEMVER_LT", "value": "4.2.0"`, "f is earlier than version 4.2.0"},
		{`"operator": "IN_CIDR", "values": ["10.0.0.0/8"]`, "f is in 10.0.0.0/8"},
		{`"operator": "NEW", "value": "x"`, "f NEW x"},
	}
	constraints, words := []json.RawMessage{}, []string{}
	for _, test := range tests {
		constraints = append(constraints, json.RawMessage(`{"contextName": "f", `+test.constraint+"}"))
		words = append(words, test.words)
	}
	assert.Equal(t, words, runModule[[]string](t, "words.js", constraints, `input.map(constraintWords)`))
}

// TestOperators compares the operators that the console knows with those of toggles.
func TestOperators(t *testing.T) {
	t.Parallel()
	var want []string
	for _, operator := range evaluation.Operators() {
		want = append(want, string(operator))
	}
	got := runModule[[]string](t, "words.js", nil, "Object.keys(operators)")
	slices.Sort(want)
	slices.Sort(got)
	assert.Equal(t, want, got)
}

// An environment that is switched on without a strategy gets one for everyone.
func TestOnFor(t *testing.T) {
	t.Parallel()
	strategies := json.RawMessage(`[
		[],
		[{"name": "default", "disabled": true}],
		[{"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "default"}},
			{"name": "remoteAddress", "parameters": {"IPs": "10.0.0.1"}}]
	]`)
	want := [][]string{{"Everyone"}, {"Everyone"}, {"25 % of users", "Callers from 10.0.0.1"}}
	assert.Equal(t, want, runModule[[][]string](t, "words.js", strategies, `input.map((all) =>
		onFor(all.map((strategy) => ({ segments: [], constraints: [], ...strategy }))))`))
}

// The parts of a strategy say whether they hold, and with which value of the context.
func TestStrategyReasons(t *testing.T) {
	t.Parallel()
	type reason struct {
		Holds bool
		Text  string
		Parts []reason
	}
	tests := []struct {
		strategy string
		want     []reason
	}{
		{`"disabled": true`, []reason{{Text: "The strategy is disabled"}}},
		{`"name": "default", "result": {"enabled": true}`, []reason{{Holds: true, Text: "Everyone"}}},
		{`"name": "remoteAddress", "parameters": {"IPs": "10.0.0.1"}, "result": {"enabled": false}`,
			[]reason{{Text: "Callers from 10.0.0.1"}}},
		{`"name": "default", "result": {"enabled": false}, "constraints": [
			{"contextName": "country", "operator": "IN", "values": ["DE"], "result": false, "contextValue": "FR"},
			{"contextName": "plan", "operator": "IN", "values": ["pro"], "result": true, "contextValue": "pro"}]`,
			[]reason{{Text: "country is DE; it is FR"}, {Holds: true, Text: "plan is pro; it is pro"}}},
		{`"name": "default", "result": {"enabled": false}, "segments": [{"name": "Beta", "result": false, "constraints": [
			{"contextName": "age", "operator": "NUM_GTE", "value": "18", "result": false, "contextValue": null}]}]`,
			[]reason{{Text: "segment “Beta”", Parts: []reason{{Text: "age is at least 18; it is not set"}}}}},
		{`"name": "default", "result": {"enabled": "unknown", "evaluationStatus": "incomplete"},
			"segments": [{"id": 7, "name": "", "result": false, "constraints": []}]`,
			[]reason{{Text: "segment 7: you do not see its project, so this is not known", Parts: []reason{}}}},
		{`"name": "flexibleRollout", "result": {"enabled": true, "rollout": 50, "number": 16}`,
			[]reason{{Holds: true, Text: "50 %; the number of this context is 16"}}},
		{`"name": "flexibleRollout", "parameters": {"stickiness": "plan"}, "result": {"enabled": false, "rollout": 50}`,
			[]reason{{Text: "50 %; plan is not set"}}},
	}
	strategies, want := []json.RawMessage{}, [][]reason{}
	for _, test := range tests {
		strategies, want = append(strategies, json.RawMessage("{"+test.strategy+"}")), append(want, test.want)
	}
	assert.Equal(t, want, runModule[[][]reason](t, "words.js", strategies, `input.map((strategy) =>
		strategyReasons({ disabled: false, segments: [], constraints: [], ...strategy }))`))
}

// The fields of a strategy are those that decide whether it holds, and which variant it gives.
func TestStrategyFields(t *testing.T) {
	t.Parallel()
	tests := []struct{ strategy, want string }{
		{`"name": "default", "parameters": {}`, ""},
		{`"name": "default", "parameters": {}, "constraints": [{"contextName": "b"}, {"contextName": "a"}, {"contextName": "b"}]`,
			"b a"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "default"}`, "userId sessionId"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "100", "stickiness": "default"}`, ""},
		{`"name": "flexibleRollout", "parameters": {"rollout": "100", "stickiness": "default"}, "variants": [{}]`,
			"userId sessionId"},
		{`"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "random"}`, ""},
		{`"name": "flexibleRollout", "parameters": {"rollout": "100", "stickiness": "tenant"}`, "tenant"},
		{`"name": "remoteAddress", "parameters": {"IPs": "192.0.2.1"}`, "remoteAddress"},
		{`"name": "userWithId", "parameters": {"userIds": "7"}`, "userId"},
		{`"name": "gradualRolloutSessionId", "parameters": {"percentage": "25", "groupId": "g"}`, "sessionId"},
		{`"name": "applicationHostname", "parameters": {"hostNames": "a"}`, ""},
	}
	var strategies []json.RawMessage
	var want []string
	for _, test := range tests {
		strategies, want = append(strategies, json.RawMessage("{"+test.strategy+"}")), append(want, test.want)
	}
	assert.Equal(t, want, runModule[[]string](t, "words.js", strategies, `input.map((strategy) =>
		strategyFields({ constraints: [], variants: [], ...strategy }).join(' '))`))
}
