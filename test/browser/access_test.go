package browser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"toggleadmin/pkg/local"
)

// states are what the admin sees: each page and each dialog.
var states = []struct {
	name string
	page string // that is open first
	open func(b *tab)
}{
	{"toggles", "Toggles", func(b *tab) {
		b.click(field("Select new-checkout"))
		b.sees("1 selected", "Marked as stale\n1")
	}},
	{"create a toggle", "Toggles", func(b *tab) {
		b.click(button("Create toggle"))
		b.click(button("Create toggle"))
		b.seesError(field("Name"), "must not be empty")
	}},
	{"archive a toggle", "Toggles", func(b *tab) {
		b.click(field("Select new-checkout"))
		b.click(button("Archive"))
		b.sees("can be revived")
	}},
	{"a toggle", "Toggles", func(b *tab) {
		b.click(link("new-checkout"))
		b.sees("History", "appName")
	}},
	{"toggle types", "Toggle types", func(b *tab) { b.sees("40 days") }},
	{"an edited lifetime with an error", "Toggle types", func(b *tab) {
		b.click(button("Edit lifetime of Release"))
		b.replace(field("Days"), "x")
		b.click(button("Save"))
		b.seesError(field("Days"), "Enter a whole number")
	}},
	{"context fields", "Context fields", func(b *tab) { b.sees("currentTime") }},
	{"create a context field", "Context fields", func(b *tab) {
		b.click(button("Create context field"))
		b.replace(field("Name"), "not valid")
		b.click(button("Add legal value"))
		b.click(button("Create context field"))
		b.seesError(field("Name"), "not valid")
	}},
	{"leave a context field", "Context fields", func(b *tab) {
		b.click(button("Edit context field userId"))
		b.replace(field("Description"), "changed")
		b.click(button("Cancel"))
		b.find(button("Keep editing"))
	}},
	{"delete a context field", "Context fields", func(b *tab) {
		b.click(button("Delete context field userId"))
		b.click(button("Delete context field"))
		b.is("document.querySelector('dialog [role=alert]').innerText !== ''")
	}},
	{"tokens", "Tokens", func(b *tab) { b.sees("seed") }},
	{"create a token", "Tokens", func(b *tab) {
		b.click(button("Create token"))
		b.click(button("Create token"))
		b.seesError(field("Description"), "Enter a description.")
	}},
	{"a created token", "Tokens", func(b *tab) {
		b.click(button("Create token"))
		b.replace(field("Description"), fmt.Sprint("token ", len(b.sent())))
		b.click(button("Create token"))
		b.sees("only time that the secret is shown")
	}},
	{"service accounts", "Service accounts", func(b *tab) { b.sees("ci", "There are no tokens") }},
	{"create a service account", "Service accounts", func(b *tab) {
		b.click(button("Create service account"))
		b.click(button("Create service account"))
		b.seesError(field("User name"), "must not be empty")
	}},
	{"rotate a token", "Tokens", func(b *tab) {
		b.click(button("Rotate token seed"))
		b.replace(field("Description"), fmt.Sprint("rotated ", len(b.sent())))
		b.click(button("Create the new token"))
		b.sees("Does everything use the new token?")
	}},
	{"delete a token", "Tokens", func(b *tab) {
		b.click(button("Delete token seed"))
		b.sees("This cannot be undone.")
	}},
	{"the event log with an error", "Event log", func(b *tab) {
		b.sees("All events")
		b.click(element{[]string{"DisclosureTriangle"}, "More filters", "document"})
		b.replace(field("Who"), "0")
		b.click(button("Show events"))
		b.seesError(field("Who"), "positive integers")
	}},
	{"a history", "Toggle types", func(b *tab) {
		b.click(button("Edit lifetime of Experiment"))
		b.replace(field("Days"), fmt.Sprint(100+len(b.sent())))
		b.click(button("Save"))
		b.click(button("Change lifetime"))
		b.sees("Saved.")
		b.click(link("History of toggle type Experiment"))
		b.sees("Changed")
	}},
	{"traffic", "Traffic", func(b *tab) { b.sees("By path") }},
	{"API reference", "Toggle types", func(b *tab) {
		b.sees("40 days") // the link moves when the list is loaded
		b.click(link("API reference"))
		b.find(heading("API reference"))
		b.find(link("‹ Back to the console"))
		b.find(heading("Get traffic usage for a period"))
		// All operations have the same form, and axe needs half a minute for them.
		run[chromedp.Void](b, `document.querySelector('rapi-doc').shadowRoot.querySelectorAll(
			'main [id*="-/api/"]:not([id="put-/api/admin/feedback/-id-"])').forEach(e => e.remove())`)
	}},
	{"sign in", "Toggle types", func(b *tab) {
		b.click(button("Sign out"))
		b.find(field("Personal access token"))
	}},
}

// open opens a page by its link.
func (b *tab) open(page string) {
	b.t.Helper()
	b.click(link(page))
	b.find(heading(page))
}

// views are the windows and schemes in which nothing is wider than the window. 720 is also 1440 with a zoom of 200 %.
var views = []struct {
	width          int64
	feature, value string // of the medium
	axe            bool   // checks the rules of axe too
}{
	{360, "prefers-color-scheme", "light", true},
	{390, "prefers-color-scheme", "light", false},
	{720, "prefers-color-scheme", "light", false},
	{768, "forced-colors", "active", false},
	{1024, "prefers-color-scheme", "dark", false},
	{1440, "forced-colors", "active", false},
	{1440, "prefers-color-scheme", "dark", true},
}

// Nothing on any page or dialog violates a rule of axe, or is wider than the window. Forced colors keep what colors
// mean.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	now := time.Now().UTC()
	s.countTraffic(t, monthOfTraffic(now.Year(), now.Month(), now.Day()))
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, s)
			b.mayLog("status of 400", "status of 409")
			b.signIn("admin", "")
			b.open(state.page)
			state.open(b)
			for _, view := range views {
				b.resize(view.width, 740)
				b.media(view.feature, view.value)
				b.fitsTheWindow()
				if view.axe {
					b.hasNoViolations()
				}
				if view.feature == "forced-colors" {
					b.keepsMeaning()
				}
			}
		})
	}
}

// media sets a feature of the medium, such as dark mode.
func (b *tab) media(name, value string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: name, Value: value}},
	})
}

// keepsMeaning checks, in forced colors, that current links look different from others, and that the squares of the
// chart's legend keep their patterns.
func (b *tab) keepsMeaning() {
	b.t.Helper()
	for _, links := range []string{"header nav a", ".cards a"} {
		b.is(fmt.Sprintf(`(all => all.filter(e => e.ariaCurrent).every(current => all.every(e => e === current ||
			getComputedStyle(e).borderBottom !== getComputedStyle(current).borderBottom)))([...document.querySelectorAll(%q)])`,
			links))
	}
	b.is("[...document.querySelectorAll('.swatch')].every(e => getComputedStyle(e).forcedColorAdjust === 'none')")
}

// fitsTheWindow checks that the page does not scroll horizontally.
func (b *tab) fitsTheWindow() {
	b.t.Helper()
	if wide := run[[]string](b, `(root => root.scrollWidth <= root.clientWidth ? [] :
		[...root.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > root.clientWidth).map(e => e.outerHTML.slice(0, 200)))(document.documentElement)`); len(wide) > 0 {
		b.t.Errorf("the page is wider than the window:\n%s", strings.Join(wide, "\n"))
	}
}

// hasNoViolations runs all rules of axe on the page.
func (b *tab) hasNoViolations() {
	b.t.Helper()
	axe, err := os.ReadFile("../../node_modules/axe-core/axe.min.js")
	must(b.t, err)
	run[chromedp.Void](b, string(axe))
	for _, violation := range run[[]string](b,
		`axe.run().then(({violations, passes}) => passes.length === 0 ? ['axe has checked nothing'] :
		violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + '\n' + n.failureSummary)))`) {
		b.t.Error(violation)
	}
}

// The keyboard alone is enough. The focus is visible, on one thing at a time, and never lost.
func TestKeyboardOnly(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.visit("/console/")
	b.find(field("Personal access token"))
	b.tabTo("Personal access token")
	b.press(b.service.pat("admin"))
	b.press(kb.Enter)
	b.sees("1–7 of 7 toggles")

	b.tabTo("Search")
	b.press("CHECKOUT")
	b.sees("1–1 of 1 toggle")
	b.tabTo("Select new-checkout")
	b.press(" ")
	b.enterAt("Mark as stale")
	b.sees("Mark as stale: toggle?")
	b.press(kb.Escape)
	b.focusIs("Mark as stale")
	b.press(kb.Enter)
	b.enterAt("Mark as stale")
	b.focusIs("Undo")
	b.press(kb.Enter)
	b.sees("1 toggle no longer marked as stale.")
	b.enterAt("new-checkout")
	b.focusIs("new-checkout")
	b.enterAt("Edit")
	b.focusIs("Description")
	b.press("old")
	b.press(kb.Escape)
	b.enterAt("Keep editing")
	b.focusIs("Description")
	b.press(kb.Escape)
	b.enterAt("Discard changes")
	b.focusIs("Edit")

	b.enterAt("Toggle types")
	b.sees("40 days")
	b.enterAt("Edit lifetime of Release")
	b.focusIs("Days")
	b.press("21") // replaces the value, which is selected
	b.press(kb.Escape)
	b.focusIs("Edit lifetime of Release")
	b.sees("40 days")
	b.press(kb.Enter)
	b.focusIs("Days")
	b.press("14")
	b.press(kb.Enter)
	b.focusIs("Change lifetime")
	b.press(kb.Enter)
	b.sees("14 days", "was 40 days")
	b.focusIs("Edit lifetime of Release")

	b.enterAt("Tokens")
	b.focusIs("Tokens")
	b.enterAt("Create token")
	b.focusIs("Description")
	b.press("laptop")
	b.press(kb.Enter)
	b.sees("only time that the secret is shown")
	b.press(kb.Escape)
	b.press(kb.Escape)
	b.sees("You have not copied the secret")
	b.enterAt("Copy")
	b.enterAt("Done")
	b.focusIs("Create token")
	b.enterAt("Delete token laptop")
	b.sees("This cannot be undone.")
	b.press(kb.Escape)
	b.focusIs("Delete token laptop")
	b.press(kb.Enter)
	b.enterAt("Delete token")
	b.focusIs("Create token")
	b.seesNo("laptop")

	b.enterAt("Event log")
	b.focusIs("Event log")
	b.tabTo("Text")
	b.press("laptop")
	b.press(kb.Enter)
	b.sees("Matching events", "1–2 of 2")
	b.enterAt("What was done with it")
	b.focusIs("Event log")
	b.sees("No event matches the filters.")

	b.enterAt("Sign out")
	b.sees("You are signed out.")
	b.hasFocus()
}

// focused describes the focus.
type focused struct {
	Name    string // what users call the element
	Visible bool   // it has an outline, or another sign of the focus
	Lost    bool
}

// focus returns what has the focus.
func (b *tab) focus() focused {
	b.t.Helper()
	return run[focused](b, `(e => {
		const style = getComputedStyle(e), box = e.getBoundingClientRect();
		return {
			Name: (e.ariaLabel ?? (e.labels?.[0] ?? e).innerText).replace(/\s+/g, ' ').trim(),
			Visible: e.matches('main, h1, h2') || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && box.width > 0 && box.height > 0),
			Lost: e === document.body,
		};
	})(document.activeElement)`)
}

// hasFocus checks that something has the focus, visibly.
func (b *tab) hasFocus() {
	b.t.Helper()
	if now := b.focus(); now.Lost || !now.Visible {
		b.t.Fatalf("the focus is not visible: %+v", now)
	}
}

// focusIs waits until an element with the name has the focus.
func (b *tab) focusIs(name string) {
	b.t.Helper()
	b.await("the focus is on "+name, func() (bool, error) { return b.focus().Name == name, nil })
	b.hasFocus()
}

// tabTo presses the tab key until an element with the name has the focus.
func (b *tab) tabTo(name string) {
	b.t.Helper()
	for range 100 {
		b.press(kb.Tab)
		now := b.focus()
		if now.Name == name {
			b.hasFocus()
			return
		}
		if !now.Lost { // the focus leaves the page after its last element
			b.hasFocus()
		}
	}
	b.t.Fatalf("the tab key does not reach %q", name)
}

// enterAt presses the tab key until an element with the name has the focus, and then the enter key.
func (b *tab) enterAt(name string) {
	b.t.Helper()
	b.tabTo(name)
	b.press(kb.Enter)
}
