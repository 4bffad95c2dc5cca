package access_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/access"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int64
	}{
		{"1", 1}, {"9", 9}, {"10", 10}, {"1234567890", 1234567890}, {"2147483646", 2147483646}, {"2147483647", access.MaxID},
		{"", 0}, {"0", 0}, {"00", 0}, {"01", 0}, {"-1", 0}, {"+1", 0}, {" 1", 0}, {"1 ", 0}, {"1\n", 0}, {"1.0", 0},
		{"1e2", 0}, {"0x1", 0}, {"1_0", 0},
		{"2147483648", 0}, {"3000000000", 0}, {"9999999999", 0}, {"10000000000", 0}, {"4294967297", 0},
		{"18446744073709551617", 0},
		{"١", 0}, {"１", 0}, {"a", 0}, {"1a", 0}, {"\x00", 0}, {"1\x00", 0}, {"null", 0},
	} {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			if got, ok := access.ParseID(tt.text); got != tt.want && ok || ok != (tt.want > 0) {
				t.Errorf("got %d, %t", got, ok)
			}
		})
	}
}

func TestParseAccountID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"4": 4, "4.0": 4, "4e0": 4, "4.000E-0": 4, "0.4e1": 4, "40e-1": 4, "1e+06": 1000000, "1.000001e+06": 1000001,
		"2.147483647e9": access.MaxID, "2147483647": access.MaxID,
		"": 0, "0": 0, "0e5": 0, "04": 0, "-4": 0, "+4": 0, " 4": 0, "4\n": 0, "4.": 0, ".4": 0, "4e": 0, "4e1.0": 0,
		"4e+": 0, "0x4": 0, "4_0": 0, "\u0664": 0, "null": 0,
		"4.5": 0, "4.0000000000000000000000001": 0, "4e-1": 0, "2147483648": 0, "2147483647.5": 0, "1e10": 0,
		"1e999999999999999999999": 0, "1e-999999999999999999999": 0, "0e999999999999999999999": 0,
		"1" + strings.Repeat("0", 254): 0,
	} {
		if got, ok := access.ParseAccountID(text); got != want || ok != (want > 0) {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"1", "2147483647", "2147483648", "01", "+1", "", "99999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := access.ParseID(text)
		n, isNumber := new(big.Int).SetString(text, 10)
		want := isNumber && n.String() == text && n.Sign() > 0 && n.Cmp(big.NewInt(access.MaxID)) <= 0
		if ok != want || ok && got != n.Int64() {
			t.Fatalf("%q: %d, %t", text, got, ok)
		}
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[access.Role]int64{access.RoleAdmin: 1, access.RoleEditor: 2, access.RoleViewer: 3, "": 0,
		"admin": 0, "ADMIN": 0} {
		if got := role.ID(); got != want {
			t.Errorf("role %q has the id %d", role, got)
		}
		if got := access.UserPrincipal(7, role).Has(access.Admin); got != (role == access.RoleAdmin) {
			t.Errorf("role %q has ADMIN: %t", role, got)
		}
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		principal access.Principal
		id        string
		want      map[string]any
	}{
		{"an Admin", access.UserPrincipal(1, access.RoleAdmin), "user:1",
			map[string]any{"userId": "1", "permissions": "ADMIN"}},
		{"an Editor", access.UserPrincipal(2, access.RoleEditor), "user:2",
			map[string]any{"userId": "2",
				"permissions": "CREATE_CONTEXT_FIELD,UPDATE_CONTEXT_FIELD,DELETE_CONTEXT_FIELD,CREATE_FEATURE,UPDATE_FEATURE," +
					"DELETE_FEATURE"}},
		{"a Viewer", access.UserPrincipal(access.MaxID, access.RoleViewer), "user:2147483647",
			map[string]any{"userId": "2147483647", "permissions": ""}},
		{"an API token", access.APITokenPrincipal(access.PATSelector(1, 1)), "api-token:" + selector,
			map[string]any{"permissions": "ADMIN"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.principal.Name, tt.principal.TokenID, tt.want["name"], tt.want["tokenId"] = "Ada", "12", "Ada", "12"
			if diff := cmp.Diff(tt.want, tt.principal.Context()); diff != "" || tt.principal.ID != tt.id {
				t.Errorf("id %s, context (-want +got):\n%s", tt.principal.ID, diff)
			}
		})
	}
}
