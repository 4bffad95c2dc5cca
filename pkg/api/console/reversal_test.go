package console_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/test/helper/assert"
)

// What a change did is reversed, and what others did since stays. Its steps end in the state that was before.
func TestReversal(t *testing.T) {
	t.Parallel()
	type steps struct {
		Off, On                         bool
		Restore, Replace, Order, Remove []string
	}
	type result struct {
		Target    string // the switch, and the strategies in their order
		IsChanged bool
		Steps     steps
	}
	state := func(enabled bool, strategies ...string) json.RawMessage {
		all := []json.RawMessage{}
		for _, s := range strategies {
			all = append(all, json.RawMessage(s))
		}
		text, err := json.Marshal(map[string]any{"enabled": enabled, "strategies": all})
		assert.OK(t, err)
		return text
	}
	const (
		a         = `{"id": "a", "title": null, "disabled": false, "sortOrder": 0}`
		aDisabled = `{"id": "a", "title": null, "disabled": true, "sortOrder": 0}`
		aTitled   = `{"id": "a", "title": "theirs", "disabled": false, "sortOrder": 0}`
		aLast     = `{"id": "a", "title": null, "disabled": false, "sortOrder": 2}`
		b         = `{"id": "b", "title": null, "disabled": false, "sortOrder": 1}`
	)
	none := []string{}
	tests := []struct {
		before, after, now json.RawMessage
		want               result
	}{
		// Turning on has added a strategy.
		{state(false), state(true, a), state(true, a), result{"off", false, steps{false, false, none, none, none, []string{"a"}}}},
		{state(false), state(true, a), state(true, a, b), result{"off b", false, steps{true, false, none, none, none, []string{"a"}}}},
		{state(false), state(true, a), state(true, aTitled), result{"off", true, steps{false, false, none, none, none, []string{"a"}}}},
		// The last strategy was deleted or disabled.
		{state(true, a), state(false), state(false), result{"on a", false, steps{false, true, []string{"a"}, none, none, none}}},
		{state(true, a), state(false, aDisabled), state(false, aDisabled, b),
			result{"on a b", false, steps{false, true, none, []string{"a"}, none, none}}},
		// A strategy was deleted, and the toggle turned off by somebody else.
		{state(true, a, b), state(true, b), state(false, b), result{"off a b", false, steps{false, false, []string{"a"}, none, none, none}}},
		// Another order.
		{state(true, a, b), state(true, b, aLast), state(true, b, aLast),
			result{"on a b", false, steps{false, true, none, none, []string{"a"}, none}}},
		// It is undone already.
		{state(true, a), state(false), state(true, a), result{"on a", false, steps{false, true, none, none, none, none}}},
	}
	input, want := [][]json.RawMessage{}, []result{}
	for _, test := range tests {
		input = append(input, []json.RawMessage{test.before, test.after, test.now})
		want = append(want, test.want)
	}
	assert.Equal(t, want, runModule[[]result](t, "reversal.js", input, `input.map(([before, after, now]) => {
		const target = reversed(before, after, now);
		const ids = (strategies) => strategies.map(({id}) => id);
		const {off, on, ...lists} = steps(now, target);
		return {
			target: [target.enabled ? 'on' : 'off', ...ids(target.strategies)].join(' '),
			isChanged: isChangedSince(before, after, now),
			steps: {off, on, ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, ids(list)]))},
		};
	})`))
}
