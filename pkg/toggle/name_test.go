package toggle_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/toggle"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	valid := []string{"a", "Z", "0", "_", "~", "-", "new.check-out_2~x", ".a", "a.", "..a", "...", strings.Repeat("a", 100)}
	for _, name := range valid {
		if err := toggle.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if err := toggle.CheckFeatureName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	invalid := []string{"", ".", "..", "a/b", "a b", "a%20b", "ä", "a\n", "\xff", strings.Repeat("a", 101)}
	for _, name := range invalid {
		if toggle.CheckName(name) == nil || toggle.CheckFeatureName(name) == nil {
			t.Errorf("%q is valid", name)
		}
	}
}

// A project, a context field or a type can have the name that is reserved for toggles.
func TestReservedName(t *testing.T) {
	t.Parallel()
	if err := toggle.CheckName(toggle.ReservedName); err != nil {
		t.Error(err)
	}
	if toggle.CheckFeatureName(toggle.ReservedName) == nil {
		t.Errorf("%q is valid", toggle.ReservedName)
	}
}

// Only ASCII letters have another case: not the Kelvin sign.
func TestNormalTypeID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"Kill-Switch": "kill-switch", "AZ@[k": "az@[k", "\u212a": "\u212a"} {
		if got := toggle.NormalTypeID(id); got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}
