package console_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/test/helper/assert"
)

// Strategies that are equal, whatever their ids are, are no difference. A title tells which ones belong together.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const (
		one     = `{"id": "1", "name": "flexibleRollout", "title": null, "parameters": {"rollout": "25"}}`
		same    = `{"id": "2", "name": "flexibleRollout", "title": null, "parameters": {"rollout": "25"}}`
		half    = `{"id": "3", "name": "flexibleRollout", "title": null, "parameters": {"rollout": "50"}}`
		staff   = `{"id": "4", "name": "flexibleRollout", "title": "Staff", "parameters": {"rollout": "100"}}`
		staffIP = `{"id": "5", "name": "remoteAddress", "title": "Staff", "parameters": {"IPs": "192.0.2.1"}}`
	)
	tests := []struct {
		here, there string
		want        []string // "id id properties"
	}{
		{`[]`, `[]`, []string{}},
		{`[` + one + `]`, `[` + same + `]`, []string{}},
		{`[` + one + `]`, `[` + half + `]`, []string{"1 3 parameters"}},
		{`[` + one + `,` + half + `]`, `[` + half + `]`, []string{"1 - "}},
		{`[` + one + `]`, `[` + same + `,` + same + `]`, []string{"- 2 "}},
		{`[` + staff + `]`, `[` + half + `,` + staffIP + `]`, []string{"4 5 name,parameters", "- 3 "}},
	}
	input, want := [][]json.RawMessage{}, [][]string{}
	for _, test := range tests {
		input = append(input, []json.RawMessage{json.RawMessage(test.here), json.RawMessage(test.there)})
		want = append(want, test.want)
	}
	assert.Equal(t, want, runModule[[][]string](t, "compare.js", input, `input.map(([here, there]) =>
		differences(here, there).map((item) => [item.here?.id ?? '-', item.there?.id ?? '-', item.changed.join()].join(' ')))`))
}
