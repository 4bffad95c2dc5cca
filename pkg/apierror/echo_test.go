package apierror_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toggleadmin/pkg/apierror"
)

const (
	selector = "AAAAAAAAAAEAAAAAAAAAAQ"
	secret   = "0123456789-_0123456789-_0123456789-_012345A"
	pat      = "user:v2_" + selector + "_" + secret
	apiToken = "*:*.v2_" + selector + "_" + secret
	jwt      = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
)

func TestEchoCutsValuesLongerThan100Characters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"empty", "", ""},
		{"short", "abc", "abc"},
		{"100 characters", strings.Repeat("a", 100), strings.Repeat("a", 100)},
		{"101 characters", strings.Repeat("a", 101), strings.Repeat("a", 100) + "…"},
		{"100 characters of four bytes", strings.Repeat("😀", 100), strings.Repeat("😀", 100)},
		{"101 characters of four bytes", strings.Repeat("😀", 101), strings.Repeat("😀", 100) + "…"},
		{"invalid UTF-8 counts by the byte", strings.Repeat("\xff", 101), strings.Repeat("\xff", 100) + "…"},
		{"percent signs stay", "50%25 %zz %", "50%25 %zz %"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := apierror.Echo(tt.value); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAValueWithTheShapeOfACredentialIsNeverEchoed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value string }{
		{"a PAT", pat},
		{"an API token", apiToken},
		{"with the scheme Bearer", "Bearer " + pat},
		{"an API token with the scheme Bearer", "bearer " + apiToken},
		{"inside a longer text", "please use " + pat + " for now"},
		{"behind more than 100 characters", strings.Repeat("x", 200) + " " + pat},
		{"in JSON", `{"token":"` + pat + `"}`},
		{"in a list in JSON", `["a","` + apiToken + `"]`},
		{"cut short in the secret", pat[:len(pat)-20]},
		{"without a secret", "v2_" + selector},
		{"too long", pat + "AAAA"},
		{"behind a harmless v2_", "v2_x " + pat},
		{"joined to another word", "v2_v2_v2_" + selector + "_" + secret},
		{"percent-encoded by a browser", "user%3Av2_" + selector + "_" + secret},
		{"percent-encoded altogether", percentEncoded(pat)},
		{"percent-encoded with a broken escape", "%zz%" + percentEncoded(apiToken) + "%"},
		{"a JWT", jwt},
		{"a JWT with the scheme Bearer", "Bearer " + jwt},
		{"a JWT in JSON", `{"a":"` + jwt + `"}`},
		{"a JWT without its signature", jwt[:strings.LastIndexByte(jwt, '.')]},
		{"a JWT behind half of one", "eyJabc " + jwt},
		{"a JWT behind half of one with a point", "eyJabc. " + jwt},
		{"a JWT behind half an escape", "%aeyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl"},
		{"a JWT, percent-encoded", percentEncoded(jwt)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := apierror.Echo(tt.value); got != "[redacted]" {
				t.Errorf("%q is shown as %q", tt.value, got)
			}
		})
	}
}

func TestAHarmlessValueIsEchoed(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"v2_", "v2_2026-11", "user:7", "*:*.", "eyJ", "eyJabc", "eyJ.", "eyes.only", selector} {
		if got := apierror.Echo(value); got != value {
			t.Errorf("%q is shown as %q", value, got)
		}
	}
}

func percentEncoded(text string) string {
	const digits = "0123456789aBcDeF"
	var b strings.Builder
	for i := range len(text) {
		b.Write([]byte{'%', digits[text[i]>>4], digits[text[i]&15]})
	}
	return b.String()
}

func FuzzEcho(f *testing.F) {
	for _, value := range []string{"", "abc", pat, jwt, "%", "%7", "%zz", "\xff", strings.Repeat("é", 101), "v2_eyJ."} {
		f.Add(value, "")
		f.Add(value, " ")
	}
	f.Fuzz(func(t *testing.T, before, behind string) {
		got := apierror.Echo(before + behind)
		if n := utf8.RuneCountInString(got); n > 101 {
			t.Fatalf("%d characters", n)
		}
		if got != "[redacted]" && !strings.HasPrefix(before+behind, strings.TrimSuffix(got, "…")) {
			t.Fatalf("%q is shown as %q", before+behind, got)
		}
		for _, credential := range []string{pat, apiToken, jwt} {
			if got := apierror.Echo(before + credential + behind); got != "[redacted]" {
				t.Fatalf("%q is shown as %q", before+credential+behind, got)
			}
		}
	})
}
