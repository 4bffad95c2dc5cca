package apierror_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toggleadmin/pkg/platform/apierror"
)

const (
	selector = "AAAAAAAAAAEAAAAAAAAAAQ"
	pat      = "user:v2_" + selector + "_0123456789-_0123456789-_0123456789-_012345A"
	jwt      = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
)

func TestEcho(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"empty", "", ""},
		{"100 characters", strings.Repeat("😀", 100), strings.Repeat("😀", 100)},
		{"101 characters", strings.Repeat("😀", 101), strings.Repeat("😀", 100) + "…"},
		{"101 bytes of invalid UTF-8", strings.Repeat("\xff", 101), strings.Repeat("\xff", 100) + "…"},
		{"percent signs", "50%25 %zz %", "50%25 %zz %"},
		{"not a token", "v2_2026-11 v2_ user:7 " + selector, "v2_2026-11 v2_ user:7 " + selector},
		{"not a JWT", "eyJ eyJabc eyJ. eyes.only", "eyJ eyJabc eyJ. eyes.only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := apierror.Echo(tt.value); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEchoRedactsCredentials(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value string }{
		{"PAT", "Bearer " + pat},
		{"API token", "*:*.v2_" + selector + "_secret"},
		{"token without a secret", "v2_" + selector},
		{"token in a long text", strings.Repeat("x", 200) + " v2_x v2_v2_" + selector},
		{"token, percent-encoded", "user%3Av2%5F" + selector},
		{"token, percent-encoded after a broken escape", "%zz%%76%32_" + selector},
		{"JWT", `{"a":"` + jwt + `"}`},
		{"start of a JWT", "eyJabc. eyJhbGciOiJSUzI1NiJ9.e"},
		{"JWT, percent-encoded", strings.ReplaceAll(jwt, ".", "%2e")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := apierror.Echo(tt.value); got != "[redacted]" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func FuzzEcho(f *testing.F) {
	for _, value := range []string{"", "abc", pat, "%", "%7", "\xff", strings.Repeat("é", 101), "v2_eyJ."} {
		f.Add(value, " ")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		got := apierror.Echo(before + after)
		if n := utf8.RuneCountInString(got); n > 101 || got != "[redacted]" &&
			!strings.HasPrefix(before+after, strings.TrimSuffix(got, "…")) {
			t.Fatalf("%q: %d characters: %q", before+after, n, got)
		}
		for _, credential := range []string{pat, jwt} {
			if got := apierror.Echo(before + credential + after); got != "[redacted]" {
				t.Fatalf("%q: %q", before+credential+after, got)
			}
		}
	})
}
