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

func TestContains(t *testing.T) {
	t.Parallel()
	const composed, combining = "Z\u00fcrich", "Zu\u0308rich"
	for _, row := range [][2]string{
		{composed, combining}, {combining, composed}, {composed, "Z\u00dcRICH"}, {combining, "ZU\u0308R"}, {"a", ""},
	} {
		if !spelling.Contains(row[0], row[1]) {
			t.Errorf("%+q does not contain %+q", row[0], row[1])
		}
	}
	if spelling.Contains(combining, "Zu") {
		t.Error("u is part of another character")
	}
}
