package console_test

import (
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
)

// Of many environments, those of the type production have a column, then the last ones.
func TestColumns(t *testing.T) {
	t.Parallel()
	tests := []struct{ environments, columns string }{
		{"", ""},
		{"dev test production", "dev test production"},
		{"dev test staging qa", "staging qa"},
		{"dev production test qa", "production qa"},
		{"production dev test qa", "production qa"},
		{"production-eu production-us dev test", "production-eu production-us"},
		{"production-eu dev production-us test production-asia", "production-us production-asia"},
	}
	type environment struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	input, want := [][]environment{}, []string{}
	for _, test := range tests {
		environments := []environment{}
		for name := range strings.FieldsSeq(test.environments) {
			kind, _, _ := strings.Cut(name, "-")
			environments = append(environments, environment{name, kind})
		}
		input, want = append(input, environments), append(want, test.columns)
	}
	assert.Equal(t, want, runModule[[]string](t, "columns.js", input,
		`input.map((environments) => divide(environments).columns.map(({ name }) => name).join(' '))`))
}
