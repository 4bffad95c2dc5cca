package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/local"
)

// TestScreenshots takes the screenshots of the documentation, and writes them to the folder SCREENSHOTS.
func TestScreenshots(t *testing.T) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("make screenshots runs this test")
	}
	now := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	s := start(t, local.Config{Now: func() time.Time { return now }, RequestsOnly: true})
	for _, token := range []struct {
		path, description string
		days              int
	}{
		{"user/tokens", "laptop", 30}, {"user/tokens", "Terraform on the build server", 9},
		{"service-account/4/token", "pipeline", 10}, {"service-account/4/token", "nightly build", 90},
	} {
		s.create(t, token.path, map[string]any{"description": token.description,
			"expiresAt": now.AddDate(0, 0, token.days).Format(time.RFC3339)})
	}
	s.countTraffic(t, monthOfTraffic(now.Year(), now.Month(), now.Day()))

	b := openTab(t, s)
	b.freeze(now)
	b.signIn("admin", "#/types")
	for _, shot := range []struct {
		file string
		open func()
	}{
		{"toggles", func() { b.open("Toggles"); b.sees("1–7 of 7 toggles") }},
		{"toggle", func() { b.click("link", "new-checkout"); b.sees("History") }},
		{"types", func() { b.open("Toggle types"); b.sees("40 days") }},
		{"context", func() { b.open("Context fields"); b.sees("currentTime") }},
		{"tokens", func() { b.open("Tokens"); b.sees("Expires soon") }},
		{"service-accounts", func() { b.open("Service accounts"); b.sees("pipeline") }},
		{"events", func() {
			b.click("link", "Toggle types")
			b.click("button", "Edit lifetime of Release")
			b.fill("Days", "30")
			b.click("button", "Save")
			b.click("button", "Change lifetime")
			b.sees("Saved.")
			b.setFragment("#/events?type=feature-type-updated")
			b.sees("Changed")
		}},
		{"traffic", func() { b.open("Traffic"); b.is("document.querySelector('.chart canvas') !== null") }},
	} {
		shot.open()
		b.shot(shot.file)
	}
}

// shot takes a screenshot for the documentation, if the folder SCREENSHOTS is set.
func (b *tab) shot(name string) {
	b.t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	b.resize(1000, 730, chromedp.EmulateScale(1.5))
	call(b, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
	b.run(
		"document.activeElement.blur(); document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
	image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	if len(image) > 170_000 {
		b.t.Errorf("%s has %d bytes", name, len(image))
	}
	must(b.t, os.WriteFile(filepath.Join(folder, name+".png"), image, 0o644))
}

// freeze stops the clock of all pages that the tab loads from now on.
func (b *tab) freeze(now time.Time) {
	b.t.Helper()
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(
		`{ const now = %d; globalThis.Date = class extends Date { constructor(...a) { a.length ? super(...a) : super(now); } static now() { return now; } }; }`,
		now.UnixMilli())})
}
