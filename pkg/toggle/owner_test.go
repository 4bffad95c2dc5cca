package toggle_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func TestParseOwner(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]toggle.Owner{
		"user:7":       {Kind: toggle.OwnerUser, ID: 7},
		"group:12":     {Kind: toggle.OwnerGroup, ID: 12},
		"text:A: team": {Kind: toggle.OwnerText, Name: "A: team"},
	} {
		owner, ok := toggle.ParseOwner(text)
		assert.Equal(t, true, ok)
		assert.Equal(t, want, owner)
		assert.Equal(t, text, toggle.Feature{Owner: &owner}.OwnerName())
	}
	for _, text := range []string{"", "none", "user", "user:0", "user:07", "user:a", "team:7", "text:", "text: a",
		"text:" + strings.Repeat("a", 101)} {
		_, ok := toggle.ParseOwner(text)
		assert.Equal(t, "", map[bool]string{true: text + " is an owner"}[ok])
	}
	assert.Equal(t, toggle.NoOwner, toggle.Feature{}.OwnerName())
}

// The names of persons and groups are not stored.
func TestOwnerIsStoredWithoutName(t *testing.T) {
	t.Parallel()
	f := toggle.Feature{Owner: &toggle.Owner{Kind: toggle.OwnerUser, ID: 7, Name: "Ada"}}
	assert.Equal(t, &toggle.Owner{Kind: toggle.OwnerUser, ID: 7}, f.Normalized().Owner)
}

func TestCheckLinkURL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"https://example.com/a?b#c", "http://localhost:8080"} {
		assert.OK(t, toggle.CheckLinkURL(text))
	}
	for _, text := range []string{"", "example.com", "javascript:alert(1)", "https://", "//example.com",
		"https://example.com/" + strings.Repeat("a", 1000)} {
		if toggle.CheckLinkURL(text) == nil {
			t.Errorf("%q is the URL of a link", text)
		}
	}
}
