package console_test

import (
	"strconv"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
)

// A move exchanges the orders of two environments. Environments with the same order get different ones.
func TestOrdersAfterMove(t *testing.T) {
	t.Parallel()
	tests := []struct {
		orders   string
		from, to int
		changes  string
	}{
		{"1 2 3", 1, 0, "b1 a2"},
		{"1 2 9", 1, 2, "c2 b9"},
		{"1 1 1", 2, 1, "c2 b3"},
		{"1 2 3", 0, 2, "b1 c2 a3"},
		{"1 2 3", 1, 1, ""},
	}
	type environment struct {
		Name      string `json:"name"`
		SortOrder int    `json:"sortOrder"`
	}
	input, want := [][]any{}, []string{}
	for _, test := range tests {
		environments := []environment{}
		for i, order := range strings.Fields(test.orders) {
			number, err := strconv.Atoi(order)
			assert.OK(t, err)
			environments = append(environments, environment{string(rune('a' + i)), number})
		}
		input, want = append(input, []any{environments, test.from, test.to}), append(want, test.changes)
	}
	assert.Equal(t, want, runModule[[]string](t, "order.js", input,
		`input.map((move) => ordersAfterMove(...move).map(({ name, sortOrder }) => name + sortOrder).join(' '))`))
}
