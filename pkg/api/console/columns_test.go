package console_test

import (
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
)

// Of many environments, those of the type production have a column, then the last ones.
func TestColumns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		most                  int
		environments, columns string
	}{
		{3, "", ""},
		{3, "dev test production", "dev test production"},
		{3, "dev test staging qa", "staging qa"},
		{3, "dev production test qa", "production qa"},
		{3, "production dev test qa", "production qa"},
		{3, "production-eu production-us dev test", "production-eu production-us"},
		{3, "production-eu dev production-us test production-asia", "production-us production-asia"},
		{5, "dev test qa production-eu production-us", "dev test qa production-eu production-us"},
		{5, "dev test qa production-eu production-us production-asia", "qa production-eu production-us production-asia"},
	}
	type environment struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	type list struct {
		Most         int           `json:"most"`
		Environments []environment `json:"environments"`
	}
	input, want := []list{}, []string{}
	for _, test := range tests {
		environments := []environment{}
		for name := range strings.FieldsSeq(test.environments) {
			kind, _, _ := strings.Cut(name, "-")
			environments = append(environments, environment{name, kind})
		}
		input, want = append(input, list{test.most, environments}), append(want, test.columns)
	}
	assert.Equal(t, want, runModule[[]string](t, "columns.js", input,
		`input.map(({ environments, most }) => divide(environments, most).columns.map(({ name }) => name).join(' '))`))
}
