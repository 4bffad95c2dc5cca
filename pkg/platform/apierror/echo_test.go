package apierror_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

const (
	selector = "AAAAAAAAAAEAAAAAAAAAAQ"
	pat      = "user:v2_" + selector + "_0123456789-_0123456789-_0123456789-_012345A"
	jwt      = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
)

func TestEcho(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"": "", strings.Repeat("😀", 100): strings.Repeat("😀", 100), strings.Repeat("😀", 101): strings.Repeat("😀", 100) + "…",
		strings.Repeat("\xff", 101): strings.Repeat("\xff", 100) + "…",
	} {
		assert.Equal(t, want, apierror.Echo(value))
	}
	for _, value := range []string{
		"50%25 %zz %",
		"v2_2026-11 v2_ user:7 AAAAAAAAAAEAAAAAAAAAAQ",
		"eyJ eyJabc eyJ. eyes.only",
	} {
		assert.Equal(t, value, apierror.Echo(value))
	}
}

func TestEchoRedactsCredentials(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"Bearer " + pat,
		"*:*.v2_AAAAAAAAAAEAAAAAAAAAAQ_secret",
		"v2_AAAAAAAAAAEAAAAAAAAAAQ",
		strings.Repeat("x", 200) + " v2_x v2_v2_AAAAAAAAAAEAAAAAAAAAAQ",
		// percent-encoded
		"user%3Av2%5FAAAAAAAAAAEAAAAAAAAAAQ",
		"%zz%%76%32_AAAAAAAAAAEAAAAAAAAAAQ",
		`{"a":"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}`,
		"eyJabc. eyJhbGciOiJSUzI1NiJ9.e",
		"eyJhbGciOiJSUzI1NiJ9%2eeyJzdWIiOiIxIn0%2ec2lnbmF0dXJl",
	} {
		assert.Equal(t, "[redacted]", apierror.Echo(value))
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `"a"`, apierror.Listed([]string{"a"}))
	assert.Equal(t, `"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"`, apierror.Listed(strings.Split("0123456789", "")))
	assert.Equal(t, `"0", "1", "2", "3", "4", "5", "6", "7", "8", "9" and 2 more`, apierror.Listed(strings.Split("0123456789ab", "")))
	assert.Equal(t, `"[redacted]"`, apierror.Listed([]string{pat}))
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
			assert.Equal(t, "[redacted]", apierror.Echo(before+credential+after))
		}
	})
}
