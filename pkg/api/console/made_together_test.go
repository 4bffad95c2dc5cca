package console_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/test/helper/assert"
)

// A bulk change has an event of each toggle, of several requests. What its author has changed otherwise, or at another
// time, is no part of it.
func TestMadeTogether(t *testing.T) {
	t.Parallel()
	const log = `[
		{"id": 9, "type": "feature-archived", "featureName": "i", "createdByUserId": 1, "createdAt": "2026-11-20T10:00:30Z"},
		{"id": 8, "type": "feature-archived", "featureName": "h", "createdByUserId": 1, "createdAt": "2026-11-20T10:00:09Z"},
		{"id": 7, "type": "feature-archived", "featureName": "g", "createdByUserId": 2, "createdAt": "2026-11-20T10:00:08Z"},
		{"id": 6, "type": "feature-stale-on", "featureName": "f", "createdByUserId": 1, "createdAt": "2026-11-20T10:00:07Z"},
		{"id": 5, "type": "feature-archived", "featureName": "e", "createdByUserId": 1, "createdAt": "2026-11-20T10:00:05Z"},
		{"id": 4, "type": "feature-archived", "featureName": "d", "createdByUserId": 1, "reason": "another", "createdAt": "2026-11-20T10:00:04Z"},
		{"id": 3, "type": "feature-archived", "featureName": "h", "createdByUserId": 1, "createdAt": "2026-11-20T10:00:02Z"},
		{"id": 2, "type": "feature-archived", "featureName": "b", "createdByUserId": 1, "createdAt": "2026-11-20T10:00:01Z"},
		{"id": 1, "type": "feature-archived", "featureName": "a", "createdByUserId": 1, "createdAt": "2026-11-20T09:59:00Z"}]`
	tests := []struct {
		of   int
		want []int
	}{
		{9, []int{9}},
		{8, []int{8, 5, 2}},
		{5, []int{8, 5, 2}},
		{4, []int{4}},
		{1, []int{1}},
	}
	input, want := []any{json.RawMessage(log)}, [][]int{}
	for _, test := range tests {
		input = append(input, test.of)
		want = append(want, test.want)
	}
	assert.Equal(t, want, runModule[[][]int](t, "made-together.js", input, `input.slice(1).map((of) =>
		madeTogether(input[0].find(({ id }) => id === of), input[0]).map(({ id }) => id))`))
}
