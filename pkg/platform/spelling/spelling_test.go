package spelling_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/platform/spelling"
)

func TestClosest(t *testing.T) {
	t.Parallel()
	names := []string{"createdAt", "legalValues", "stickiness", "value"}
	for text, want := range map[string]string{
		"legalvalues": "legalValues", "STICKY": "stickiness", "vaule": "value", "values": "value",
		"val": "value", "va": "", "": "", "tags": "", strings.Repeat("é", 1_000_000): "",
	} {
		if got := spelling.Closest(text, names); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
