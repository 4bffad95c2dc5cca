package evaluation_test

import (
	"encoding/json"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// equalsItself reports whether a value, as a field, fulfills a constraint with the same value.
func equalsItself(operator toggle.Operator, value string) bool {
	c := toggle.Constraint{ContextName: "f", Operator: operator, Value: value, Values: []string{value}}
	return holds(c, map[string]string{"f": value})
}

// A number that is accepted is a number of JSON, apart from zeros in front of it, and equals itself.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"0", "-1.5e+3", "007", "+5", ".5", "5.", "1e", "1e309", "inf", "0x1p-2", "1_0", " 1"} {
		f.Add(seed)
	}
	zeros := regexp.MustCompile(`^(-?)0+([0-9])`)
	f.Fuzz(func(t *testing.T, value string) {
		accepted := evaluation.CheckValue(toggle.OperatorNumEq, value) == nil
		var decoded any
		_ = json.Unmarshal([]byte(zeros.ReplaceAllString(value, "$1$2")), &decoded)
		_, isNumber := decoded.(float64)
		isNumber = isNumber && !strings.ContainsAny(value, " \t\r\n")
		if accepted != isNumber {
			t.Fatalf("%q: accepted %t, but a number %t", value, accepted, isNumber)
		}
		if accepted && !equalsItself(toggle.OperatorNumEq, value) {
			t.Fatalf("%q does not equal itself", value)
		}
	})
}

// A date that is accepted has the form of Unleash's console or of RFC 3339 without decimals.
func FuzzDate(f *testing.F) {
	for _, seed := range []string{"2026-11-20T12:00:00Z", "2026-11-20T12:00:00.123+05:30", "2026-11-20t12:00:00z",
		"2026-11-20T2:00:00Z", "2026-11-20T12:00:00,5Z", "0001-01-01T00:00:00+00:01", "2026-02-29T00:00:00-24:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		accepted := evaluation.CheckValue(toggle.OperatorDateAfter, value) == nil
		if !accepted {
			return
		}
		date, err := time.Parse("2006-01-02T15:04:05Z07:00", value)
		if err != nil {
			t.Fatalf("%q is accepted: %v", value, err)
		}
		layout := "2006-01-02T15:04:05Z07:00"
		if strings.Contains(value, ".") {
			layout = "2006-01-02T15:04:05.000Z07:00"
		}
		same := strings.NewReplacer("+00:00", "Z", "-00:00", "Z").Replace(value)
		if formatted := date.Format(layout); formatted != same {
			t.Fatalf("%q is %q", value, formatted)
		}
		if equalsItself(toggle.OperatorDateAfter, value) || equalsItself(toggle.OperatorDateBefore, value) {
			t.Fatalf("%q is after or before itself", value)
		}
	})
}

// https://semver.org suggests the regular expression.
func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"1.2.3", "1.2.3-rc.1+b.01", "v1.2.3", "1.02.3", "1.2.3-01", "1.2.3-0a", "1.2.3+", "1.2"} {
		f.Add(seed)
	}
	syntax := regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)` +
		`(?:-((?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*))?` +
		`(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)
	f.Fuzz(func(t *testing.T, value string) {
		accepted := evaluation.CheckValue(toggle.OperatorSemverEq, value) == nil
		match := syntax.FindStringSubmatch(value)
		want := match != nil
		for _, number := range match[min(1, len(match)):min(4, len(match))] {
			n, err := strconv.ParseUint(number, 10, 64)
			want = want && err == nil && n < 1<<53
		}
		if accepted != want {
			t.Fatalf("%q: accepted %t, want %t", value, accepted, want)
		}
		if accepted && !equalsItself(toggle.OperatorSemverEq, value) {
			t.Fatalf("%q does not equal itself", value)
		}
	})
}

// Package net has other parsers than package net/netip. They also accept zeros in front of the length of a prefix.
func FuzzNetwork(f *testing.F) {
	for _, seed := range []string{"192.0.2.7", "192.0.2.7/24", "::ffff:192.0.2.7/120", "2001:db8::/32", "fe80::1%eth0", "1.2.3",
		"192.0.2.0/024"} {
		f.Add(seed)
	}
	zeros := regexp.MustCompile(`/0[0-9]`)
	f.Fuzz(func(t *testing.T, value string) {
		accepted := evaluation.CheckValue(toggle.OperatorInCIDR, value) == nil
		address := net.ParseIP(value)
		_, _, err := net.ParseCIDR(value)
		isBlock := err == nil && !zeros.MatchString(value)
		if accepted != (isBlock || address != nil) {
			t.Fatalf("%q: accepted %t, address %v, error %v", value, accepted, address, err)
		}
		if address != nil && !equalsItself(toggle.OperatorInCIDR, value) {
			t.Fatalf("%q is not in itself", value)
		}
	})
}

// An expression that is accepted compiles, also without regard to letter case.
func FuzzRegex(f *testing.F) {
	for _, seed := range []string{`[[:alpha:]][]a-]`, `a{2}\{\x{41}(?i)`, `\Q`, "a{", "[a[b]", "[!--]", "(?)", `\`, "[", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if evaluation.CheckValue(toggle.OperatorRegex, value) != nil {
			return
		}
		if _, err := regexp.Compile("(?i)" + value); err != nil {
			t.Fatalf("%q is accepted: %v", value, err)
		}
	})
}

// No document and no context makes the engine panic. The explanation of a result has the same result.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"features":[{"name":"t","enabled":true,"strategies":[{"name":"flexibleRollout","segments":[1,2],
		"parameters":{"rollout":"50"},"variants":[{"name":"a","weight":-5},{"name":"b","weight":10}],
		"constraints":[{"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-11-20T12:00:00Z"}]}]}],
		"segments":[{"id":1,"constraints":[{"contextName":"f","operator":"REGEX","value":"[a","inverted":true}]}]}`), "a")
	f.Add([]byte(`{"features":[{"name":"t","enabled":true,"dependencies":[{"feature":"t"},{"feature":"u","variants":["a"]}],
		"variants":[{"name":"a","weight":0,"overrides":[{"contextName":"f","values":["a"]}]}]},{"name":"u"}]}`), "a")
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		var document evaluation.Document
		if json.Unmarshal(data, &document) != nil {
			return
		}
		engine := evaluation.New(document)
		ctx := &evaluation.Context{
			Fields: map[string]string{"f": value, "userId": value, "remoteAddress": value},
			Now:    now,
			Random: func(n uint32) uint32 { return n / 2 },
		}
		result := engine.Evaluate("t", ctx)
		if enabled := engine.Enabled("t", ctx); enabled != result.Enabled {
			t.Fatalf("on: %t, but evaluated to %t", enabled, result.Enabled)
		}
		if diff := cmp.Diff(result, engine.Explain("t", ctx).Result); diff != "" {
			t.Fatalf("the explanation has another result (-want +got):\n%s", diff)
		}
	})
}
