package console_test

import (
	"testing"

	"toggleadmin/test/helper/assert"
)

// A permission counts in its project and its environment. Without them, one of them is enough. ADMIN includes all.
func TestPermissionIndex(t *testing.T) {
	t.Parallel()
	type held struct {
		Permission  string `json:"permission"`
		Project     string `json:"project,omitempty"`
		Environment string `json:"environment,omitempty"`
	}
	member := []held{
		{Permission: "CREATE_SEGMENT"},
		{"CREATE_FEATURE", "shop", ""},
		{"SWITCH", "shop", "*"},
		{"SWITCH", "payments", "production"},
	}
	admin := []held{{Permission: "ADMIN"}}
	apart := []held{{"SWITCH", "*", "*"}, {"NONE", "shop", ""}, {"SWITCH", "shop", "production"}}
	tests := []struct {
		held []held
		need []string
		want bool
	}{
		{member, []string{"CREATE_SEGMENT"}, true},
		{member, []string{"CREATE_SEGMENT", "payments"}, true},
		{member, []string{"ADMIN"}, false},
		{member, []string{"ADMIN", "shop"}, false},
		{member, []string{"CREATE_FEATURE"}, true},
		{member, []string{"CREATE_FEATURE", "shop"}, true},
		{member, []string{"CREATE_FEATURE", "payments"}, false},
		{member, []string{"CREATE_FEATURE", "constructor"}, false},
		{member, []string{"SWITCH", "shop", "production"}, true},
		{member, []string{"SWITCH", "payments"}, true},
		{member, []string{"SWITCH", "payments", "production"}, true},
		{member, []string{"SWITCH", "payments", "development"}, false},
		{admin, []string{"CREATE_FEATURE", "payments"}, true},
		{admin, []string{"ADMIN"}, true},
		{apart, []string{"SWITCH", "payments", "test"}, true},
		{apart, []string{"SWITCH", "shop", "test"}, false},
		{apart, []string{"SWITCH", "shop", "production"}, true},
		{apart, []string{"NONE", "payments"}, false},
		{nil, []string{"CREATE_FEATURE"}, false},
		{[]held{{"SWITCH", "*", "test"}, {"SWITCH", "shop", "production"}}, []string{"SWITCH", "payments", "test"}, true},
		{[]held{{"SWITCH", "*", "test"}, {"SWITCH", "shop", "production"}}, []string{"SWITCH", "payments", "production"}, false},
		{[]held{{"SWITCH", "*", "test"}, {"SWITCH", "shop", "production"}}, []string{"SWITCH", "shop", "test"}, true},
		{[]held{{"SWITCH", "*", "test"}, {"SWITCH", "shop", "production"}}, []string{"SWITCH", "shop", "production"}, true},
	}
	input, want := [][]any{}, []bool{}
	for _, test := range tests {
		input, want = append(input, []any{test.held, test.need}), append(want, test.want)
	}
	assert.Equal(t, want, runModule[[]bool](t, "project-permissions.js", input,
		`input.map(([held, need]) => permissionIndex(held ?? []).may(...need))`))
	roles := runModule[[]bool](t, "project-permissions.js", [][]held{member, apart, admin},
		`input.map((held) => permissionIndex(held).hasRole('shop'))`)
	assert.Equal(t, []bool{true, true, false}, roles)
	roles = runModule[[]bool](t, "project-permissions.js", [][]held{apart[:2], {{"SWITCH", "*", "*"}}},
		`input.map((held) => permissionIndex(held).hasRole('shop'))`)
	assert.Equal(t, []bool{false, false}, roles)
	projects := runModule[[]*[]string](t, "project-permissions.js", []any{member, admin},
		`input.flatMap((held) => ['SWITCH', 'CREATE_SEGMENT', 'DELETE_FEATURE'].map(permissionIndex(held).projectsFor))`)
	assert.Equal(t, []*[]string{{"shop", "payments"}, nil, {}, nil, nil, nil}, projects)
}
