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

func TestIsStrategyID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"01HF3Z":         true,
		"set-sort-order": false, // a path
		"a/b":            false,
		"":               false,
	} {
		if got := toggle.IsStrategyID(id); got != want {
			t.Errorf("%q: got %t, want %t", id, got, want)
		}
	}
}

func TestIsReadable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Beta testers":       true,
		" é ":                true,
		"\u200ba":            true, // zero width space
		"\u4e2d\u6587":       true,
		"\U0001f600":         true,
		"":                   false,
		" ":                  false,
		"\u00a0\u3000":       false, // other spaces
		"\u200b\u2060":       false, // zero width space, word joiner
		"a\nb":               false,
		"a\x00":              false,
		"a\u0085":            false, // a control character of ISO 8859
		"a\x1b[31m":          false,
		"\ufeff\u200e\u00ad": false, // byte order mark, left-to-right mark, soft hyphen
	} {
		if got := toggle.IsReadable(text); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
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
