package console_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/test/helper/assert"
)

// The page of a change request shows the state that the service makes of the one of now.
func TestStateAfter(t *testing.T) {
	t.Parallel()
	type state struct {
		Enabled    bool              `json:"enabled"`
		Strategies []json.RawMessage `json:"strategies"`
	}
	const (
		a        = `{"id": "a", "disabled": false, "sortOrder": 0, "parameters": {"rollout": "25"}}`
		b        = `{"id": "b", "disabled": false, "sortOrder": 1, "parameters": {}}`
		disabled = `{"id": "c", "disabled": true, "sortOrder": 2, "parameters": {}}`
	)
	of := func(enabled bool, strategies ...string) state {
		s := state{enabled, []json.RawMessage{}}
		for _, one := range strategies {
			s.Strategies = append(s.Strategies, json.RawMessage(one))
		}
		return s
	}
	tests := []struct {
		state        state
		action, body string
		want         string // on or off, and the strategies with their reach, those that are disabled with a minus sign
	}{
		{of(false, a), "updateEnabled", `{"enabled": true}`, "on a:25"},
		{of(false), "updateEnabled", `{"enabled": true}`, "on new 7:100"},
		{of(false, disabled), "updateEnabled", `{"enabled": true}`, "on -c new 7:100"},
		{of(false, disabled), "updateEnabled", `{"enabled": true, "shouldActivateDisabledStrategies": true}`, "on c"},
		{of(true, a), "updateEnabled", `{"enabled": false}`, "off a:25"},
		{of(false, a), "addStrategy", `{"name": "flexibleRollout", "parameters": {"rollout": "5"}}`, "off a:25 new 7:5"},
		{of(true, a), "addStrategy", `{"name": "default", "disabled": true}`, "on a:25 -new 7"},
		{of(true, a, b), "updateStrategy", `{"id": "b", "parameters": {"rollout": "50"}}`, "on a:25 b:50"},
		{of(true, a), "updateStrategy", `{"id": "a", "disabled": true}`, "off -a:25"},
		{of(true, a, b), "deleteStrategy", `{"id": "a"}`, "on b"},
		{of(true, a, disabled), "deleteStrategy", `{"id": "a"}`, "off -c"},
		{of(true, a, b), "reorderStrategy", `[{"id": "a", "sortOrder": 2}]`, "on b a:25"},
		{of(true, a), "archiveFeature", `null`, "on a:25"},
	}
	input, want := [][]any{}, []string{}
	for _, test := range tests {
		change := map[string]any{"id": 7, "action": test.action, "payload": json.RawMessage(test.body)}
		input, want = append(input, []any{test.state, change}), append(want, test.want)
	}
	assert.Equal(t, want, runModule[[]string](t, "request-state.js", input, `input.map(([state, change]) => {
		const { enabled, strategies } = stateAfter(state, change, 'checkout');
		return [enabled ? 'on' : 'off', ...strategies.map(({ id, disabled, parameters: { rollout } }) => (
			(disabled ? '-' : '') + id + (rollout ? ':' + rollout : '')))].join(' ');
	})`))
}
