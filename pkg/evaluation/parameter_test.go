package evaluation_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/evaluation"
)

func TestCheckParameter(t *testing.T) {
	t.Parallel()
	const (
		percentage = "must be a whole number from 0 to 100"
		group      = "must be 1 to 100 ASCII characters, without quotation marks, and without a backslash at the end"
		noEntries  = "must have at least one entry; commas separate entries"
	)
	for _, test := range []struct {
		name, value string
		want        string // empty: valid
	}{
		{"rollout", "0", ""},
		{"rollout", "99", ""},
		{"percentage", "100", ""},
		{"rollout", "", percentage},
		{"rollout", "007", percentage},
		{"rollout", "150", percentage},
		{"rollout", "12.5", percentage},
		{"percentage", "-1", percentage},

		{"groupId", "checkout", ""},
		{"groupId", strings.Repeat(`\`, 99) + "~", ""},
		{"groupId", "", group},
		{"groupId", strings.Repeat("a", 101), group},
		{"groupId", "ø", group},
		{"groupId", `a"b`, group},
		{"groupId", `a\`, group},

		{"IPs", "192.0.2.7, 2001:db8::/32,", ""},
		{"IPs", " , ", noEntries},
		{"IPs", "192.0.2.7,localhost", `has the entry "localhost", which must be an IP address or a CIDR block ` +
			"such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"},

		{"userIds", `ada, "grace"`, ""},
		{"userIds", "", noEntries},
		{"userIds", `ada,\`, `has the entry "\\", which must not end with a backslash: SDKs would turn the toggle off`},

		{"hostNames", "web-1,web-2", ""},
		{"hostNames", "", noEntries},
		{"hostNames", `web-"1"`, `has the entry "web-\"1\"", which must not contain quotation marks: SDKs would turn the toggle off`},

		{"hostNames", "web\x00", `has the entry "web\x00", which must not contain U+0000`},

		{"stickiness", "tenant", ""},
	} {
		got := ""
		if err := evaluation.CheckParameter(test.name, test.value); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %q: %q, want %q", test.name, test.value, got, test.want)
		}
	}
}
