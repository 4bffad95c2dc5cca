package access_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestParseIDs(t *testing.T) {
	t.Parallel()
	check := func(text, want string) {
		id, ok := access.ParseID(text)
		account, accountOK := access.ParseAccountID(text)
		if got := fmt.Sprint(id, account); got != want || ok != (id > 0) || accountOK != (account > 0) {
			t.Errorf("%q: %s, %t, %t, want %s", text, got, ok, accountOK, want)
		}
	}
	for _, row := range table.Rows(t, 2, `
		# texts | id of a token, and of an account; 0: invalid
		1 | 1 1
		9 | 9 9
		10 | 10 10
		1234567890 | 1234567890 1234567890
		2147483647 | 2147483647 2147483647
		2.147483647e9 | 0 2147483647
		4.0 4e0 4.000E-0 0.4e1 40e-1 | 0 4
		1e2 | 0 100
		1e+06 | 0 1000000
		1.000001e+06 | 0 1000001
		0 00 01 -1 +1 0x1 1_0 1a null ١ ٤ １ | 0 0
		0e5 04 -4 +4 4. .4 4e 4e1.0 4e+ 0x4 4_0 4.5 4.0000000000000000000000001 4e-1 | 0 0
		2147483648 4294967297 18446744073709551617 2147483647.5 1e10 | 0 0
		1e999999999999999999999 1e-999999999999999999999 0e999999999999999999999 | 0 0
	`) {
		for text := range strings.FieldsSeq(row[0]) {
			check(text, row[1])
		}
	}
	for _, text := range []string{"", " 1", "1 ", "4\n", "1\x00", "1" + strings.Repeat("0", 254)} {
		check(text, "0 0")
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
