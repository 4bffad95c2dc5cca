package toggle_test

import (
	"reflect"
	"strings"
	"testing"

	"toggleadmin/pkg/toggle"
)

func TestChangeTags(t *testing.T) {
	t.Parallel()
	a, b, c := toggle.Tag{Type: "team", Value: "a"}, toggle.Tag{Type: "simple", Value: "b"}, toggle.Tag{Type: "simple", Value: "a"}
	f := toggle.Feature{Tags: []toggle.Tag{a}}
	before := f
	f.ChangeTags([]toggle.Tag{a, c}, []toggle.Tag{b, c, b})
	if want := []toggle.Tag{c, b}; !reflect.DeepEqual(f.Tags, want) || !before.HasTag(a) || f.HasTag(a) {
		t.Errorf("%v, want %v; before: %v", f.Tags, want, before.Tags)
	}
}

func TestParseTag(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]toggle.Tag{
		"simple:a":    {Type: "simple", Value: "a"},
		"team:a:b c ": {Type: "team", Value: "a:b c "},
	} {
		if tag, ok := toggle.ParseTag(text); !ok || tag != want || tag.String() != text {
			t.Errorf("%q: %v, %t", text, tag, ok)
		}
	}
	for _, text := range []string{"", "simple", "simple:", ":a"} {
		if tag, ok := toggle.ParseTag(text); ok {
			t.Errorf("%q: %v", text, tag)
		}
	}
}

func TestCheckTag(t *testing.T) {
	t.Parallel()
	for value, valid := range map[string]bool{
		"ab": true, "é!": true, "a b": true, strings.Repeat("é", 50): true,
		"": false, "a": false, "a\nb": false, " ab": false, "\u200b\u200b": false, strings.Repeat("é", 51): false,
	} {
		if err := toggle.CheckTagValue(value); (err == nil) != valid {
			t.Errorf("value %q: %v", value, err)
		}
	}
	for name, valid := range map[string]bool{
		"simple": true, "a-b": true, "a": false, "a:b": false, "é é": false, strings.Repeat("a", 51): false,
	} {
		if err := toggle.CheckTagType(name); (err == nil) != valid {
			t.Errorf("type %q: %v", name, err)
		}
	}
}
