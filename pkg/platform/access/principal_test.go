package access_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 1, `
		""
		0
		00
		01
		-1
		+1
		" 1"
		"1 "
		"1\n"
		1.0
		1e2
		0x1
		1_0
		2147483648
		4294967297
		18446744073709551617
		١
		１
		1a
		"1\x00"
		null
	`) {
		if got, ok := access.ParseID(row[0]); ok {
			t.Errorf("%q: %d", row[0], got)
		}
	}
	for _, want := range []int64{1, 9, 10, 1234567890, access.MaxID} {
		got, ok := access.ParseID(fmt.Sprint(want))
		assert.Equal(t, []any{want, true}, []any{got, ok})
	}
}

func TestParseAccountID(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		4 4.0 4e0 4.000E-0 0.4e1 40e-1 | 4
		1e+06 | 1000000
		1.000001e+06 | 1000001
		2147483647 2.147483647e9 | 2147483647
		0 0e5 04 -4 +4 4. .4 4e 4e1.0 4e+ 0x4 4_0 ٤ null 4.5 4.0000000000000000000000001 4e-1 | 0
		2147483648 2147483647.5 1e10 1e999999999999999999999 1e-999999999999999999999 0e999999999999999999999 | 0
	`) {
		for text := range strings.FieldsSeq(row[0]) {
			if got, ok := access.ParseAccountID(text); strconv.FormatInt(got, 10) != row[1] || ok != (got > 0) {
				t.Errorf("%q: %d, %t", text, got, ok)
			}
		}
	}
	for _, text := range []string{"", " 4", "4\n", "1" + strings.Repeat("0", 254)} {
		if got, ok := access.ParseAccountID(text); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[access.Role]int64{access.RoleAdmin: 1, access.RoleEditor: 2, access.RoleViewer: 3, "": 0,
		"admin": 0} {
		assert.Equal(t, want, role.ID())
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		# a user's role, or none for an API token | permissions
		Admin | ADMIN
		Editor | CREATE_CONTEXT_FIELD,UPDATE_CONTEXT_FIELD,DELETE_CONTEXT_FIELD,CREATE_FEATURE,UPDATE_FEATURE,DELETE_FEATURE
		Viewer | ""
		| ADMIN
	`) {
		p, id := access.APITokenPrincipal(access.PATSelector(1, 1)), "api-token:"+selector
		want := map[string]any{"permissions": row[1], "name": "Ada", "tokenId": "12"}
		if row[0] != "" {
			p, id = access.UserPrincipal(access.MaxID, access.Role(row[0])), "user:2147483647"
			want["userId"] = "2147483647"
		}
		p.Name, p.TokenID = "Ada", "12"
		assert.Equal(t, want, p.Context())
		assert.Equal(t, id, p.ID)
	}
}
