package auth_test

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int64
	}{
		{"1", 1}, {"9", 9}, {"10", 10}, {"1234567890", 1234567890}, {"2147483646", 2147483646}, {"2147483647", auth.MaxID},
		{"", 0}, {"0", 0}, {"00", 0}, {"01", 0}, {"-1", 0}, {"+1", 0}, {" 1", 0}, {"1 ", 0}, {"1\n", 0}, {"1.0", 0}, {"1e2", 0}, {"0x1", 0}, {"1_0", 0},
		{"2147483648", 0}, {"3000000000", 0}, {"9999999999", 0}, {"10000000000", 0}, {"4294967297", 0}, {"18446744073709551617", 0},
		{"١", 0}, {"１", 0}, {"a", 0}, {"1a", 0}, {"\x00", 0}, {"1\x00", 0}, {"null", 0},
	} {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			if got, ok := auth.ParseID(tt.text); got != tt.want && ok || ok != (tt.want > 0) {
				t.Errorf("got %d, %t", got, ok)
			}
		})
	}
}

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"1", "2147483647", "2147483648", "01", "+1", "", "99999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := auth.ParseID(text)
		n, isNumber := new(big.Int).SetString(text, 10)
		want := isNumber && n.String() == text && n.Sign() > 0 && n.Cmp(big.NewInt(auth.MaxID)) <= 0
		if ok != want || ok && got != n.Int64() {
			t.Fatalf("%q: %d, %t", text, got, ok)
		}
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[auth.Role]bool{auth.RoleAdmin: true, auth.RoleEditor: false, auth.RoleViewer: false, "": false, "admin": false, "ADMIN": false} {
		if got := auth.UserPrincipal(7, role).Has(auth.Admin); got != want {
			t.Errorf("role %q has ADMIN: %t", role, got)
		}
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		principal auth.Principal
		id        string
		want      map[string]any
	}{
		{"an Admin", auth.UserPrincipal(1, auth.RoleAdmin), "user:1", map[string]any{"userId": "1", "permissions": "ADMIN"}},
		{"a Viewer", auth.UserPrincipal(auth.MaxID, auth.RoleViewer), "user:2147483647", map[string]any{"userId": "2147483647", "permissions": ""}},
		{"an API token", auth.APITokenPrincipal(auth.PATSelector(1, 1)), "api-token:" + selector, map[string]any{"permissions": "ADMIN"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.principal.Context()); diff != "" || tt.principal.ID != tt.id {
				t.Errorf("id %s, context (-want +got):\n%s", tt.principal.ID, diff)
			}
		})
	}
}
