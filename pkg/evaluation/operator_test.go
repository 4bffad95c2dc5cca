package evaluation_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

func TestCheckValue(t *testing.T) {
	t.Parallel()
	const (
		empty     = "must not be empty"
		backslash = `must not end with a backslash: SDKs would turn the toggle off`
		number    = "must be a number such as 5, -0.5 or 2e3"
		date      = "must be an RFC 3339 date-time such as 2026-11-20T12:00:00Z, with none or three decimals"
		version   = "must be a semantic version such as 1.2.3 or 1.2.3-beta.1, without a v in front of it"
		network   = "must be an IP address or a CIDR block such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"
	)
	different := func(part string) string {
		return "must not contain " + part + ", which SDKs understand differently"
	}
	for _, test := range []struct {
		operator toggle.Operator
		value    string
		want     string // empty: valid
	}{
		{"IN", "a", ""},
		{"NOT_IN", `a\b "c" é`, ""},
		{"STR_CONTAINS", "", empty},
		{"STR_STARTS_WITH", `a\`, backslash},
		{"STR_ENDS_WITH", `\\`, backslash},

		{"NUM_EQ", "0", ""},
		{"NUM_GT", "-0.50", ""},
		{"NUM_GTE", "0079", ""},
		{"NUM_LT", "1e3", ""},
		{"NUM_LTE", "1.5E-3", ""},
		{"NUM_EQ", "1e+308", ""},
		{"NUM_EQ", "1e-400", ""},
		{"NUM_EQ", "", number},
		{"NUM_EQ", ".5", number},
		{"NUM_EQ", "5.", number},
		{"NUM_EQ", "+5", number},
		{"NUM_EQ", " 5", number},
		{"NUM_EQ", "0x10", number},
		{"NUM_EQ", "1_000", number},
		{"NUM_EQ", "1e", number},
		{"NUM_EQ", "1e309", number},
		{"NUM_EQ", "inf", number},
		{"NUM_EQ", "NaN", number},
		{"NUM_EQ", "٣", number},

		{"DATE_AFTER", "2026-11-20T12:00:00Z", ""},
		{"DATE_BEFORE", "2026-11-20T12:00:00.123+05:30", ""},
		{"DATE_AFTER", "0001-01-01T00:00:00Z", ""},
		{"DATE_AFTER", "9999-12-31T23:59:59Z", ""},
		{"DATE_AFTER", "0001-01-01T00:00:00+00:01", date},
		{"DATE_AFTER", "9999-12-31T23:59:59-00:01", date},
		{"DATE_AFTER", "2026-11-20T12:00:00.5Z", date},
		{"DATE_AFTER", "2026-11-20T12:00:00.123456Z", date},
		{"DATE_AFTER", "2026-11-20t12:00:00Z", date},
		{"DATE_AFTER", "2026-11-20T12:00:00z", date},
		{"DATE_AFTER", "2026-11-20T2:00:00Z", date},
		{"DATE_AFTER", "2026-11-20T12:00:00", date},
		{"DATE_AFTER", "2026-11-20T12:00:00+24:00", date},
		{"DATE_AFTER", "2026-11-20", date},
		{"DATE_AFTER", "2026-02-29T12:00:00Z", date},
		{"DATE_AFTER", "1700000000000", date},

		{"SEMVER_EQ", "1.2.3", ""},
		{"SEMVER_GT", "0.0.0-alpha.1.x-y+001.b", ""},
		{"SEMVER_LT", "9007199254740991.0.0", ""},
		{"SEMVER_GTE", "1.0.0+--", ""},
		{"SEMVER_LTE", "1.0.0-0a.azAZ-09z", ""},
		{"SEMVER_EQ", "9007199254740992.0.0", version},
		{"SEMVER_EQ", "v1.2.3", version},
		{"SEMVER_EQ", "1.2", version},
		{"SEMVER_EQ", "1.2.3.4", version},
		{"SEMVER_EQ", "1.02.3", version},
		{"SEMVER_EQ", "1.2.3-", version},
		{"SEMVER_EQ", "1.2.3-01", version},
		{"SEMVER_EQ", "1.2.3-a..b", version},
		{"SEMVER_EQ", "1.2.3+", version},
		{"SEMVER_EQ", "1.2.3+a+b", version},
		{"SEMVER_EQ", "1.2.3-é", version},
		{"SEMVER_EQ", "", version},

		{"REGEX", `^a\.b$`, ""},
		{"REGEX", strings.Repeat("é", 1000), ""},
		{"REGEX", strings.Repeat("é", 1001), "must not be longer than 1000 characters"},
		{"REGEX", "x{0,998}y", ""}, // 2 instructions for each x, and 3 others
		{"REGEX", "x{0,999}y", "must compile to at most 2000 instructions, and compiles to 2001; " +
			"use lower numbers in repetitions such as {1,1000}"},
		{"REGEX", "", empty},
		{"REGEX", `a\\`, backslash},
		{"REGEX", `a\`, backslash},
		{"REGEX", "[a", "must be a regular expression in the syntax of RE2: missing closing ]: [a"},
		{"REGEX", "(?=a)", "must be a regular expression in the syntax of RE2: invalid or unsupported Perl syntax: (?="},
		{"REGEX", `(a)\1`, `must be a regular expression in the syntax of RE2: invalid escape sequence: \1`},

		{"REGEX", `[[:alpha:]][]a-][^]{&~[:^digit:]]+`, ""},
		{"REGEX", `a{2}b{2,}c{2,3}\{\[\x{41}\p{Greek}\pL\.(?i)(?P<name>a)`, ""},
		{"REGEX", `\Qa\E`, different(`\Q`)},
		{"REGEX", `\101`, different(`\1`)},
		{"REGEX", `\<a`, different(`\<`)},
		{"REGEX", "a{", different("{")},
		{"REGEX", "a{,5}", different("{")},
		{"REGEX", "[a[b]", different("[")},
		{"REGEX", "[[:alpha:]&&a]", different("&&")},
		{"REGEX", "[!--]", different("--")},
		{"REGEX", "a(?i)*b", different("(?i)*")},
		{"REGEX", "(?)", different("(?)")},

		{"IN_CIDR", "192.0.2.7", ""},
		{"IN_CIDR", "192.0.2.7/24", ""},
		{"IN_CIDR", "::", ""},
		{"IN_CIDR", "2001:db8::/32", ""},
		{"IN_CIDR", "192.0.2.0/33", network},
		{"IN_CIDR", "192.0.2.0/024", network},
		{"IN_CIDR", "192.0.2", network},
		{"IN_CIDR", "192.0.02.1", network},
		{"IN_CIDR", "fe80::1%eth0", network},
		{"IN_CIDR", "fe80::1%eth0/64", network},
		{"IN_CIDR", "localhost", network},

		{"NOPE", "a", "has an unknown operator"},
	} {
		got := ""
		if err := evaluation.CheckValue(test.operator, test.value); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %q: %q, want %q", test.operator, test.value, got, test.want)
		}
	}
}

// A value that nobody can mean has an error for every operator, so each operator is known.
func TestOperators(t *testing.T) {
	t.Parallel()
	for _, operator := range evaluation.Operators() {
		err := evaluation.CheckValue(operator, "")
		if err == nil || !strings.HasPrefix(err.Error(), "must") {
			t.Errorf("%s: error %v", operator, err)
		}
	}
}
