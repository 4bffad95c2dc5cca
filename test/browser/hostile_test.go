package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local"
)

// hostile are texts that must not become markup, run, or change the text around them.
var hostile = []string{
	`<img src=x onerror=hacked()>`,
	`"><script>hacked()</script>`,
	"\u202Edesrever <b>bold</b>",
	"' onfocus=hacked() autofocus x='${hacked()}{{hacked()}}",
	strings.Repeat("W", 255),
}

// Every text that the API accepts is shown as it is.
func TestTextStaysText(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{})
	expires := time.Now().Add(time.Hour).Format(time.RFC3339)
	for i, text := range hostile {
		token := map[string]any{"description": text, "expiresAt": expires}
		s.create(t, "user/tokens", token)
		account := s.create(t, "service-account", map[string]any{"username": fmt.Sprint("user", i), "name": text,
			"rootRole": 3})
		s.create(t, fmt.Sprintf("service-account/%v/token", account), token)
		s.create(t, "context", map[string]any{"name": fmt.Sprint("field", i), "description": text,
			"legalValues": []any{map[string]any{"value": text, "description": text}}})
	}
	b := openTab(t, s)
	b.resize(360, 740)
	b.signIn("admin", "#/types")
	b.open("Tokens")
	b.sees(hostile...)
	b.isIntact()
	b.click("button", "Delete token "+hostile[0], "in", "row", hostile[0])
	b.sees("This cannot be undone.")
	b.isIntact()
	b.click("button", "Cancel")
	b.open("Service accounts")
	b.sees(hostile...)
	b.isIntact()
	b.open("Context fields")
	b.sees(hostile[:4]...)
	b.isIntact()
	b.open("Event log")
	b.sees(hostile...)
	b.isIntact()
}

// isIntact checks that the page has no element that it did not create, and is not wider than the window.
func (b *tab) isIntact() {
	b.t.Helper()
	b.is("document.querySelector('body :is(img, script, b, [onfocus], [onerror])') === null")
	b.fitsTheWindow()
}
