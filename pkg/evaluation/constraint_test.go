package evaluation_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// now is the time of the tests.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// noRandom is the source of randomness of tests that need none.
func noRandom(uint32) uint32 { panic("a random number is drawn") }

// engineOf compiles one toggle, t, which is switched on.
func engineOf(strategies ...evaluation.Strategy) *evaluation.Engine {
	return evaluation.New(evaluation.Document{
		Features: []evaluation.Feature{{Name: "t", Enabled: true, Strategies: strategies}},
	})
}

// holds reports whether a context with the fields fulfills a constraint.
func holds(c toggle.Constraint, fields map[string]string) bool {
	engine := engineOf(evaluation.Strategy{Name: "default", Constraints: []toggle.Constraint{c}})
	return engine.Enabled("t", &evaluation.Context{Fields: fields, Now: now, Random: noRandom})
}

func TestOperatorsOfOneValue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value    string // of the context
		operator toggle.Operator
		operand  string
		want     bool
	}{
		{"5", "NUM_EQ", "5.0", true},
		{"5", "NUM_EQ", "6", false},
		{"0.30000000000000004", "NUM_EQ", "0.3", true},
		{"1.0000000000000002", "NUM_EQ", "1", false},
		{"+5.", "NUM_EQ", "5", true},
		{".5e1", "NUM_EQ", "5", true},
		{"1e400", "NUM_GT", "5", true},
		{"-1e400", "NUM_LT", "5", true},
		{"6", "NUM_GT", "5", true},
		{"5", "NUM_GT", "5", false},
		{"5", "NUM_GTE", "5", true},
		{"4.9", "NUM_GTE", "5", false},
		{"4.9", "NUM_LT", "5", true},
		{"5", "NUM_LT", "5", false},
		{"5", "NUM_LTE", "5", true},
		{"5.1", "NUM_LTE", "5", false},
		{"", "NUM_LTE", "5", false},
		{"five", "NUM_LTE", "5", false},
		{" 5", "NUM_EQ", "5", false},
		{"0x5", "NUM_EQ", "5", false},
		{"1_0", "NUM_EQ", "10", false},
		{"inf", "NUM_GT", "5", false},
		{"5", "NUM_EQ", "five", false},

		{"2026-11-20T12:00:00.001Z", "DATE_AFTER", "2026-11-20T12:00:00Z", true},
		{"2026-11-20T12:00:00Z", "DATE_AFTER", "2026-11-20T12:00:00Z", false},
		{"2026-11-20T12:00:00+01:00", "DATE_BEFORE", "2026-11-20T12:00:00Z", true},
		{"2026-11-20t12:00:00z", "DATE_BEFORE", "2026-11-20T12:00:00Z", false},
		{"2026-11-20", "DATE_BEFORE", "2026-11-21T12:00:00Z", false},
		{"2026-11-20T12:00:00Z", "DATE_BEFORE", "2026-11-21", false},

		{"1.2.3", "SEMVER_EQ", "1.2.3", true},
		{"1.2.3+a", "SEMVER_EQ", "1.2.3+b", true},
		{"1.2.3", "SEMVER_EQ", "1.2.4", false},
		{"1.10.0", "SEMVER_GT", "1.9.0", true},
		{"1.2.3", "SEMVER_GT", "1.2.3", false},
		{"1.2.3", "SEMVER_GTE", "1.2.3", true},
		{"1.2.2", "SEMVER_GTE", "1.2.3", false},
		{"1.2.3-rc.1", "SEMVER_LT", "1.2.3", true},
		{"1.2.3", "SEMVER_LT", "1.2.3-rc.1", false},
		{"1.2.3", "SEMVER_LTE", "1.2.3", true},
		{"2.0.0", "SEMVER_LTE", "1.99.99", false},
		{"v1.2.3", "SEMVER_EQ", "1.2.3", false},
		{"1.2", "SEMVER_LT", "2.0.0", false},
		{"1.2.3", "SEMVER_EQ", "v1.2.3", false},

		{"abc", "REGEX", "^a", true},
		{"abc", "REGEX", "b", true},
		{"abc", "REGEX", "B", false},
		{"abc", "REGEX", "(?=a)", false},
	} {
		c := toggle.Constraint{ContextName: "f", Operator: test.operator, Value: test.operand}
		if got := holds(c, map[string]string{"f": test.value}); got != test.want {
			t.Errorf("%q %s %q: %t", test.value, test.operator, test.operand, got)
		}
	}
}

// Section 11 of https://semver.org has these versions in their order of precedence.
func TestPrecedenceOfVersions(t *testing.T) {
	t.Parallel()
	versions := []string{
		"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "2.0.0", "2.1.0", "2.1.1",
	}
	for i, version := range versions {
		for j, other := range versions {
			c := toggle.Constraint{ContextName: "f", Operator: toggle.OperatorSemverLt, Value: other}
			if got := holds(c, map[string]string{"f": version}); got != (i < j) {
				t.Errorf("%s < %s: %t", version, other, got)
			}
		}
	}
}

func TestOperatorsOfSeveralValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value    string // of the context
		operator toggle.Operator
		values   []string
		want     bool
	}{
		{"b", "IN", []string{"a", "b"}, true},
		{"B", "IN", []string{"a", "b"}, false},
		{"b", "IN", nil, false},
		{"", "IN", []string{""}, true},
		{"b", "NOT_IN", []string{"a", "b"}, false},
		{"c", "NOT_IN", []string{"a", "b"}, true},
		{"c", "NOT_IN", nil, true},

		{"abc", "STR_CONTAINS", []string{"x", "b"}, true},
		{"abc", "STR_CONTAINS", []string{"x", "B"}, false},
		{"abc", "STR_STARTS_WITH", []string{"ab"}, true},
		{"abc", "STR_STARTS_WITH", []string{"bc"}, false},
		{"abc", "STR_ENDS_WITH", []string{"bc"}, true},
		{"abc", "STR_ENDS_WITH", []string{"ab"}, false},
		{"abc", "STR_ENDS_WITH", nil, false},

		{"192.0.2.7", "IN_CIDR", []string{"2001:db8::/32", "192.0.2.0/24"}, true},
		{"192.0.2.7", "IN_CIDR", []string{"192.0.2.7"}, true},
		{"192.0.2.7", "IN_CIDR", []string{"192.0.2.200/24"}, true},
		{"192.0.3.7", "IN_CIDR", []string{"192.0.2.0/24"}, false},
		{"2001:db8::7", "IN_CIDR", []string{"nowhere", "2001:DB8::/32"}, true},
		{"::ffff:192.0.2.7", "IN_CIDR", []string{"192.0.2.7"}, false},
		{"192.0.2.7", "IN_CIDR", []string{"::/0"}, false},
		{"nowhere", "IN_CIDR", []string{"0.0.0.0/0", "nowhere"}, false},
	} {
		c := toggle.Constraint{ContextName: "f", Operator: test.operator, Values: test.values}
		if got := holds(c, map[string]string{"f": test.value}); got != test.want {
			t.Errorf("%q %s %q: %t", test.value, test.operator, test.values, got)
		}
	}
}

// A value that is too long fulfills no operator, and neither does a regular expression that is too large, which was
// written by other means.
func TestLimitsOfEvaluation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value    string // of the context
		operator toggle.Operator
		operand  string
		want     bool
	}{
		{strings.Repeat("é", 1000), "REGEX", "é$", true},
		{strings.Repeat("é", 1001), "REGEX", "é$", false},
		{"y", "REGEX", "x{0,998}y", true},
		{"y", "REGEX", "x{0,999}y", false},
		{strings.Repeat("é", 10_000), "STR_CONTAINS", "é", true},
		{strings.Repeat("é", 10_001), "STR_CONTAINS", "é", false},
		{strings.Repeat("1", 10_001), "NUM_GT", "1", false},
		{strings.Repeat("é", 10_001), "NOT_IN", "é", true},
	} {
		c := toggle.Constraint{
			ContextName: "f", Operator: test.operator, Value: test.operand, Values: []string{test.operand},
		}
		if got := holds(c, map[string]string{"f": test.value}); got != test.want {
			t.Errorf("%d characters %s %s: %t", len([]rune(test.value)), test.operator, test.operand, got)
		}
	}
}

func TestCaseInsensitive(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value    string // of the context
		operator toggle.Operator
		operand  string
		want     bool
	}{
		{"ABC", "STR_CONTAINS", "b", true},
		{"abc", "STR_CONTAINS", "B", true},
		{"ÆØÅ", "STR_STARTS_WITH", "æø", true},
		{"ΟΔΟΣ", "STR_ENDS_WITH", "οδος", true},
		{"ΟΔΟΣ", "STR_ENDS_WITH", "σ", false},
		{"ΣΟΦΙΑ", "STR_STARTS_WITH", "σ", true},
		{"Σ", "STR_STARTS_WITH", "σ", true},
		{"İ", "STR_ENDS_WITH", "i\u0307", true},
		{"STRASSE", "STR_CONTAINS", "straße", false},
		{"ABC", "REGEX", "b$|c$", true},
		{"b", "IN", "B", false}, // ignored
	} {
		c := toggle.Constraint{
			ContextName: "f", Operator: test.operator, Value: test.operand, Values: []string{test.operand}, CaseInsensitive: true,
		}
		if got := holds(c, map[string]string{"f": test.value}); got != test.want {
			t.Errorf("%q %s %q: %t", test.value, test.operator, test.operand, got)
		}
	}
}

// An inverted constraint holds where the constraint does not: also where the field is absent, or the values cannot be
// evaluated.
func TestInverted(t *testing.T) {
	t.Parallel()
	for _, operator := range append(evaluation.Operators(), "NOPE") {
		for _, fields := range []map[string]string{nil, {"f": "a"}, {"f": "1.2.3"}} {
			c := toggle.Constraint{ContextName: "f", Operator: operator, Values: []string{"a"}, Value: "1.2.3"}
			direct := holds(c, fields)
			c.Inverted = true
			inverted := holds(c, fields)
			if want := !direct && operator != "NOPE"; inverted != want {
				t.Errorf("%s with %v: %t, inverted %t", operator, fields, direct, inverted)
			}
			if fields == nil && direct != (operator == toggle.OperatorNotIn) {
				t.Errorf("%s of an absent field: %t", operator, direct)
			}
		}
	}
}

func TestCurrentTime(t *testing.T) {
	t.Parallel()
	const before, after = "2026-11-20T11:59:59Z", "2026-11-20T12:00:01Z"
	for _, test := range []struct {
		fields   map[string]string
		operator toggle.Operator
		operand  string
		want     bool
	}{
		{nil, "DATE_AFTER", before, true},
		{nil, "DATE_AFTER", after, false},
		{nil, "DATE_BEFORE", after, true},
		{nil, "STR_STARTS_WITH", "2026-11-20T12:00:00Z", true},
		{map[string]string{"currentTime": "2026-11-20T12:00:02Z"}, "DATE_AFTER", after, true},
		{map[string]string{"currentTime": "tomorrow"}, "DATE_AFTER", before, false},
	} {
		c := toggle.Constraint{
			ContextName: "currentTime", Operator: test.operator, Value: test.operand, Values: []string{test.operand},
		}
		if got := holds(c, test.fields); got != test.want {
			t.Errorf("%v: %s %s: %t", test.fields, test.operator, test.operand, got)
		}
	}
}
