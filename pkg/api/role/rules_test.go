package role_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
)

// TestCheck checks the rules that the JSON Schema has, too. Those of permissions are tested by operations and commands.
func TestCheck(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return strings.Repeat("é", n) }
	for _, test := range []struct {
		role access.RoleDefinition
		want string // the beginning of the error; empty: none
	}{
		{access.RoleDefinition{Name: text(100), Description: text(1000), Type: access.CustomType}, ""},
		{access.RoleDefinition{Name: text(101), Type: access.CustomType}, "the name must"},
		{access.RoleDefinition{Name: "\t", Type: access.CustomType}, "the name must"},
		{access.RoleDefinition{Name: "a", Description: text(1001), Type: access.CustomType}, "the description must"},
		{access.RoleDefinition{Name: "a", Type: access.ProjectType}, "the type must"},
	} {
		got := ""
		if err := role.Check(&test.role); err != nil {
			got = err.Error()
		}
		assert.Equal(t, true, strings.HasPrefix(got, test.want) && (got == "") == (test.want == ""))
	}
}
