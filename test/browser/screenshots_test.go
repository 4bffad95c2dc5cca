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
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		t.Skip("make screenshots runs this test")
	}
	now := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	s := start(t, local.Config{Now: func() time.Time { return now }, RequestsOnly: true})
	s.createToken(t, "admin", "laptop", now.AddDate(0, 0, 30))
	s.createToken(t, "admin", "Terraform on the build server", now.AddDate(0, 0, 9))
	s.countTraffic(t, monthOfTraffic(now.Year(), now.Month(), now.Day()))

	b := openTab(t, s)
	b.freeze(now)
	b.resize(1000, 730, chromedp.EmulateScale(1.5))
	call(b, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
	b.signIn("admin", "#/types")
	for _, shot := range []struct {
		file string
		open func()
	}{
		{"types", func() { b.sees("40 days") }},
		{"context", func() { b.open("Context fields"); b.sees("currentTime") }},
		{"tokens", func() { b.open("Tokens"); b.sees("Expires soon") }},
		{"events", func() {
			b.click(link("Toggle types"))
			b.click(button("Edit lifetime of Release"))
			b.replace(field("Days"), "30")
			b.click(button("Save"))
			b.click(button("Change lifetime"))
			b.sees("Saved.")
			run[string](b, "location.hash = '#/events?type=feature-type-updated'")
			b.sees("Changed")
		}},
		{"traffic", func() { b.open("Traffic"); b.is("document.querySelector('.chart canvas') !== null") }},
	} {
		shot.open()
		run[chromedp.Void](b, "document.activeElement.blur(); document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
		image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		must(t, err)
		if len(image) > 150_000 {
			t.Errorf("%s has %d bytes", shot.file, len(image))
		}
		must(t, os.WriteFile(filepath.Join(folder, shot.file+".png"), image, 0o644))
	}
}

// freeze stops the clock of all pages that the tab loads from now on, in UTC and American English.
func (b *tab) freeze(now time.Time) {
	b.t.Helper()
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	call(b, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "en-US"})
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(
		`{ const now = %d; globalThis.Date = class extends Date { constructor(...a) { a.length ? super(...a) : super(now); } static now() { return now; } }; }`,
		now.UnixMilli())})
}
