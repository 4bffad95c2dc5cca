package access_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1": 1, "9": 9, "10": 10, "1234567890": 1234567890, "2147483647": 2147483647,
	} {
		id, ok := access.ParseID(text)
		assert.Equal(t, want, id)
		assert.Equal(t, true, ok)
	}
	for _, text := range []string{
		"", "0", "00", "01", "-1", "+1", "0x1", "1_0", "1a", "null", "١", "１", " 1", "1 ", "4\n", "1\x00",
		"4.0", "4e0", "2147483648", "4294967297", "18446744073709551617", "1" + strings.Repeat("0", 254),
	} {
		if id, ok := access.ParseID(text); ok || id != 0 {
			t.Errorf("%q: %d, %t", text, id, ok)
		}
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		role        access.Role // of a user; 0: an API token
		permissions string
	}{
		{access.RoleAdmin, "ADMIN"},
		{access.RoleEditor, "CREATE_CONTEXT_FIELD,UPDATE_CONTEXT_FIELD,DELETE_CONTEXT_FIELD," +
			"CREATE_SEGMENT,UPDATE_SEGMENT,DELETE_SEGMENT,READ_CLIENT_API_TOKEN,CREATE_PROJECT,READ_ROLE," +
			"CREATE_TAG_TYPE,UPDATE_TAG_TYPE,DELETE_TAG_TYPE"},
		{access.RoleViewer, ""},
		{0, "ADMIN"},
	} {
		p, id := access.APITokenPrincipal(access.PATSelector(1, 1)), "api-token:"+selector
		want := map[string]any{"permissions": test.permissions, "name": "Ada", "tokenId": "12",
			"role": "Admin"}
		if test.role != 0 {
			p, id = access.UserPrincipal(access.MaxID, test.role), "user:2147483647"
			want["userId"], want["role"] = "2147483647", test.role.String()
		}
		p.Name, p.TokenID = "Ada", "12"
		assert.Equal(t, want, p.Context())
		assert.Equal(t, id, p.ID)
	}
}
