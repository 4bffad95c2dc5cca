package console_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/test/helper/assert"
)

// Of two changes that began with the same object, what only the other one has changed is taken over.
func TestMerge(t *testing.T) {
	t.Parallel()
	type result struct {
		Merged map[string]any
		Taken  []string
		Both   []string
	}
	tests := []struct {
		before, mine, theirs string
		want                 result
	}{
		{`{"a": 1, "b": 1}`, `{"a": 2, "b": 1}`, `{"a": 1, "b": 1}`, result{map[string]any{"a": 2., "b": 1.}, []string{}, []string{}}},
		{`{"a": 1, "b": 1}`, `{"a": 2, "b": 1}`, `{"a": 1, "b": 3}`, result{map[string]any{"a": 2., "b": 3.}, []string{"b"}, []string{}}},
		{`{"a": 1, "b": 1}`, `{"a": 2, "b": 1}`, `{"a": 3, "b": 1}`, result{map[string]any{"a": 2., "b": 1.}, []string{}, []string{"a"}}},
		{`{"a": 1, "b": 1}`, `{"a": 2, "b": 1}`, `{"a": 2, "b": 1}`, result{map[string]any{"a": 2., "b": 1.}, []string{}, []string{}}},
		{`{"a": [1], "b": 1}`, `{"a": [1], "b": 2}`, `{"a": [1, 2], "b": 1}`,
			result{map[string]any{"a": []any{1., 2.}, "b": 2.}, []string{"a"}, []string{}}},
	}
	input, want := [][]json.RawMessage{}, []result{}
	for _, test := range tests {
		input = append(input, []json.RawMessage{
			json.RawMessage(test.before), json.RawMessage(test.mine), json.RawMessage(test.theirs),
		})
		want = append(want, test.want)
	}
	assert.Equal(t, want, runModule[[]result](t, "merge.js", input, `input.map((texts) => merge(...texts, ['a', 'b']))`))
}

// Fixed weights stay, and the others share the rest of 1,000.
func TestSpread(t *testing.T) {
	t.Parallel()
	type variant struct {
		WeightType string `json:"weightType"`
		Weight     int    `json:"weight"`
	}
	tests := []struct{ variants, want []variant }{
		{[]variant{{"variable", 7}}, []variant{{"variable", 1000}}},
		{[]variant{{"variable", 0}, {"variable", 0}, {"variable", 0}}, []variant{{"variable", 334}, {"variable", 333}, {"variable", 333}}},
		{[]variant{{"fix", 100}, {"variable", 0}, {"variable", 0}}, []variant{{"fix", 100}, {"variable", 450}, {"variable", 450}}},
		{[]variant{{"fix", 900}, {"fix", 200}, {"variable", 5}}, []variant{{"fix", 900}, {"fix", 200}, {"variable", 0}}},
	}
	input, want := [][]variant{}, [][]variant{}
	for _, test := range tests {
		input, want = append(input, test.variants), append(want, test.want)
	}
	assert.Equal(t, want, runModule[[][]variant](t, "variants.js", input, "input.map(spread)"))
}
